/* SPDX-License-Identifier: MIT */
/*
 * Runs tests on all versions of kernels that are compiled for several instruction sets, not only on
 * the version that this host would choose.
 */
#pragma once

#include <cstdint>
#include <functional>

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace nvdla::test
{

/** \brief Run \a check once for each instruction set in \a targets (bits as in HWY_TARGETS) that
 * this host has and that kernels are compiled for */
inline void forEachTargetOf(int64_t targets, const std::function<void()> &check)
{
	/* SupportedTargets() may have targets that no kernel is compiled for, such as scalars. */
	targets &= HWY_TARGETS;
	for (int64_t rest = hwy::SupportedTargets() & targets; rest; rest &= rest - 1) {
		/* The lowest bit of rest is the target to check. The slower targets stay allowed,
		 * because some files are not compiled for the target to check. */
		hwy::SetSupportedTargetsForTest(rest);
		hwy::GetChosenTarget().Update(hwy::SupportedTargets());
		SCOPED_TRACE(hwy::TargetName(rest & -rest));
		check();
	}
	hwy::SetSupportedTargetsForTest(0);
	hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/** \brief Run \a check once for each instruction set of this host */
inline void forEachTarget(const std::function<void()> &check)
{
	forEachTargetOf(~int64_t{ 0 }, check);
}

/**
 * \brief Like forEachTarget(), without the target for scalars. Some engines have no scalar kernels,
 * because their reference code is as fast
 */
inline void forEachVectorTarget(const std::function<void()> &check)
{
	forEachTargetOf(~int64_t{ HWY_SCALAR }, check);
}

} /* namespace nvdla::test */
