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
 * \brief Play all of them from outside, through the stock QEMU, and fill in the results
 *
 * Each of the \a jobs threads has a QEMU and an nvdla-sim, which are reset
 * between traces. After a trace that fails they are started anew, so that no
 * trace finds what another one has broken.
 *
 * \param stop set from anywhere, also a signal handler: the traces that are left,
 *             and those that are being played, are skipped
 * \return why one of the programs could not be started, which skips what is left; else empty
 */
std::string playSuiteThroughQemu(std::vector<SuiteRun> &runs, unsigned int jobs,
				 const QemuPrograms &programs, const std::atomic<bool> &stop);

} /* namespace nvdla::sim */
