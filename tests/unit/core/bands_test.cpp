/* SPDX-License-Identifier: MIT */
/*
 * Units in bands.
 */
#include "core/bands.h"

#include <vector>

#include <gtest/gtest.h>

namespace nvdla::sim::test
{

TEST(Bands, ThreadTakesItsOwnThenThoseOfOthers)
{
	Bands bands(7, 2);

	EXPECT_EQ(bands.take(1), 3);
	EXPECT_EQ(bands.take(0), 0);
	for (const uint64_t own : { 4, 5, 6 })
		EXPECT_EQ(bands.take(1), own);
	EXPECT_EQ(bands.take(1), 1);
	EXPECT_EQ(bands.take(0), 2);
	EXPECT_EQ(bands.take(0), std::nullopt);
	EXPECT_EQ(bands.take(1), std::nullopt);
}

TEST(Bands, RoundsOfABandFollowEachOther)
{
	Bands bands(3, 2, 2);

	for (const uint64_t own : { 1, 2, 4, 5 })
		EXPECT_EQ(bands.take(1), own);
	EXPECT_EQ(bands.take(0), 0);
	EXPECT_EQ(bands.take(1), 3);
	EXPECT_EQ(bands.take(0), std::nullopt);
}

TEST(Bands, EachUnitIsTakenOnce)
{
	for (const uint64_t units : { 0, 1, 3, 40 }) {
		for (const unsigned int count : { 1, 3, 5 }) {
			constexpr uint64_t kRounds = 2;
			Bands bands(units, count, kRounds);
			std::vector<int> taken(units * kRounds);

			/* More threads than bands, too. */
			for (unsigned int thread = 0;; thread = (thread + 1) % 7) {
				const auto unit = bands.take(thread);
				if (!unit)
					break;
				ASSERT_LT(*unit, taken.size());
				taken[*unit]++;
			}
			EXPECT_EQ(taken, std::vector<int>(taken.size(), 1))
				<< units << " in " << count;
		}
	}
}

} /* namespace nvdla::sim::test */
