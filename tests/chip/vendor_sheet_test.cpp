/* SPDX-License-Identifier: MIT */
#include <filesystem>

#include <gtest/gtest.h>

#include "reference_data.h"
#include "vendor_prediction.h"

using namespace nvdla;
using namespace nvdla::test;

namespace
{

/* The sums of a network, beside what the sheet has. */
struct Sums {
	PredictedLayer predicted;
	double sheet = 0;
};

Result<Sums> sumsOf(const Sheet &sheet, bool onChip)
{
	Sums sums;

	for (const SheetLayer &layer : sheet.layers) {
		auto predicted = predictLayer(layer, onChip);
		if (!predicted)
			return forward(predicted);
		sums.predicted += *predicted;
		sums.sheet += onChip ? layer.onChipCycles : layer.cycles;
	}
	return sums;
}

class VendorSheet : public testing::TestWithParam<std::tuple<const char *, bool>>
{
};

TEST_P(VendorSheet, IsMetUnderItsIdealisations)
{
	const auto [name, onChip] = GetParam();
	const auto folder = referenceData() / "reference" / "vendor-performance";
	if (!std::filesystem::is_directory(folder))
		GTEST_SKIP() << "there is no " << folder
			     << " (set NVDLA_REFERENCE_DATA to the folder of reference/)";
	const auto sheet = readSheet(folder, name);
	ASSERT_TRUE(sheet) << "there is no " << name << ".csv in " << folder;
	ASSERT_GT(sheet->layers.size(), 8U);
	const auto sums = sumsOf(*sheet, onChip);
	ASSERT_TRUE(sums) << sums.error().message();
	EXPECT_NEAR(sums->predicted.ideal / sums->sheet, 1, 0.05);
	EXPECT_GT(sums->predicted.steps, sums->predicted.ideal) << "what is real costs something";
	EXPECT_GT(sums->predicted.noLatency, sums->predicted.steps);
	EXPECT_GT(sums->predicted.real, sums->predicted.noLatency);
}

INSTANTIATE_TEST_SUITE_P(Networks, VendorSheet,
			 testing::Combine(testing::Values("alexnet", "googlenet", "resnet50"),
					  testing::Bool()),
			 [](const auto &info) {
				 return std::string(std::get<0>(info.param)) +
					(std::get<1>(info.param) ? "OnChip" : "DramOnly");
			 });

} /* namespace */
