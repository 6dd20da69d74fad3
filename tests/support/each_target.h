/* SPDX-License-Identifier: MIT */
/*
 * Compute kernels are compiled for several instruction sets. Runs tests on all versions that this
 * host can run, not only on the one that it would choose.
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
	/* SupportedTargets() may have targets for which no kernel is compiled, such as that for
	 * scalars. */
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
 * \brief Like forEachTarget(), but without the target for scalars, for engines without scalar
 * kernels: their reference code is as fast as such kernels would be
 */
inline void forEachVectorTarget(const std::function<void()> &check)
{
	forEachTargetOf(~int64_t{ HWY_SCALAR }, check);
}

} /* namespace nvdla::test */
