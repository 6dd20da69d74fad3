/* SPDX-License-Identifier: MIT */
/*
 * Converts buffered elements to operands of conv_tile, and finds their largest values and NaNs.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/conv_tile.h"
#include "conv/csc.h"
#include "core/control_data.h"

namespace nvdla::sim
{

/** \brief How elements of lines become operands */
enum class LineFormat : uint8_t {
	Bytes,	   /**< as they are */
	WideBytes, /**< INT8 in 16 bits */
	Floats,	   /**< FP16 as f32; an infinity is 65536, as in the MAC cells, a NaN 0x7fc00000 */
};

/** \return bytes of an operand, divided by those of its element */
constexpr size_t growthOf(LineFormat format)
{
	return format == LineFormat::Bytes ? 1 : 2;
}

/**
 * \brief Convert the elements of a piece of a line
 * \param out operands of the first part; those of the others are LinePiece's steps later, counted
 *	  in elements
 */
void packPiece(LineFormat format, const LinePiece &piece, std::byte *out);

/** \brief Convert \a count FP16 numbers to LineFormat::Floats */
inline void widenHalves(const std::byte *halves, size_t count, float *out)
{
	packPiece(LineFormat::Floats, { .from = halves, .bytes = count * sizeof(uint16_t) },
		  reinterpret_cast<std::byte *>(out));
}

/** \return no FP16 number is an infinity or a NaN */
bool areFinite(const std::byte *halves, size_t count);

/** \return one of the numbers is a NaN */
bool anyNan(const float *numbers, size_t count);

/** \return one of INT8 is below zero */
bool anyNegative(const std::byte *numbers, size_t count);

/** \brief The largest magnitudes of INT16 */
struct Int16Magnitudes {
	uint32_t number = 0;
	uint32_t pair = 0; /**< of the sum of two magnitudes: numbers 0 and 1, 2 and 3 ... */

	void add(const Int16Magnitudes &other)
	{
		number = std::max(number, other.number);
		pair = std::max(pair, other.pair);
	}
};

/** \return the largest magnitudes of \a count numbers; zeroes must follow them */
Int16Magnitudes magnitudesOf(const std::byte *numbers, size_t count);

/** \brief How weights become units of 32 bits */
enum class UnitFormat : uint8_t {
	Bytes,	   /**< four INT8 or two INT16 as they are */
	Unsigned,  /**< four INT8, plus 128 */
	WideBytes, /**< two INT8, each in 16 bits */
	Float,	   /**< one FP16 as f32 */
};

/** \return bytes of weights in a unit */
constexpr size_t unitSourceBytes(UnitFormat format)
{
	return format == UnitFormat::Bytes || format == UnitFormat::Unsigned ? 4 : 2;
}

/** \brief Places of the weights of some kernels */
struct KernelRows {
	const std::byte *first; /**< the first kernel's weights */
	size_t step;		/**< bytes from one kernel to the next */
	size_t kernels;
};

/**
 * \brief From the atom of kernel k take element k, for all kernels; the rest of \a own becomes zero
 * \param rows an atom of each kernel, at most as many kernels as an atom has elements
 * \param own an atom; overwritten
 * \return all other elements are zero
 */
bool ownElements(const KernelRows &rows, size_t elementBytes, std::byte *own);

/**
 * \brief Transpose weights: unit u of kernel k to out[u * kTileColumns + k]
 * \param units of each kernel
 * \return \a units; or 0, without change of \a out, if the host has no vectors for it
 */
size_t putUnits(UnitFormat format, const KernelRows &rows, size_t units, int32_t *out);

/** \return ones in the masks of sparse weights */
size_t countOnes(ControlView masks);

/** \brief Bytes behind the packed elements that expandSparse() may look at */
inline constexpr size_t kSparseSlack = sizeof(uint64_t);

/**
 * \brief Expand \a masks to elements: the next packed element for a bit that is one, else zero
 *
 * \param masks least significant bit first
 * \param packed countOnes() elements, followed by kSparseSlack readable bytes
 * \param elementBytes 1 or 2
 * \param out eight elements for each byte of \a masks
 */
void expandSparse(ControlView masks, const std::byte *packed, size_t elementBytes, std::byte *out);

/**
 * \brief Shift sums right by \a truncate (1..31), rounding halves away from zero
 * \param count a multiple of 16
 */
void roundSums(int32_t *sums, size_t count, uint32_t truncate);

} /* namespace nvdla::sim */
