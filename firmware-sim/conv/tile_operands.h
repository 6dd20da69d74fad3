/* SPDX-License-Identifier: MIT */
/*
 * Converts buffered elements to operands of conv_tile, and finds their largest values and NaNs.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/conv_tile.h"
#include "conv/csc.h"
#include "core/control_data.h"

namespace nvdla::sim
{

/** \brief Conversion of a line's elements to operands */
enum class LineFormat : uint8_t {
	Bytes,	   /**< unchanged */
	Unsigned,  /**< INT8 plus 128, as unsigned bytes */
	WideBytes, /**< INT8 in 16 bits */
	Floats,	   /**< FP16 as f32; an infinity is 65536, as in the MAC cells, a NaN 0x7fc00000 */
};

/** \return the size of an operand as a multiple of the size of the buffered element */
constexpr size_t growthOf(LineFormat format)
{
	return format == LineFormat::Bytes || format == LineFormat::Unsigned ? 1 : 2;
}

/**
 * \brief Converts the elements of a piece of a line
 * \param out operands of the first part; further parts follow at LinePiece::toStep, as a number
 *	  of elements
 */
void packPiece(LineFormat format, const LinePiece &piece, std::byte *out);

/** \brief Converts \a count FP16 numbers to LineFormat::Floats */
inline void widenHalves(const std::byte *halves, size_t count, float *out)
{
	packPiece(LineFormat::Floats, { .from = halves, .bytes = count * sizeof(uint16_t) },
		  reinterpret_cast<std::byte *>(out));
}

/** \return true if no FP16 number is an infinity or a NaN */
bool areFinite(const std::byte *halves, size_t count);

/** \return true if one of the numbers is a NaN */
bool anyNan(const float *numbers, size_t count);

/** \return true if one of the INT8 numbers is negative */
bool anyNegative(const std::byte *numbers, size_t count);

/** \brief Largest magnitudes among INT16 numbers, to bound their products */
struct Int16Magnitudes {
	uint32_t number = 0;
	uint32_t pair = 0; /**< largest sum of two: numbers 0 and 1, 2 and 3 ... */
};

/** \return the largest magnitudes of \a count numbers; zero completes an odd last pair */
Int16Magnitudes magnitudesOf(const std::byte *numbers, size_t count);

/** \brief Conversion of weights to units of 32 bits */
enum class UnitFormat : uint8_t {
	Bytes,	   /**< four INT8 or two INT16, unchanged */
	WideBytes, /**< two INT8, each in 16 bits */
	Float,	   /**< one FP16 as f32 */
};

/** \return bytes of weights in a unit */
constexpr size_t unitSourceBytes(UnitFormat format)
{
	return format == UnitFormat::Bytes ? 4 : 2;
}

/** \brief Places of the weights of several kernels */
struct KernelRows {
	const std::byte *first; /**< the first kernel's weights */
	size_t step;		/**< bytes from one kernel to the next */
	size_t kernels;
};

/**
 * \brief Copies element k of kernel k's atom to \a own, for all kernels; other elements become zero
 * \param rows an atom of each kernel, at most as many kernels as an atom has elements
 * \param own result, an atom
 * \return true if all other elements of the kernels' atoms are zero
 */
bool ownElements(const KernelRows &rows, size_t elementBytes, std::byte *own);

/**
 * \brief Transposes weights: stores unit u of kernel k at out[u * kTileColumns + k]
 * \param units number of units of each kernel
 * \return \a units; or 0, without change of \a out, if the host has no vector instructions for this
 */
size_t putUnits(UnitFormat format, const KernelRows &rows, size_t units, int32_t *out);

/** \return number of ones in the masks of sparse weights */
size_t countOnes(ControlView masks);

/** \brief Bytes behind the packed elements that expandSparse() may read */
inline constexpr size_t kSparseSlack = 64;

/**
 * \brief Expands \a masks to elements: the next packed element for a bit that is one, else zero
 *
 * \param masks least significant bit first
 * \param packed countOnes() elements, followed by kSparseSlack readable bytes
 * \param elementBytes 1 or 2
 * \param out eight elements for each byte of \a masks
 */
void expandSparse(ControlView masks, const std::byte *packed, size_t elementBytes, std::byte *out);

/**
 * \brief Shifts sums right by \a truncate (1..31), rounding halves away from zero
 * \param count a multiple of 16
 */
void roundSums(int32_t *sums, size_t count, uint32_t truncate);

} /* namespace nvdla::sim */
