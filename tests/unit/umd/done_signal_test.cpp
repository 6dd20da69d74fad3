/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>
#include <poll.h>

#include "frameworks/python/nvdla/done_signal.h"

namespace nvdla::python
{

namespace
{

bool isReadable(const DoneSignal &signal)
{
	pollfd one = { signal.fileno(), POLLIN, 0 };

	return poll(&one, 1, 0) == 1;
}

} /* namespace */

TEST(DoneSignal, OnlyTheLastRunWakes)
{
	DoneSignal signal;
	ASSERT_TRUE(signal);

	const uint64_t first = signal.announce();
	const uint64_t second = signal.announce();
	signal.done(first);
	EXPECT_FALSE(isReadable(signal)) << "the first run's callback came late";
	signal.done(second);
	EXPECT_TRUE(isReadable(signal));
	signal.announce();
	EXPECT_FALSE(isReadable(signal));
}

} /* namespace nvdla::python */
