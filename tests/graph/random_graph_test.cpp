/* SPDX-License-Identifier: MIT */
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nvdla/device.h>

#include "graph_check.h"

namespace nvdla::test
{

TEST(RandomGraph, EqualsTheReference)
{
	checkRandomGraphs(Device::embeddedPath, 1000);
}

TEST(RandomGraph, EqualsTheReferenceOnEveryOtherCore)
{
	for (const CoreGeometry &core : coreVariants().subspan(1)) {
		SCOPED_TRACE(core.name);
		checkRandomGraphs(fmt::format("{}:{}", Device::embeddedPath, core.name), 250, core);
	}
}

/* What the guest sees of the graphs is worth its time. */
TEST(RandomGraph, SampleForTheGuestIsVaried)
{
	for (const char *text : { "winograd", "sparse", "deconv", "bands 2", "same data", "image",
				  "CDP", "contract", "split", "copy", "on chip" }) {
		bool found = false;
		for (uint32_t i = 0; i < deviceSample; i++)
			found |= randomCase(firstSeed + i).description.find(text) !=
				 std::string::npos;
		EXPECT_TRUE(found) << text;
	}
}

} /* namespace nvdla::test */
