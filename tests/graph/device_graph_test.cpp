/* SPDX-License-Identifier: MIT */
/*
 * A sample of the random graphs in the guest: through the driver.
 */
#include <cstdlib>

#include <gtest/gtest.h>

#include "compare_check.h"
#include "graph_check.h"

namespace nvdla::test
{

TEST(RandomGraph, EqualsTheReferenceThroughTheDriver)
{
	const char *path = std::getenv("NVDLA_DEVICE");

	checkRandomGraphs(path ? path : "/dev/accel/accel0", deviceSample);
}

TEST(Compare, FindsDifferencesThroughTheDriver)
{
	const char *path = std::getenv("NVDLA_DEVICE");

	checkComparisons(path ? path : "/dev/accel/accel0");
}

} /* namespace nvdla::test */
