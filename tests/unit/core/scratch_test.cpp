/* SPDX-License-Identifier: MIT */
#include "core/scratch.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace nvdla::sim
{

TEST(Scratch, GivesOutWhatWasGivenBack)
{
	Scratch scratch;
	const void *first = nullptr;

	{
		ScratchArray<int> array(scratch, 3000);
		first = array.data();
		array[2999] = 7;
	}
	const ScratchArray<short> other(scratch, 5000);
	EXPECT_EQ(other.size(), 5000U);
	EXPECT_EQ(other.data(), first);
	/* Two at a time are not the same. */
	const ScratchArray<int> third(scratch, 3000);
	EXPECT_NE(static_cast<const void *>(third.data()), first);
}

TEST(Scratch, BeginsWithALine)
{
	Scratch scratch;

	for (const size_t size : { size_t{ 1 }, size_t{ 5000 }, size_t{ 1 } << 20 }) {
		const ScratchArray<char> array(scratch, size);
		EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % kLineBytes, 0U) << size;
	}
}

TEST(Scratch, TakesTheSmallestThatIsLargeEnough)
{
	Scratch scratch;
	const void *large = nullptr;
	const void *small = nullptr;

	{
		const ScratchArray<char> a(scratch, 1 << 20);
		const ScratchArray<char> b(scratch, 1 << 14);
		large = a.data();
		small = b.data();
	}
	ScratchArray<char> array(scratch, 1 << 13);
	EXPECT_EQ(array.data(), small);
	array.resize(1 << 15);
	EXPECT_EQ(array.data(), large);
	EXPECT_EQ(array.size(), size_t{ 1 } << 15);
}

} /* namespace nvdla::sim */
