/* SPDX-License-Identifier: MIT */
/*
 * SDP's integer stages and output converter as one straight line between bounds.
 *
 * Sums, multipliers, maxima, minima and clipping are, one after the other, a line between two
 * bounds for each channel. It is followed in single precision. Each stage rounds on its own, which
 * is what the line leaves out: how far a result can be off is known before. A number that is closer
 * than that to where rounding changes is computed once more, in double precision or by the
 * functions of sdp_datapath.h, so that results are theirs, bit by bit.
 *
 * Where the rounding in front of Y's shift moves too many results, the line bends there: it ends in
 * front of Y, whose product of a whole number is exact, as is what comes behind it.
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
 * clip(clip(input * factor + offset, low, high) + element * elementFactor, lowSum, highSum), the
 * elements and the second pair of bounds only where a stage adds an operand of each element. That,
 * rounded, is the result, unless the line bends.
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
	/** All numbers are multiples of 2 ^ -fractionBits, whatever was rounded */
	int fractionBits;
	bool endsRounded; /**< nothing is added after rounding, so halves stay halves */
	/* The largest of all channels. */
	double largestFactor;
	double largestOffset; /**< of the sums that make it, whatever their signs */
	double largestElementFactor;
	double largestBound; /**< of results in front of the clipping that counts as saturation */
	double nearestBound; /**< of the bounds that keep numbers away from zero */
	double reach;	     /**< no rounded number that matters is larger */
	/** Most that the roundings of all stages but the last can move a result */
	double error;

	/**
	 * Results are clip(round(number * bendMultiplier * 2 ^ -bendShift) + bendOffset, bendLow,
	 * bendHigh)
	 */
	bool bends;
	int bendShift;
	int32_t bendMultiplier[kMostLanes];
	int32_t bendOffset[kMostLanes];
	int32_t bendLow[kMostLanes];
	int32_t bendHigh[kMostLanes];
	double largestBendFactor; /**< multiplier and shift; 1 if the line does not bend */
	double largestBendOffset; /**< 0 if it does not */
};

/**
 * \brief Find the line of a surface
 *
 * False where there is none: with PReLU, multipliers for each element, comparing, more than one
 * operand for each element, floating point, or a host without vectors.
 *
 * \param stages three at most, with the operands of the surface
 */
bool findSdpLine(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes, SdpLine &line);

/**
 * \brief The results of whole atoms, as they are in memory
 *
 * Also notes in \a counters that one of them is not zero. False, with nothing counted and \a bytes
 * not to be used, where numbers are too large, something may saturate, or too many numbers are
 * close to where rounding changes.
 *
 * \param line of findSdpLine() \param stages as there; operands of each element as many as \a in
 * \param largest magnitude that \a in may have; it is only looked for in the numbers where knowing
 *        no more than that is not enough
 */
bool storeSdpLine(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages,
		  size_t lanes, std::span<const int32_t> in, double largest,
		  std::span<std::byte> bytes, SdpCounters &counters);

} /* namespace nvdla::sim */
