/* SPDX-License-Identifier: MIT */
/*
 * A look-up of integers as few pieces of its range of inputs.
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
 * \brief Lut::lookup() by the rules of CDP, for inputs whose range is known
 *
 * Edges of both tables cut the range into pieces, in each of which one table answers, or the
 * result is always the same. What an input's place in a table is, is then a sum and a product with
 * numbers of its piece, or the exponent of its distance. lut_pieces-inl.h has the look-up.
 */
struct LutPieces {
	/** \brief The numbers with which an input's place in the pairs is found */
	struct Piece {
		double first;	  /**< its smallest input */
		bool exponential; /**< else it is linear */
		double start;	  /**< exponential: input before the first entry's */
		double scale;	  /**< linear: of the input */
		double offset;	  /**< added to that, or to exponent and mantissa: their place */
		uint32_t LutCounters::*counter;
	};

	/** \brief What an engine gives to its table */
	struct Inputs {
		int64_t lowest;
		int64_t highest;
		bool single; /**< held and computed with in single, else in double precision */
		bool counts; /**< somebody reads the counters */
	};

	/** Both edges of both tables */
	static constexpr size_t kMost = 5;
	/** As many as are in one register of AVX-512 or two */
	static constexpr size_t kFew = 64;

	/**
	 * \return nothing if the function has a slope beyond an edge that inputs reach, entries
	 *	   beside one another differ by more than 16 bits hold, or a place takes more bits
	 *	   than inputs have
	 */
	static std::optional<LutPieces> of(const LutConfig &config, const LutTables &tables,
					   const Inputs &inputs);

	size_t count = 0;
	std::array<Piece, kMost> pieces;
	bool exponential = false; /**< one of them is */
	bool counts = false;
	int lowest = 0; /**< result */
	int highest = 0;
	bool climbs = false; /**< no entry is smaller than the one before it */
	/** Of a function that falls: entries, and so results, have the other sign, and climb */
	bool falls = false;
	/** Of a place: kNarrow, if that is enough, or as many as CDP has */
	int fractionBits = kNarrow;
	static constexpr int kNarrow = 14;

	size_t pairCount = 0;
	/** An entry in the low half, how much larger the one after it is in the high half */
	std::array<int32_t, LutTables::leEntries + LutTables::loEntries + kMost> pairs = {};
};

} /* namespace nvdla::sim */
