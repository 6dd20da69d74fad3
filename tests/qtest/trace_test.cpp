/* SPDX-License-Identifier: MIT */
/*
 * Golden vectors played from outside, through the stock QEMU.
 */
#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "places.h"
#include "qtest/qemu_binary.h"
#include "reference_data.h"
#include "trace/qemu_suite.h"

using namespace nvdla::sim;

namespace
{

/* Of each unit as many as show that the way through QEMU is right, with both memories. */
constexpr size_t kVectorsOfUnit = 10;

bool usesCvsram(const SuiteRun &run)
{
	const auto trace = loadTrace(run.directory);
	return trace && std::ranges::any_of(trace->commands, [](const TraceCommand &command) {
		       return command.ram == RamType::Cv;
	       });
}

/* Evenly spread over the vectors with CVSRAM and over those without. */
std::vector<SuiteRun> choose(std::vector<SuiteRun> runs)
{
	const auto middle = std::stable_partition(runs.begin(), runs.end(), usesCvsram);
	std::vector<SuiteRun> chosen;
	for (const auto &[begin, end] :
	     { std::pair(runs.begin(), middle), std::pair(middle, runs.end()) }) {
		const auto count = static_cast<size_t>(end - begin);
		const size_t step = std::max<size_t>(1, count / (kVectorsOfUnit / 2));
		for (size_t i = 0; i < count; i += step)
			chosen.push_back(begin[static_cast<ptrdiff_t>(i)]);
	}
	return chosen;
}

class ThroughQemuTest : public testing::Test
{
protected:
	void SetUp() override
	{
		const qtest::QemuBinary &binary = qtest::QemuBinary::find();
		ASSERT_EQ(binary.error, "");
		if (!binary.skipReason.empty())
			GTEST_SKIP() << binary.skipReason << " (set NVDLA_QEMU to use another)";
		std::signal(SIGPIPE, SIG_IGN);
	}

	std::string play(std::vector<SuiteRun> &runs,
			 const std::string &sim = nvdla::test::built(NVDLA_SIM_PROGRAM))
	{
		return playSuiteThroughQemu(runs, 2, { qtest::QemuBinary::find().words, sim },
					    stop_);
	}

	std::atomic<bool> stop_ = false;
};

class ThroughQemu : public ThroughQemuTest, public testing::WithParamInterface<const char *>
{
};

TEST_P(ThroughQemu, VectorsArePlayedWithoutDifference)
{
	const auto directory = nvdla::test::referenceData() / "vectors" / GetParam();
	if (!std::filesystem::is_directory(directory))
		GTEST_SKIP() << "no reference data in " << directory
			     << " (set NVDLA_REFERENCE_DATA to its folder)";

	std::vector<SuiteRun> runs = choose(findTraces(directory));
	ASSERT_FALSE(runs.empty()) << directory;
	ASSERT_EQ(play(runs), "");
	for (const SuiteRun &run : runs) {
		const std::string name = run.directory.filename().string();
		EXPECT_EQ(run.result.skipped, "") << name;
		for (const std::string &failure : run.result.failures)
			ADD_FAILURE() << name << " " << failure;
	}
	RecordProperty("vectors", static_cast<int>(runs.size()));
}

INSTANTIATE_TEST_SUITE_P(Vectors, ThroughQemu,
			 testing::Values("bdma", "cdp", "conv", "pdp", "regs", "rubik", "sdp"),
			 [](const auto &info) { return std::string(info.param); });

class ThroughQemuErrors : public ThroughQemuTest
{
protected:
	void SetUp() override
	{
		ASSERT_NO_FATAL_FAILURE(ThroughQemuTest::SetUp());
		if (IsSkipped())
			return;
		folder_ = testing::TempDir() + "nvdla-through-qemu-XXXXXX";
		ASSERT_NE(mkdtemp(folder_.data()), nullptr);
	}

	void TearDown() override
	{
		std::error_code error;
		if (!folder_.empty())
			std::filesystem::remove_all(folder_, error);
	}

	void add(const std::string &name, const std::string &trace)
	{
		const auto directory = std::filesystem::path(folder_) / name;
		std::filesystem::create_directories(directory);
		std::ofstream(directory / "trace") << trace;
		std::ofstream(directory / "atom.bin") << "The quick brown fox jumps over..";
	}

	std::string folder_;
};

TEST_F(ThroughQemuErrors, WhatDiffersFails)
{
	add("1-wrong-register", "read 0x0 0xffffffff 0x1\n");
	add("2-wrong-memory", "expect mc 0x80000000 atom.bin\n");
	add("3-wrong-cvsram", "expect cv 0x50000000 atom.bin\n");
	add("4-no-memory", "load mc 0xd0000000 atom.bin\n");
	add("5-good", "load mc 0x7f80000000 atom.bin\nload cv 0x50000000 atom.bin\n"
		      "read 0x0 0xffffffff 0x00303031\n"
		      "expect mc 0x7f80000000 atom.bin\nexpect cv 0x50000000 atom.bin\n");
	std::vector<SuiteRun> runs = findTraces(folder_);
	ASSERT_EQ(runs.size(), 5U);
	ASSERT_EQ(play(runs), "");
	for (size_t i = 0; i < 4; i++)
		EXPECT_EQ(runs[i].result.failures.size(), 1U) << runs[i].directory;
	EXPECT_TRUE(runs[4].result.passed());
}

TEST_F(ThroughQemuErrors, ProgramThatDoesNotStart)
{
	add("any", "read 0x0 0xffffffff 0x00303031\n");
	std::vector<SuiteRun> runs = findTraces(folder_);
	EXPECT_NE(play(runs, "/nonexistent/nvdla-sim"), "");
	EXPECT_FALSE(runs[0].result.passed());
	EXPECT_NE(runs[0].result.skipped, "");
}

TEST_F(ThroughQemuErrors, Stopped)
{
	add("any", "read 0x0 0xffffffff 0x00303031\n");
	std::vector<SuiteRun> runs = findTraces(folder_);
	stop_ = true;
	EXPECT_EQ(play(runs), "");
	EXPECT_EQ(runs[0].result.skipped, "interrupted");
}

} /* namespace */
