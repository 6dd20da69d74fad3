/* SPDX-License-Identifier: MIT */
/*
 * SDP's integer arithmetic at the speed of the host.
 *
 * Each function has the same result as functions in sdp_datapath.h and returns true; or it does
 * nothing and returns false, because it does not support the operands or the host.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sdp/sdp_datapath.h"

namespace nvdla::sim
{

/**
 * \brief Do applySdpStage() for each of \a stages, in order, for integers
 *
 * \return false for multipliers of Y with more than 21 bits.
 *
 * \param stages three at most
 * \param out as many values as \a in, whole atoms; may be \a in
 */
bool applySdpFast(std::span<const SdpStageRun> stages, size_t lanes, std::span<const int32_t> in,
		  std::span<int32_t> out);

/**
 * \brief Do applySdpFast() and the output converter; \a bytes get the results in memory format
 *
 * Also returns false for floating point. \a counters get the number of saturated results, and
 * whether any result is not zero.
 *
 * \param bytes as many elements of the output's precision as there are values
 */
bool storeSdpFast(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		  std::span<const int32_t> in, std::span<std::byte> bytes, SdpCounters &counters);

/**
 * \brief Do arith::Converter::apply() for each value, clipped to 32 bits
 * \param values any number of values of 16 bits
 */
void convertSdpOperandsFast(const arith::Converter &converter, std::span<int32_t> values);

/**
 * \brief Sign-extend integers, or zero-extend the bits of FP16, to 32 bits
 * \param shift left shift in bits; the result must fit
 */
void widenSdpElements(std::span<const std::byte> raw, Precision precision, std::span<int32_t> out,
		      int shift = 0);

/** \brief The output element for each input element; the input as an unsigned number is the
 * index */
struct SdpTable {
	size_t elementBytes; /**< bytes of an element, 1 or 2 */
	std::vector<std::byte> results;

	/** \return the number of different elements */
	static constexpr size_t numbers(size_t elementBytes)
	{
		return size_t{ 1 } << (8 * elementBytes);
	}
};

/**
 * \brief Look up the elements of \a in, whole atoms
 * \return true if one of \a out is not zero
 */
bool lookUpSdpTable(const SdpTable &table, std::span<const std::byte> in, std::span<std::byte> out);

} /* namespace nvdla::sim */
