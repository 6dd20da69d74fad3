/* SPDX-License-Identifier: MIT */
/*
 * Look-up in two tables, shared by SDP-Y and CDP: LE (exponential or linear) is coarse, LO (linear)
 * is dense.
 */
#pragma once

#include <cstdint>

#include "lut/lut_tables.h"

namespace nvdla::sim
{

/** \brief Straight line that continues the function beyond an edge of a table */
struct LutSlope {
	int16_t scale = 0; /**< signed integer, or FP16 bits */
	int8_t shift = 0;  /**< integer only: right shift, -16..15 */
};

/** \brief One table's registers */
struct LutTableConfig {
	bool exponential = false; /**< LE only: the index is a logarithm */
	int8_t indexOffset = 0;	  /**< exponential: log2 of the distance from start to the first
				   * entry */
	int8_t indexSelect = 0;	  /**< linear: log2 of the distance between entries */
	int64_t start = 0;	  /**< linear: input of the first entry; exponential: input from
				   * which distances count. Integer, or FP32 bits */
	int64_t end = 0;	  /**< input of the last entry */
	LutSlope underflow;
	LutSlope overflow;

	/** \return input from which an underflow is extrapolated, as an integer */
	int64_t underflowEdge() const;

	/** \return underflowEdge() of floating-point tables, as FP32 bits */
	uint32_t underflowEdgeFloat() const;
};

/** \brief Both tables, and the rules that choose between them */
struct LutConfig {
	LutTableConfig le;
	LutTableConfig lo;
	bool underflowSelectsLo = false; /**< LO is used where both tables underflow */
	bool overflowSelectsLo = false;	 /**< LO is used where both overflow */
	bool hybridSelectsLo = false;	 /**< LO is used where both hit, or miss at different
					  * ends */
};

/**
 * \brief Decode S_LUT_CFG and S_LUT_INFO, which have the same fields in SDP and CDP
 * \return a configuration without edges and slopes
 */
LutConfig decodeLut(uint32_t config, uint32_t info);

/** \brief Decode a table's slope registers: the low field is for underflow, the high one for
 * overflow */
void decodeLutSlopes(LutTableConfig &table, uint32_t scale, uint32_t shift);

/** \brief The five counters D_PERF_LUT_* */
struct LutCounters {
	uint32_t underflow = 0;
	uint32_t overflow = 0;
	uint32_t hybrid = 0;
	uint32_t leHit = 0;
	uint32_t loHit = 0;

	LutCounters &operator+=(const LutCounters &other)
	{
		underflow += other.underflow;
		overflow += other.overflow;
		hybrid += other.hybrid;
		leHit += other.leHit;
		loHit += other.loHit;
		return *this;
	}
};

/** \brief Differences between the look-up units of SDP-Y and CDP */
struct LutVariant {
	unsigned fractionBits; /**< bits of the interpolation's fraction */
	unsigned outputBits;   /**< bits of an integer result */
	/**
	 * True (SDP): both entries get weights (1 - f, f), and their sum is rounded. False (CDP):
	 * the difference times f is rounded, and added to the first entry.
	 */
	bool weighted;
	/** True (SDP): count hits of each table, and whether the result is inside or beyond an edge
	 * of a table. False (CDP): each input counts in one of the counters. */
	bool countsByResult;
};

inline constexpr LutVariant sdpLut = { 35, 32, true, true };
inline constexpr LutVariant cdpLut = { 16, 16, false, false };

/**
 * \brief Look-up unit, set up for one operation
 *
 * Rules: programming guide "LUT"; the order of the floating-point steps, the
 * edge cases and the counters are those of the hardware's C model.
 */
class Lut
{
public:
	/** \param tables must outlive this object */
	Lut(const LutVariant &variant, const LutConfig &config, const LutTables &tables)
		: variant_(variant), config_(config), tables_(tables)
	{
	}

	/** \return the function at the integer \a x of at most 40 bits, clipped to the width of the
	 * output */
	int64_t lookup(int64_t x, LutCounters &counters) const;

	/** \return the function at \a x, which is FP32 bits; the result is FP17 bits */
	uint32_t lookupFloat(uint32_t x, LutCounters &counters) const;

private:
	enum class Outcome : uint8_t { Hit, Underflow, Overflow };

	struct Position {
		Outcome outcome = Outcome::Hit;
		uint32_t index = 0;    /**< hit: index of the entry before the input */
		uint64_t fraction = 0; /**< hit: fraction to the next entry, fractionBits wide */
	};

	struct Choice {
		const LutTableConfig *config;
		const int16_t *entries;
		uint32_t last; /**< index of the last entry */
		Position position;
	};

	Position locate(const LutTableConfig &table, uint32_t last, int64_t x) const;
	Position locateFloat(const LutTableConfig &table, uint32_t last, uint32_t x) const;
	Choice choose(const Position &le, const Position &lo, LutCounters &counters) const;
	void count(const Position &le, const Position &lo, Outcome used,
		   LutCounters &counters) const;

	int64_t extrapolate(const Choice &choice, int64_t x) const;
	int64_t interpolate(const Choice &choice) const;
	uint32_t extrapolateFloat(const Choice &choice, uint32_t x) const;
	uint32_t interpolateFloat(const Choice &choice) const;

	int64_t clip(int64_t value) const;

	LutVariant variant_;
	LutConfig config_;
	const LutTables &tables_;
};

} /* namespace nvdla::sim */
