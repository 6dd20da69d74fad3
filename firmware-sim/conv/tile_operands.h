/* SPDX-License-Identifier: MIT */
/*
 * From buffered elements to operands of conv_tile, and from its sums to CACC's.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/conv_tile.h"
#include "conv/csc.h"
#include "conv/wide_tile.h"

namespace nvdla::sim
{

/*
 * Elements of a piece of a line: those of its first part go to \a out, those of the others as many
 * elements behind it as LinePiece says.
 */

/** \brief INT8 to 16 bits */
void widenBytes(const LinePiece &piece, int16_t *out);

/** \brief INT8 as they are */
void copyBytes(const LinePiece &piece, std::byte *out);

/** \brief INT8 to unsigned numbers, more by 128 */
void flipSigns(const LinePiece &piece, std::byte *out);

/** \brief FP16 to f32; an infinity is 65536, as in the MAC cells, a NaN 0x7fc00000 */
void widenHalves(const LinePiece &piece, float *out);

/** \brief FP16 to doubles, as widenHalves() to f32; \return none is a NaN */
bool widenHalves(const LinePiece &piece, double *out);

/** \brief widenBytes() of \a count bytes */
inline void widenBytes(const std::byte *bytes, size_t count, int16_t *out)
{
	widenBytes({ .from = bytes, .bytes = count, .parts = 1 }, out);
}

/** \brief widenHalves() of \a count of them */
inline void widenHalves(const std::byte *halves, size_t count, float *out)
{
	widenHalves({ .from = halves, .bytes = count * sizeof(uint16_t), .parts = 1 }, out);
}

/** \return none of FP16 is an infinity or a NaN */
bool areFinite(const std::byte *halves, size_t count);

/** \return one of the numbers is a NaN */
bool anyNan(const float *numbers, size_t count);

/** \return the lowest INT8, 0 if none is below */
int8_t lowestOf(const std::byte *numbers, size_t count);

/** \return the range of INT16 */
Int16Range rangeOf(const std::byte *numbers, size_t count);

/** \brief What becomes of weights in units of 32 bits */
enum class UnitFormat : uint8_t {
	Bytes,	   /**< four INT8 or two INT16 as they are */
	Unsigned,  /**< four INT8, more by 128 */
	WideBytes, /**< two INT8, each in 16 bits */
	Float,	   /**< one FP16 as f32 */
};

/** \return bytes of weights in a unit */
constexpr size_t unitSourceBytes(UnitFormat format)
{
	return format == UnitFormat::Bytes || format == UnitFormat::Unsigned ? 4 : 2;
}

/** \brief Where the weights of some kernels are */
struct KernelRows {
	const std::byte *first; /**< of the first kernel */
	size_t step;		/**< bytes from one kernel to the next */
	size_t kernels;
};

/**
 * \brief Sums of the INT8 that positions of a line have
 * \param line the first position's first unit \param step bytes to the next position's
 * \param runs that a position has, all in this line
 */
void byteSums(const std::byte *line, size_t step, std::span<const TileRun> runs,
	      std::span<int32_t> sums);

/** \brief byteSums() to read */
void byteSumsReference(const std::byte *line, size_t step, std::span<const TileRun> runs,
		       std::span<int32_t> sums);

/**
 * \brief Of each kernel's atom the element that has the kernel's number, and zeroes behind them
 * \param rows atoms of as many kernels as an atom has elements, or fewer
 * \param own an atom; overwritten
 * \return all other elements are zero
 */
bool ownElements(const KernelRows &rows, size_t elementBytes, std::byte *own);

/**
 * \brief Turn rows of weights into columns: unit u of kernel k to out[u * columns + k]
 * \param units of each kernel
 * \param columns of a unit
 */
void putUnits(UnitFormat format, const KernelRows &rows, size_t units, size_t columns,
	      int32_t *out);

/** \brief putUnits() to read */
void putUnitsReference(UnitFormat format, const KernelRows &rows, size_t units, size_t columns,
		       int32_t *out);

/**
 * \brief Shift sums right by \a truncate (1..31), halves away from zero
 * \param count a multiple of 16
 */
void roundSums(int32_t *sums, size_t count, uint32_t truncate);

} /* namespace nvdla::sim */
