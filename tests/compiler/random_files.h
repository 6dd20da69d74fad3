/* SPDX-License-Identifier: MIT */
#pragma once

#include <iostream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nvdla/error.h>

#include "environment.h"

namespace nvdla::test
{

/**
 * \brief Random files of a kind, by their seeds, and what became of them
 *
 * NVDLA_RANDOM_MODELS is how many there are, NVDLA_RANDOM_SEED the seed of the first one.
 */
struct RandomFiles {
	explicit RandomFiles(unsigned long usualCount)
		: count(numberOf("NVDLA_RANDOM_MODELS", usualCount)),
		  first(numberOf("NVDLA_RANDOM_SEED", 1))
	{
	}

	/** \brief Count a file that the compiler did not take; fail if it called it invalid */
	void refuse(const Error &error)
	{
		constexpr size_t reasonLength = 90;

		EXPECT_NE(error.code, ErrorCode::InvalidFile) << error.message();
		refusals[error.why.substr(0, reasonLength)]++;
	}

	/** \brief Print the counts; fail if few files were compared: such a test shows nothing */
	void report() const
	{
		for (const auto &[why, times] : refusals)
			std::cout << times << " refused: " << why << '\n';
		std::cout << compared << " of " << count << " were compared\n";
		EXPECT_GT(compared, count * 7 / 10);
	}

	unsigned long count;
	unsigned long first;
	unsigned long compared = 0;
	std::map<std::string, unsigned> refusals;
};

} /* namespace nvdla::test */
