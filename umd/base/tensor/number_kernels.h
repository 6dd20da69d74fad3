/* SPDX-License-Identifier: MIT */
/*
 * Numbers to elements and back, a vector at a time.
 *
 * Each function returns the number of elements that it converted, from the first on; the caller
 * converts the others, which may be all. Both give the same results to the last bit.
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

/** \brief Quantization of integer elements: scale * (element - zeroPoint) */
struct ElementSteps {
	double scale;
	int32_t zeroPoint;
	int32_t lowest; /**< smallest integer of the type; 0 or more if unsigned */
	int32_t highest;
};

/** \brief Just below a half: its sum with a number just below a half stays below one */
inline constexpr double nearlyHalf = 0.49999999999999994;

/**
 * \brief Convert numbers to elements: rounded, halves away from zero, and clipped; NaN becomes the
 * zero point
 *
 * \param elementBytes 1 or 2
 */
size_t quantizeFloats(const ElementSteps &steps, uint32_t elementBytes, const float *values,
		      std::byte *elements, size_t count);

/** \brief Elements to real numbers, rounded to the nearest */
size_t dequantizeElements(const ElementSteps &steps, uint32_t elementBytes,
			  const std::byte *elements, float *values, size_t count);

} /* namespace nvdla */
