/* SPDX-License-Identifier: MIT */
/*
 * Look-up at the speed of the host.
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

/** \brief Pairs of an entry (low half) and the next one (high half), of LE, then of LO */
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
 * \brief LE or LO, in the number types of the vectors
 * \tparam Number type of inputs, indices and entries
 * \tparam Factor type of factors of inputs
 */
template<typename Number, typename Factor = Number>
struct LutTable {
	bool exponential;
	Number start;	    /**< LutTableConfig::start; it and smaller inputs underflow */
	Number indexOffset; /**< LutTableConfig::indexOffset, if exponential */
	Factor indexScale;  /**< linear: steps of the index per unit of the input */
	Number last;	    /**< index of the last entry */
	Number firstPair;   /**< index of the table's first entry in pairs */
	LutEdge<Number> underflow;
	LutEdge<Number> overflow;
};

/**
 * \brief Lut::lookup() for many integers of 32 bits at a time
 *
 * The entries are doubles, in which all results are exact: a distance has 35 bits, an
 * extrapolation beyond an edge 51, an interpolated value 52.
 */
struct FastLut {
	using Edge = LutEdge<double>;
	using Table = LutTable<double>;

	/**
	 * \brief A table as integers of 32 bits
	 *
	 * 32 bits hold the intermediate numbers of a linear table with steps of 2^0 to 2^14: the
	 * distance in a step, and a step times an entry.
	 */
	struct Narrow {
		bool interpolates; /**< false: only determines which inputs hit */
		int32_t first;	   /**< smallest input that hits */
		int32_t final;	   /**< largest input that hits */
		int32_t start;
		int shift;    /**< shift from a distance to an index */
		int toCommon; /**< shift to NarrowTables::shift bits */
		int32_t firstPair;
	};

	/** \brief Both tables in integers of 32 bits */
	struct NarrowTables {
		int shift; /**< number of bits of a distance inside a step, for both tables; 0:
			    * 32 bits do not suffice */
		Narrow le;
		Narrow lo;
	};

	/** \brief Rules that choose a table, and whether hits are counted */
	struct Rules {
		LutVariant variant;
		/** The counters are read */
		bool counts;
		/** The function is constant beyond all edges */
		bool flatEdges;
		/** LO is used where both tables hit, or miss at different ends */
		bool hybridSelectsLo;
		/** The other table is used where both underflow, or both overflow */
		bool underflowDiffers;
		bool overflowDiffers;
	};

	static Rules rulesOf(const LutVariant &variant, const LutConfig &config, bool counts);

	/** \return false if an edge is beyond 2^34 or a step beyond 2^35, or the host has no
	 * vectors */
	static bool accepts(const LutConfig &config);

	/**
	 * \param variant sdpLut or cdpLut
	 * \param config one for which accepts() is true
	 * \param counts true if the counters are read
	 */
	FastLut(const LutVariant &variant, const LutConfig &config, const LutTables &tables,
		bool counts);

	/** \return true if the host has the vector instructions */
	static bool hasVectors();

	/** \brief Look up all of \a values, whole atoms of 16 or 32, in place */
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
 * Holds the numbers of tables and registers as FP32 bits; none is infinite, denormal or a NaN.
 * float_lut-inl.h has the look-up.
 */
struct FloatLut {
	using Edge = LutEdge<int32_t>;
	using Table = LutTable<int32_t, float>;

	/** \return false if a number is infinite, denormal or a NaN, or a step beyond 2^60 */
	static bool accepts(const LutConfig &config, const LutTables &tables);

	/**
	 * \param variant sdpLut or cdpLut
	 * \param counts true if the counters are read
	 */
	FloatLut(const LutVariant &variant, const LutConfig &config, const LutTables &tables,
		 bool counts);

	FastLut::Rules rules;
	Table le;
	Table lo;
	/** LE's entries, then LO's */
	std::array<int32_t, std::tuple_size_v<LutPairs>> entries;
	/** The entry after each; for CDP the difference of the two, in FP17 */
	std::array<int32_t, std::tuple_size_v<LutPairs>> nexts;
};

} /* namespace nvdla::sim */
