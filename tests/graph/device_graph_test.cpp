/* SPDX-License-Identifier: MIT */
/*
 * A sample of the random graphs in the guest: through the driver.
 */
#include <cstdlib>

#include <gtest/gtest.h>

#include "graph_check.h"

namespace nvdla::test
{

TEST(RandomGraph, EqualsTheReferenceThroughTheDriver)
{
	const char *path = std::getenv("NVDLA_DEVICE");

	checkRandomGraphs(path ? path : "/dev/accel/accel0", deviceSample);
}

} /* namespace nvdla::test */
