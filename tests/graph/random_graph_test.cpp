/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>
#include <nvdla/device.h>

#include "graph_check.h"

namespace nvdla::test
{

TEST(RandomGraph, EqualsTheReference)
{
	checkRandomGraphs(Device::embeddedPath, 1000);
}

} /* namespace nvdla::test */
