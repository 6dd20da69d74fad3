/* SPDX-License-Identifier: MIT */
/*
 * SDP's FP16 to memory, from memory or behind a convolution, at the speed of the host.
 */
#pragma once

#include <cstddef>
#include <span>

#include "sdp/sdp_fast.h"

namespace nvdla::sim
{

/**
 * \brief Stages and output converter of FP16 as it is in memory
 *
 * Also counts what is in \a counters. False, with nothing done, with multipliers of each element,
 * a multiplier, a table or a register of Y, operands that are infinite or no number, or a host
 * without vectors.
 *
 * \param stages operands of each element are aluBytes, the others FP32 bits
 * \param in whole atoms \param out as many
 */
bool storeSdpHalves(const SdpOp &op, std::span<const SdpStageRun> stages,
		    std::span<const std::byte> in, std::span<std::byte> out, SdpCounters &counters);

/**
 * \brief The same of FP32 bits, as CACC delivers them: input is not counted
 * \param in whole atoms \param out as many
 */
bool storeSdpHalves(const SdpOp &op, std::span<const SdpStageRun> stages,
		    std::span<const int32_t> in, std::span<std::byte> out, SdpCounters &counters);

} /* namespace nvdla::sim */
