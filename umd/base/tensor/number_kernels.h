/* SPDX-License-Identifier: MIT */
/*
 * Converts numbers to elements and back, a vector at a time.
 *
 * Each function returns the number of elements that it converted, from the first on, perhaps 0. The
 * caller converts the other elements, with scalar code that gives the same results, bit by bit.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla
{

/** \brief Call floatToHalf() for each number */
size_t floatsToHalves(const float *values, std::byte *halves, size_t count);

/** \brief Call halfToFloat() for each number */
size_t halvesToFloats(const std::byte *halves, float *values, size_t count);

/** \brief Quantization of integer elements: real = scale * (element - zeroPoint) */
struct ElementSteps {
	double scale;
	int32_t zeroPoint;
	int32_t lowest; /**< smallest integer of the type; 0 if the type is unsigned */
	int32_t highest;
};

/** \brief The double just below 1/2. It is added to round to the nearest: with 1/2 itself, the sum
 * for a number just below 1/2 would be rounded to 1 */
inline constexpr double nearlyHalf = 0.49999999999999994;

/**
 * \brief Convert numbers to elements: rounded, halves away from zero, and clipped; NaN becomes the
 * zero point
 *
 * \param elementBytes 1 or 2
 */
size_t quantizeFloats(const ElementSteps &steps, uint32_t elementBytes, const float *values,
		      std::byte *elements, size_t count);

/** \brief Convert elements to real numbers, rounded to the nearest float */
size_t dequantizeElements(const ElementSteps &steps, uint32_t elementBytes,
			  const std::byte *elements, float *values, size_t count);

} /* namespace nvdla */
