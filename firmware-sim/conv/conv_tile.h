/* SPDX-License-Identifier: MIT */
/*
 * The innermost loops of the fast integer convolution.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla::sim
{

/** \brief Weight columns that a tile works on: kernels of a group, or halves of them */
inline constexpr size_t kTileColumns = 32;
/** \brief Weight columns of TileKind::Float: kernels of a group */
inline constexpr size_t kFloatColumns = 16;
/** \brief Bytes of operands that meet one weight column in a step: a unit */
inline constexpr size_t kUnitBytes = 4;

/** \brief What the host multiplies in a unit */
enum class TileKind : uint8_t {
	None,  /**< no instructions for it */
	Pairs, /**< two signed 16-bit numbers by two */
	Quads, /**< four unsigned 8-bit numbers by four signed ones */
	Float, /**< a number of 32 bits by another */
};

/** \brief Consecutive units of one kernel row */
struct TileRun {
	uint32_t row;	 /**< index into TilePosition::rows */
	uint32_t offset; /**< bytes from the position's first */
	uint32_t units;
};

/** \brief One output: where its operands begin */
struct TilePosition {
	const std::byte *const *rows; /**< line for each kernel row */
	size_t offset;		      /**< bytes into each line */
};

/** \return what INT8 is best multiplied with here; INT16 takes pairs unless it is None */
TileKind tileKind();

/**
 * \brief Sums of products for \a count positions, 32 columns each
 *
 * \param weights units of all runs one after the other, kTileColumns of them for each
 * \param sums \a count times kTileColumns; overwritten. Nothing may overflow 32 bits
 */
void tileSums(TileKind kind, const TilePosition *positions, size_t count, const TileRun *runs,
	      size_t runCount, const int32_t *weights, int32_t *sums);

/**
 * \brief Sums of f32 products for \a count positions, kFloatColumns each
 *
 * One product after the other is added, rounding to nearest even. Where operands have 11 bits
 * the products are exact, so that the bits are the same on every host, with fused multiply-adds
 * or without. A NaN becomes the one with sign 0 and payload 0x200.
 *
 * \param weights units of all runs one after the other, kFloatColumns of them for each
 * \param sums \a count times kFloatColumns: bits of the sums; overwritten
 */
void tileFloatSums(const TilePosition *positions, size_t count, const TileRun *runs,
		   size_t runCount, const float *weights, int32_t *sums);

/** \brief tileFloatSums() to read */
void tileFloatSumsReference(const TilePosition *positions, size_t count, const TileRun *runs,
			    size_t runCount, const float *weights, int32_t *sums);

/** \brief Numbers of 8 bits with sign to 16 bits */
void widenBytes(const std::byte *bytes, size_t count, int16_t *out);

/**
 * \brief The columns of a kernel for quads: four numbers that fit 8 bits to each unit
 * \param elements 4 * \a units numbers
 * \param out the first unit's column; the others follow at kTileColumns * kUnitBytes bytes
 */
void putQuads(const int16_t *elements, size_t units, std::byte *out);

/** \brief FP16 numbers to f32; an infinity is 65536, as in the MAC cells */
void widenHalves(const int16_t *halves, size_t count, float *out);

/**
 * \brief Sums less their columns' \a offsets, shifted right by \a truncate (0..31)
 *
 * Halves are rounded away from zero; no result may need clipping.
 */
void deliverTile(const int32_t *sums, size_t count, const int32_t *offsets, uint32_t truncate,
		 int32_t *out);

} /* namespace nvdla::sim */
