/* SPDX-License-Identifier: MIT */
/*
 * Many traces, played through QEMU.
 */
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "trace/qemu_device.h"
#include "trace/suite.h"

namespace nvdla::sim
{

/**
 * \brief Play all traces from outside, through the stock QEMU, and fill in the results
 *
 * Each of the \a jobs threads has a QEMU and an nvdla-sim, which are reset
 * between traces. After a trace that fails they are started anew, so that no
 * trace is affected by a broken state.
 *
 * \param stop may be set from any thread or signal handler: the remaining traces
 *             and those that are being played are skipped
 * \return the reason if one of the programs could not be started, which skips the remaining
 *	   traces; else empty
 */
std::string playSuiteThroughQemu(std::vector<SuiteRun> &runs, unsigned int jobs,
				 const QemuPrograms &programs, const std::atomic<bool> &stop);

} /* namespace nvdla::sim */
