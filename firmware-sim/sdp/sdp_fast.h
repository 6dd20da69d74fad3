/* SPDX-License-Identifier: MIT */
/*
 * SDP's integer arithmetic at the speed of the host.
 *
 * Each function does what its namesake in sdp_datapath.h does and returns true, or
 * does nothing and returns false: for operands or a host that it is not made for.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sdp/sdp_datapath.h"

namespace nvdla::sim
{

/** \brief applySdpX() for integers and operands of 32 (ALU) and 16 bits (multiplier) */
bool applySdpXFast(const SdpStage &stage, std::span<int32_t> values, size_t lanes,
		   const SdpOperandRun &alu, const SdpOperandRun &mul);

/** \brief applySdpY() for integers; multipliers of 21 bits at most */
bool applySdpYFast(const SdpStage &stage, std::span<int32_t> values, size_t lanes,
		   const SdpOperandRun &alu, const SdpOperandRun &mul);

/** \brief convertSdpOutput() from integers to integers; \a values are whole atoms */
bool convertSdpOutputFast(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters);

/**
 * \brief The same, and its results as they are in memory
 *
 * Also notes in \a counters that one of them is not zero.
 *
 * \param bytes as many elements of the output's precision as there are values
 */
bool storeSdpOutputFast(const SdpOp &op, std::span<const int32_t> values,
			std::span<std::byte> bytes, SdpCounters &counters);

} /* namespace nvdla::sim */
