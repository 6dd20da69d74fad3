/* SPDX-License-Identifier: MIT */
/*
 * SDP's integer stages and output converter as one straight line between bounds.
 *
 * For each channel, the sequence of sums, multipliers, maxima, minima and clipping is a linear
 * function between two bounds. This line is computed in single precision. A line ignores that each
 * stage rounds on its own, which causes an error with a known bound. A result that is closer to a
 * tie than this bound is computed again by the functions of sdp_datapath.h, so that results equal
 * theirs bit by bit.
 *
 * If the rounding before Y brings too many results close to a tie, the line bends: it covers only
 * the stages before Y, its result is rounded, and Y is computed exactly from this integer.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sdp/sdp_fast.h"

namespace nvdla::sim
{

/**
 * \brief The line of each channel of a surface
 *
 * clip(clip(input * factor + offset, low, high) + element * elementFactor, lowSum, highSum).
 * Elements and the second pair of bounds are used only if a stage adds an operand of each element.
 * The result is this value, rounded, unless the line bends.
 */
struct SdpLine {
	static constexpr size_t kMostLanes = 32;

	double factor[kMostLanes];
	double offset[kMostLanes];
	double low[kMostLanes];
	double high[kMostLanes];
	double elementFactor[kMostLanes];
	double lowSum[kMostLanes];
	double highSum[kMostLanes];

	/** Stage that adds an operand of each element; -1: none */
	int elementStage;
	/** All numbers are multiples of 2 ^ -fractionBits, after any rounding */
	int fractionBits;
	bool endsRounded; /**< nothing is added after a rounding; a sum could move a tie across 0 */
	/* The largest values of all channels. */
	double largestFactor;
	double largestOffset; /**< largest sum of magnitudes of the offset's terms */
	double largestElementFactor;
	double largestBound; /**< largest result before the converter clips (saturates) it */
	double nearestBound; /**< largest of the channels' smallest magnitudes within bounds */
	double reach;	     /**< largest magnitude that is rounded and not replaced by a bound */
	/** The largest error from the roundings of all stages but the last */
	double error;

	/**
	 * True if the line ends before Y. Results are then clip(round(number * bendMultiplier *
	 * 2 ^ -bendShift) + bendOffset, bendLow, bendHigh)
	 */
	bool bends;
	int bendShift;
	int32_t bendMultiplier[kMostLanes];
	int32_t bendOffset[kMostLanes];
	int32_t bendLow[kMostLanes];
	int32_t bendHigh[kMostLanes];
	double largestBendFactor; /**< multiplier * 2 ^ -shift; 1 if the line does not bend */
	double largestBendOffset; /**< largest magnitude of bendOffset, 0 without a bend */
};

/**
 * \brief Find the line of a surface
 *
 * Returns false if there is no line: with PReLU, multipliers for each element, compare mode, more
 * than one operand for each element, floating point, or a host without vectors.
 *
 * \param stages three at most, with the operands of the surface
 */
bool findSdpLine(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes, SdpLine &line);

/**
 * \brief Compute the results of whole atoms, in memory format
 *
 * \a counters get whether any result is not zero. Returns false if numbers are too large, a result
 * may saturate, or too many numbers are close to a tie; then nothing is counted, and \a bytes must
 * not be used.
 *
 * \param line of findSdpLine()
 * \param stages as for findSdpLine(); has an operand of each element for every number of \a in
 * \param largest bound of the magnitudes of \a in; the numbers themselves are searched only if this
 *        bound is not sufficient
 */
bool storeSdpLine(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages,
		  size_t lanes, std::span<const int32_t> in, double largest,
		  std::span<std::byte> bytes, SdpCounters &counters);

} /* namespace nvdla::sim */
