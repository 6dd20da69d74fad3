/* SPDX-License-Identifier: MIT */
/*
 * The function of CDP's tables in FP16, as few pieces without cases.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lut/lut.h"

namespace nvdla::sim
{

/**
 * \brief Lut::lookupFloat() of CDP on a range of inputs, as LutPieces is Lut::lookup()
 *
 * Between two edges of the tables one of them answers, or the result is always the same. Where an
 * input is in the entries, index and fraction, is one integer, its place. Each entry has the step
 * to the next one beside it; no product of a step is so small that FP17 would make it zero, and no
 * sum is a zero with another sign than that of IEEE 754: they need no care. float_pieces-inl.h has
 * the look-up.
 */
struct FloatPieces {
	/** \brief What inputs from \a first on have in common, up to the next one's */
	struct Piece {
		float first;
		bool exponential; /**< the place is exponent and mantissa of the distance */
		float start;	  /**< taken from an input: its distance */
		float scale;	  /**< linear: places for each unit of the distance */
		int32_t offset;	  /**< added to the place */
	};

	/** Both edges of both tables, and the smallest input */
	static constexpr size_t kMost = 5;
	/** As many pairs of tables as are in four registers of AVX-512 */
	static constexpr size_t kFew = 64;
	/** All entries of both tables, some twice where one table is between another's */
	static constexpr size_t kMostPairs =
		LutTables::leEntries + LutTables::loEntries + 2 * kMost;
	/** Lower bits of a place: what CDP interpolates with */
	static constexpr int kFraction = cdpLut.fractionBits;

	/**
	 * \param config as FloatLut::accepts() has it
	 * \param highest input; the smallest one is zero
	 * \return nothing if a slope beyond an edge is reached, or numbers are not as above
	 */
	static std::optional<FloatPieces> of(const LutConfig &config, const LutTables &tables,
					     float highest);

	size_t count = 0;
	/** Those behind the last one begin where no input is */
	std::array<Piece, kMost> pieces;
	bool exponential = false; /**< one of them is */
	size_t pairCount = 0;	  /**< of tables; the results of other pieces are behind kFew */
	bool hasSame = false;	  /**< there are such pieces */
	std::array<float, kMostPairs> entries = {};
	std::array<float, kMostPairs> rises = {}; /**< for each unit of a place */
};

} /* namespace nvdla::sim */
