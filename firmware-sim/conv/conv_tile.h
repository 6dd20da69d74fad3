/* SPDX-License-Identifier: MIT */
/* The innermost loops of the fast convolution: panels of weights times operands of positions. */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nvdla::sim
{

/** \brief Columns of a panel of weights; a column has the weights of one kernel */
inline constexpr size_t kTileColumns = 32;
/** \brief Columns of half a panel: if the upper half is zero, it is not computed */
inline constexpr size_t kFewColumns = 16;
/** \brief Bytes of a unit: the operands that a step multiplies with one weight column */
inline constexpr size_t kUnitBytes = 4;

/** \brief Number of units that a step multiplies on hosts with matrix instructions */
inline constexpr size_t kMatrixUnits = 16;

/** \brief NaN of TileKind::Float's sums: FP32 with the mantissa bits of FP16's 0x7e00, unshifted */
inline constexpr int32_t kFloatNan = 0x7f800200;

/** \brief The operand types that the host multiplies in a unit */
enum class TileKind : uint8_t {
	None,	  /**< the host has no vector instructions */
	Rows,	  /**< INT8 of one position; weights stay where they are (dense_sums) */
	Pairs,	  /**< two signed 16-bit numbers times two, summed in 32 bits */
	Quads,	  /**< four unsigned 8-bit numbers, INT8 + 128, times four signed ones */
	Bytes,	  /**< four 8-bit numbers, none negative, times four signed ones */
	Matrices, /**< four signed 8-bit numbers times four, in kMatrixUnits units */
	Float,	  /**< a number of 32 bits times another */
};

/** \brief Consecutive units of one kernel row */
struct TileRun {
	size_t offset;	/**< bytes from the position's first operand */
	uint32_t units; /**< Matrices: a multiple of kMatrixUnits */
};

/** \brief Place of the operands of an output position */
struct TilePosition {
	const std::byte *at; /**< the position's first operand; all positions have their further
			      * operands at the same distances from it */
};

/** \brief Initial values of zero for all columns */
inline constexpr int32_t kNoStarts[kTileColumns] = {};

/** \brief The weights of the kernel groups that are computed together, for all positions */
struct Panel {
	std::span<const TileRun> runs;
	/** Units of all runs one after the other, each with kTileColumns columns */
	const int32_t *weights;
	/** Column from which on all weights and sums are zero */
	size_t used = kTileColumns;
	/** Matrices: positions in a line. Positions come in whole lines, at equal distances within
	 * a line */
	size_t width = 1;
	std::span<const std::byte> next = {}; /**< weights needed next, prefetched during the
					       * products */
	/** Quads: initial value of each column's sums */
	const int32_t *starts = kNoStarts;

	/** \return the number of units of all runs */
	size_t units() const
	{
		size_t all = 0;

		for (const TileRun &run : runs)
			all += run.units;
		return all;
	}
};

/** \brief Arrays that get the sums, one for each kernel group */
struct TileSums {
	int32_t *first;
	size_t columns = kTileColumns; /**< kernels of a group; for Matrices kFewColumns or more */
	size_t step = 0;	       /**< numbers between the first sums of two groups */

	int32_t *at(size_t position, size_t column) const
	{
		return first + column / columns * step + position * columns + column % columns;
	}

	/** \brief Store the sums of \a count columns: of whole groups or of a part of one */
	void put(size_t position, size_t column, const int32_t *sums, size_t count) const
	{
		for (size_t i = 0; i < count; i += columns)
			std::copy_n(sums + i, std::min(columns, count - i),
				    at(position, column + i));
	}
};

/** \return the fastest kind for INT8 on this host. Bytes is for data without negative numbers; use
 * Pairs for others. INT16 uses Pairs, unless the kind is None */
TileKind tileKind();

/**
 * \brief Computes the sums of products of each column for all positions
 *
 * Integers: sums must not overflow 32 bits; if one does, its upper bits are lost. Float: products
 * are added one after the other, rounding to nearest even. As operands have 11 bits, products are
 * exact, and results are the same on every host, with or without fused multiply-adds. A NaN becomes
 * kFloatNan.
 */
void tileSums(TileKind kind, std::span<const TilePosition> positions, const Panel &panel,
	      const TileSums &sums);

/**
 * \return true if the host has matrix instructions for bytes and Linux permits their use
 *
 * Linux requires a request, because the registers add 8 KiB to a thread's state; made only once.
 */
bool hasMatrices();

/**
 * \brief Does tileSums() for TileKind::Matrices, if hasMatrices()
 *
 * Works on up to sixteen equidistant positions at a time, which may continue in the next line.
 *
 * \param panel a panel whose runs are multiples of kMatrixUnits
 */
void matrixSums(std::span<const TilePosition> positions, const Panel &panel, const TileSums &sums);

} /* namespace nvdla::sim */
