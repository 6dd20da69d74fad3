/* SPDX-License-Identifier: MIT */
/*
 * SDP's FP16 arithmetic at the speed of the host.
 *
 * Each function but the last does what its namesake in sdp_datapath.h does for FP16, bit by bit.
 * Those that may return false do nothing then: for what they are not made for.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lut/float_lut.h"
#include "sdp/sdp_datapath.h"

namespace nvdla::sim
{

/** \brief applySdpX(); false for comparisons */
bool applySdpXFloat(const SdpStage &stage, std::span<int32_t> values, size_t lanes,
		    const SdpOperandRun &alu, const SdpOperandRun &mul);

/** \brief applySdpY(); false for comparisons */
bool applySdpYFloat(const SdpStage &stage, std::span<int32_t> values, size_t lanes,
		    const SdpOperandRun &alu, const SdpOperandRun &mul);

/**
 * \brief applySdpLut()
 * \param fast what \a lut is \param values whole atoms
 */
void applySdpLutFloat(const FloatLut &fast, const Lut &lut, std::span<int32_t> values,
		      LutCounters &counters);

/** \brief convertSdpOutput() from FP16 to FP16; \a values are whole atoms */
bool convertSdpOutputFloat(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters);

/**
 * \brief The same, and its results as they are in memory
 *
 * Also notes in \a counters that one of them is not zero.
 *
 * \param bytes two for each value
 */
bool storeSdpOutputFloat(const SdpOp &op, std::span<const int32_t> values,
			 std::span<std::byte> bytes, SdpCounters &counters);

/** \brief Special values among FP16 numbers */
struct SpecialHalves {
	uint32_t nan = 0;
	uint32_t inf = 0;
};

/**
 * \brief FP16 numbers as they are in memory to the bits of FP32 ones: fp16ToFp32() of each
 *
 * \param raw two bytes for each number
 * \param out a multiple of 16 numbers
 */
SpecialHalves widenSdpHalves(std::span<const std::byte> raw, std::span<int32_t> out);

} /* namespace nvdla::sim */
