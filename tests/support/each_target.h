/* SPDX-License-Identifier: MIT */
/*
 * Kernels that are compiled once for each instruction set: all of them, not only the one that
 * this host would take.
 */
#pragma once

#include <cstdint>
#include <functional>

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace nvdla::test
{

/** \brief Run \a check once for each instruction set of this host */
inline void forEachTarget(const std::function<void()> &check)
{
	const int64_t all = hwy::SupportedTargets() & HWY_TARGETS;

	for (int64_t rest = all; rest; rest &= rest - 1) {
		hwy::SetSupportedTargetsForTest(rest & -rest);
		hwy::GetChosenTarget().Update(hwy::SupportedTargets());
		SCOPED_TRACE(hwy::TargetName(rest & -rest));
		check();
	}
	hwy::SetSupportedTargetsForTest(0);
	hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

} /* namespace nvdla::test */
