/* SPDX-License-Identifier: MIT */
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "trace/player.h"

using namespace nvdla::sim;

namespace
{

class PlayerTest : public testing::Test
{
protected:
	void SetUp() override
	{
		directory = std::filesystem::path(testing::TempDir()) /
			    testing::UnitTest::GetInstance()->current_test_info()->name();
		std::filesystem::create_directories(directory);
	}

	void TearDown() override { std::filesystem::remove_all(directory); }

	void file(const char *name, const std::string &contents)
	{
		std::ofstream(directory / name, std::ios::binary) << contents;
	}

	PlayResult playText(const std::string &text)
	{
		file("trace", text);
		const auto trace = loadTrace(directory);
		EXPECT_TRUE(trace);
		CoreTarget target;
		return play(*trace, target);
	}

	std::filesystem::path directory;
};

/* DRAM 0x0 to CVSRAM 0x50000040, one line of 32 bytes. */
const std::string copy = "write 0x4008 0x50000040\n"
			 "write 0x4014 0x1\n"
			 "write 0x4030 0x1\n"
			 "write 0x4034 0x1\n"
			 "poll 0xc 0x40 0x40\n";

TEST_F(PlayerTest, PlaysACopy)
{
	file("in.bin", "The quick brown fox jumps over..");
	const PlayResult result = playText("load mc 0x0 in.bin\n" + copy +
					   "read 0x4040 0xffffffff 0x114\n"
					   "expect cv 0x50000040 in.bin\n");
	EXPECT_TRUE(result.passed()) << result.failures.front();
	EXPECT_EQ(result.toleranced, 0U);
}

TEST_F(PlayerTest, SaysWhatDiffers)
{
	file("in.bin", "The quick brown fox jumps over..");
	file("out.bin", "The quick green fox jumps over..");
	const PlayResult result = playText("load mc 0x0 in.bin\n" + copy +
					   "read 0x4040 0xff 0x13\n"
					   "expect cv 0x50000040 out.bin\n");
	ASSERT_EQ(result.failures.size(), 2U);
	EXPECT_EQ(result.failures[0],
		  "line 7: read BDMA_STATUS: expected 0x13, got 0x14 (mask 0xff)");
	EXPECT_EQ(result.failures[1], "line 8: expect out.bin: first difference at cv 0x5000004a: "
				      "expected 0x67, got 0x62");
}

TEST_F(PlayerTest, PollThatIsNeverMetEndsTheTrace)
{
	const PlayResult result = playText("poll 0xc 0x1 0x1\nread 0x0 0xff 0x0\n");
	ASSERT_EQ(result.failures.size(), 1U);
	EXPECT_EQ(result.failures[0],
		  "line 1: poll GLB_S_INTR_STATUS: expected 0x1, got 0x0 (mask 0x1)");
}

TEST_F(PlayerTest, MissingFileAndMissingMemoryAreFailures)
{
	EXPECT_FALSE(playText("load mc 0x0 nothing.bin\n").passed());
	EXPECT_FALSE(playText("expect mc 0x0 nothing.bin\n").passed());
	file("in.bin", "x");
	EXPECT_FALSE(playText("load cv 0x0 in.bin\n").passed());
	EXPECT_FALSE(playText("expect cv 0x0 in.bin\n").passed());
}

TEST_F(PlayerTest, CountsExactResultsAmongThoseWithATolerance)
{
	file("a.bin", std::string("\x00\x3c", 2));
	file("b.bin", std::string("\x01\x3c", 2));
	const PlayResult result = playText("load mc 0x0 a.bin\n"
					   "expect mc 0x0 a.bin tol dc 1 1 1 0\n"
					   "expect mc 0x0 b.bin tol dc 1 1 1 0\n");
	EXPECT_TRUE(result.passed());
	EXPECT_EQ(result.toleranced, 2U);
	EXPECT_EQ(result.exact, 1U);
}

} /* namespace */
