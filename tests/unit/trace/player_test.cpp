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
		return playFile();
	}

	PlayResult playFile()
	{
		const auto trace = loadTrace(directory);
		if (!trace)
			return { .failures = { trace.error() } };
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

/* The copy as the public repository's branch nvdlav1 would have it. */
const std::string txnCopy = "write_reg 0xffff1002 0x50000040 #NVDLA_BDMA.CFG_DST_ADDR_LOW_0\n"
			    "read_reg 0xffff1002 0xffffffe0 0x50000040\n"
			    "write_reg 0xffff1005 0x1\n"
			    "write_reg 0xffff100c 0x1\n"
			    "write_reg 0xffff100d 0x1\n";

TEST_F(PlayerTest, PlaysInputTxn)
{
	file("in.dat", "W=0x8\n#2D data dump\nCrc=0x1124ed50\n0x01 0x02\n0x03\n");
	file("out.dat", "dumped memory,start_address=0x50000040 size=0x20\nmemory type:dram\n"
			"======\n\n 0x01 0x02 0x03 0x00\n\n=====\ndump done\n");
	file("input.txn", "load_mem 0x0 0x2 in.dat\nload_mem 0x2 0x1 third.dat\n" + txnCopy +
				  "wait\nread_reg 0xffff0003 0x40 0x40\n"
				  "write_reg 0xffff0003 0xffffffff\n"
				  "read_reg 0xffff0003 0xffffffff 0x0\n"
				  "dump_mem 0x50000040 0x4 out.dat\n"
				  "dump_mem 0x0 0x4 out.dat\n");
	file("third.dat", "0x03 0x04\n");
	const PlayResult result = playFile();
	EXPECT_TRUE(result.passed()) << result.failures.front();
}

/* Both copies are done when the first one is waited for, and cleared together. */
TEST_F(PlayerTest, EachInterruptOfInputTxnIsWaitedForOnce)
{
	const std::string again = "write_reg 0xffff100c 0x1\nwrite_reg 0xffff100e 0x1\n";
	const std::string waits = "wait\nwrite_reg 0xffff0003 0xffffffff\n";

	file("input.txn", txnCopy + again + waits + waits);
	EXPECT_TRUE(playFile().passed());
	file("input.txn", txnCopy + again + waits + waits + waits);
	const PlayResult result = playFile();
	ASSERT_EQ(result.failures.size(), 1U);
	EXPECT_EQ(result.failures[0], "line 12: none of the interrupts 0xffffffff comes");
	file("input.txn", txnCopy + "read_reg 0xffff0003 0x1 0x1\n");
	ASSERT_EQ(playFile().failures.size(), 1U);
	EXPECT_EQ(playFile().failures[0], "line 6: the interrupts 0x1 do not come");
}

TEST_F(PlayerTest, PlaysACfg)
{
	const std::string name = directory.filename().string();
	const std::string start = "mem_init(pri_mem, 0x0, 0x20, ALL_ZERO);\n"
				  "mem_load(pri_mem, 0x0, \"in.dat\"); // the line\n"
				  "reg_write(NVDLA_BDMA.CFG_DST_ADDR_LOW_0, 0x50000040);\n"
				  "reg_write(NVDLA_BDMA.CFG_CMD_0, 0x1);\n"
				  "reg_write(NVDLA_BDMA.CFG_OP_0, 0x1);\n"
				  "reg_write(NVDLA_BDMA.CFG_LAUNCH0_0, 0x1);\n"
				  "sync_notify(NVDLA_BDMA, x);\n"
				  "intr_notify(BDMA_0, sync_id_0);\n";

	file("in.dat", "{\n{offset:0x0, size:4, payload:0x31 0x32 0x33 0x34} ,\n"
		       "{offset:0x4, size:5, payload:0x35 0x36 0x37 0x38 0x39},\n}\n");
	/* The CRC-32 of "123456789". */
	file((name + ".cfg").c_str(),
	     start + "check_crc(sync_id_0, sec_mem, 0x50000040, 0x9, 0xcbf43926);\n");
	EXPECT_TRUE(playFile().passed());
	file((name + ".cfg").c_str(), start + "check_crc(sync_id_0, 1, 0x0, 0x9, 0xcbf43927);\n");
	const PlayResult result = playFile();
	ASSERT_EQ(result.failures.size(), 1U);
	EXPECT_EQ(result.failures[0], "line 9: CRC of 9 bytes at 0x0: expected 0xcbf43927, got "
				      "0xcbf43926");
}

TEST_F(PlayerTest, ACfgIsForTheCoreInWhoseFolderItIs)
{
	const std::filesystem::path inside = directory / "nv_small" / "one";

	std::filesystem::create_directories(inside);
	std::ofstream(inside / "one.cfg") << "poll_reg_equal(NVDLA_CDMA.S_STATUS_0, 0x0);\n";
	const auto trace = loadTrace(inside);
	ASSERT_TRUE(trace) << trace.error();
	EXPECT_EQ(trace->geometry, &nvSmall);
	EXPECT_EQ(trace->commands.front().address, nvSmall.addressOf(0x5000));

	std::filesystem::rename(directory / "nv_small", directory / "nv_medium_512");
	const auto other = loadTrace(directory / "nv_medium_512" / "one");
	ASSERT_FALSE(other);
	EXPECT_NE(other.error().find("the core nv_medium_512 is not modelled"), std::string::npos)
		<< other.error();
}

} /* namespace */
