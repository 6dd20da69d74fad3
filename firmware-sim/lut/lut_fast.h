/* SPDX-License-Identifier: MIT */
/*
 * Look-ups in vectors of many inputs at a time.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "lut/lut.h"

namespace nvdla::sim
{

/** \brief Pairs of an entry (low half) and the next one (high half): first LE's, then LO's */
using LutPairs = std::array<int32_t, LutTables::leEntries - 1 + LutTables::loEntries - 1>;

LutPairs lutPairs(const LutTables &tables);

/** \brief Extrapolation beyond an edge: entry + (x - edge) * slope */
template<typename Number>
struct LutEdge {
	Number edge;
	Number slope;
	Number entry;
};

/**
 * \brief LE or LO, converted to the number types of the vectors
 * \tparam Number type of inputs, indices and entries
 * \tparam Factor type of factors of inputs
 */
template<typename Number, typename Factor = Number>
struct LutTable {
	bool exponential;
	Number start;	    /**< LutTableConfig::start; inputs up to it underflow */
	Number indexOffset; /**< LutTableConfig::indexOffset, if exponential */
	Factor indexScale;  /**< linear: index steps per unit of the input */
	Number last;	    /**< index of the last entry */
	Number firstPair;   /**< index of the table's first pair in LutPairs */
	LutEdge<Number> underflow;
	LutEdge<Number> overflow;
};

/**
 * \brief Lut::lookup() for vectors of 32-bit integers
 *
 * The entries are doubles, in which all results are exact: a distance needs 35 bits, an
 * extrapolation beyond an edge 51, an interpolated value 52.
 */
struct FastLut {
	using Edge = LutEdge<double>;
	using Table = LutTable<double>;

	/**
	 * \brief A table as integers of 32 bits
	 *
	 * 32 bits hold two intermediate numbers of a linear table with steps of 2^0 to 2^14: the
	 * distance within a step, and its product with an entry.
	 */
	struct Narrow {
		bool interpolates; /**< false: the table only tells which inputs hit */
		int32_t first;	   /**< smallest input that hits */
		int32_t final;	   /**< largest input that hits */
		int32_t start;
		int shift;    /**< right shift from a distance to an index */
		int toCommon; /**< left shift from indexSelect to NarrowTables::shift bits */
		int32_t firstPair;
	};

	/** \brief Both tables in integers of 32 bits */
	struct NarrowTables {
		int shift; /**< bits of a distance within a step, in both tables; 0:
			    * 32 bits do not suffice */
		Narrow le;
		Narrow lo;
	};

	/** \brief Rules that choose a table, and whether hits are counted */
	struct Rules {
		LutVariant variant;
		/** True if the hits and misses must be counted */
		bool counts;
		/** True if the function is constant beyond all edges: the slopes are zero */
		bool flatEdges;
		/** True if LO is used where both tables hit, or miss at different ends */
		bool hybridSelectsLo;
		/** True if hybridSelectsLo is inverted where both underflow, or both overflow */
		bool underflowDiffers;
		bool overflowDiffers;
	};

	static Rules rulesOf(const LutVariant &variant, const LutConfig &config, bool counts);

	/** \return false if an edge is beyond 2^34, a step is longer than 2^35, or the host has no
	 * vectors of doubles */
	static bool accepts(const LutConfig &config);

	/**
	 * \param variant sdpLut or cdpLut
	 * \param config one for which accepts() is true
	 * \param counts true if the counters are needed
	 */
	FastLut(const LutVariant &variant, const LutConfig &config, const LutTables &tables,
		bool counts);

	/** \return true if the host has vectors of doubles */
	static bool hasVectors();

	/** \brief Look up all of \a values, whole atoms of 16 or 32 integers, in place */
	void lookup(std::span<int32_t> values, LutCounters &counters) const;

	/** \brief Look up all of \a values, integers of at most 37 bits; whole atoms */
	void lookup(std::span<const double> values, std::span<int32_t> results,
		    LutCounters &counters) const;

	static constexpr size_t lePairs = LutTables::leEntries - 1;
	static constexpr size_t loPairs = LutTables::loEntries - 1;

	Rules rules;
	Table le;
	Table lo;
	NarrowTables narrow;
	LutPairs pairs;
};

/**
 * \brief Lut::lookupFloat() for vectors of numbers
 *
 * Holds tables and registers as FP32 bits; none of them is infinite, denormal or a NaN.
 * float_lut-inl.h has the look-up.
 */
struct FloatLut {
	using Edge = LutEdge<int32_t>;
	using Table = LutTable<int32_t, float>;

	/** \return false if a number is infinite, denormal or a NaN, or a step longer than 2^60 */
	static bool accepts(const LutConfig &config, const LutTables &tables);

	/**
	 * \param variant sdpLut or cdpLut
	 * \param counts true if the counters are needed
	 */
	FloatLut(const LutVariant &variant, const LutConfig &config, const LutTables &tables,
		 bool counts);

	FastLut::Rules rules;
	Table le;
	Table lo;
	/** LE's entries, then LO's */
	std::array<int32_t, std::tuple_size_v<LutPairs>> entries;
	/** SDP: the entry after each of entries. CDP: its difference from that entry, in FP17 */
	std::array<int32_t, std::tuple_size_v<LutPairs>> nexts;
};

} /* namespace nvdla::sim */
