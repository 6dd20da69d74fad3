/* SPDX-License-Identifier: MIT */
/*
 * The hardware's own answers, played on the model: one test for each unit of each core.
 */
#include <algorithm>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "each_target.h"
#include "reference_data.h"
#include "trace/sequence.h"
#include "trace/suite.h"

using namespace nvdla::sim;

namespace
{

/* Vectors of a unit. */
struct Vectors {
	const char *core; /* empty for nv_full's */
	const char *unit;

	std::filesystem::path directory() const
	{
		return nvdla::test::referenceData() / (std::string("vectors") + core) / unit;
	}
	std::string name() const { return *core ? std::string(core + 1) + "_" + unit : unit; }
};

class Conformance : public testing::TestWithParam<Vectors>
{
protected:
	void expectNoDifference(const ConvOptions &options);
};

void Conformance::expectNoDifference(const ConvOptions &options)
{
	const auto directory = GetParam().directory();
	if (!std::filesystem::is_directory(directory))
		GTEST_SKIP() << "no reference data in " << directory
			     << " (set NVDLA_REFERENCE_DATA to its folder)";

	std::vector<SuiteRun> runs = findTraces(directory);
	ASSERT_FALSE(runs.empty()) << directory;
	playSuite(runs, std::max(1U, std::thread::hardware_concurrency()), options);

	unsigned int toleranced = 0;
	unsigned int exact = 0;
	for (const SuiteRun &run : runs) {
		toleranced += run.result.toleranced;
		exact += run.result.exact;
		for (const std::string &failure : run.result.failures)
			ADD_FAILURE() << run.directory.filename().string() << " " << failure;
		for (const OperationRecord &record : run.operations)
			EXPECT_TRUE(record.fetching || record.work.traffic() == record.moved)
				<< run.directory.filename().string()
				<< " moves other bytes than the timing model is told";
		for (const std::string &error : run.guestErrors)
			EXPECT_TRUE(run.result.passed())
				<< run.directory.filename().string() << " guest error: " << error;
	}
	for (const auto &[unit, timing] : summarizeTiming(runs)) {
		if (timing.traces < 10)
			continue; /* no mean of a few */
		EXPECT_NEAR(timing.geometricMean, 1, 0.03) << "modelled cycles, " << unit;
		EXPECT_LE(timing.worst, 1.3) << "modelled cycles, " << unit;
	}
	RecordProperty("vectors", static_cast<int>(runs.size()));
	RecordProperty("toleranced", static_cast<int>(toleranced));
	RecordProperty("exact", static_cast<int>(exact));
}

TEST_P(Conformance, VectorsArePlayedWithoutDifference)
{
	nvdla::test::forEachTarget([this] { expectNoDifference({}); });
}

/* As embedded devices have it. */
TEST_P(Conformance, ReleasedEntriesMakeNoDifference)
{
	expectNoDifference({ .released = ReleasedEntries::MayChange });
}

TEST(Fp16Fast, ConvolutionsAreWithinTheTolerance)
{
	const auto directory = nvdla::test::referenceData() / "vectors" / "conv";
	if (!std::filesystem::is_directory(directory))
		GTEST_SKIP() << "no reference data in " << directory
			     << " (set NVDLA_REFERENCE_DATA to its folder)";

	std::vector<SuiteRun> runs = findTraces(directory);
	playSuite(runs, std::max(1U, std::thread::hardware_concurrency()),
		  { .fp16 = Fp16Arithmetic::Fast });
	unsigned int different = 0;
	for (const SuiteRun &run : runs) {
		different += run.result.toleranced - run.result.exact;
		/* What has no tolerance, as behind a table, may differ. */
		EXPECT_EQ(run.result.outside, 0U) << run.directory.filename().string();
	}
	EXPECT_GT(different, 0U) << "all results are exact: was anything computed the fast way?";
	RecordProperty("different", static_cast<int>(different));
}

constexpr Vectors kVectors[] = {
	{ "", "bdma" },		 { "", "cdp" },		  { "", "conv" },
	{ "", "pdp" },		 { "", "regs" },	  { "", "rubik" },
	{ "", "sdp" },		 { "-nv_small", "cdp" },  { "-nv_small", "conv" },
	{ "-nv_small", "pdp" },	 { "-nv_small", "regs" }, { "-nv_small", "sdp" },
	{ "-nv_large", "cdp" },	 { "-nv_large", "conv" }, { "-nv_large", "pdp" },
	{ "-nv_large", "regs" }, { "-nv_large", "sdp" },
};

INSTANTIATE_TEST_SUITE_P(Cores, Conformance, testing::ValuesIn(kVectors),
			 [](const auto &info) { return info.param.name(); });

} /* namespace */
