/* SPDX-License-Identifier: MIT */
#include <array>
#include <csignal>

#include <gtest/gtest.h>
#include <unistd.h>

#include "qtest/process.h"

using namespace nvdla::sim::qtest;

namespace
{

TEST(ProcessTest, ExitStatus)
{
	Process good({ "true" }, UniqueFd(), UniqueFd(), "/dev/null");
	EXPECT_EQ(good.wait(), 0);
	EXPECT_FALSE(good.running());
	Process missing({ "/nonexistent/program" }, UniqueFd(), UniqueFd(), "/dev/null");
	EXPECT_EQ(missing.wait(), 127);
}

TEST(ProcessTest, SignalEndsTheGroup)
{
	Pipe output = Pipe::make();
	Process shell({ "sh", "-c", "sleep 1000 & echo up; wait" }, UniqueFd(),
		      std::move(output.write), "/dev/null");
	std::array<char, 4> text;
	ASSERT_EQ(read(output.read.get(), text.data(), 3), 3);
	EXPECT_TRUE(shell.running());
	shell.signal(SIGKILL);
	EXPECT_EQ(shell.wait(), 128 + SIGKILL);
	EXPECT_FALSE(shell.running());
	/* The pipe ends when its last writer, the shell's child, has ended too. */
	EXPECT_EQ(read(output.read.get(), text.data(), 1), 0);
}

} /* namespace */
