/* SPDX-License-Identifier: MIT */
/*
 * What the fuzzer does, without the fuzzer: inputs by a generator with a fixed seed.
 * NVDLA_FUZZ_ROUNDS in the environment makes it that many times as many. The first argument of
 * the program, if there is one, is a file with a fuzz input to play instead.
 */
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz_rounds.h"
#include "task_create.h"

using namespace nvdla::fuzz;

namespace
{

std::vector<uint8_t> randomInput(std::mt19937 &random)
{
	std::vector<uint8_t> input{ static_cast<uint8_t>(random()) };
	const unsigned int patches = random() % 4;
	static const uint16_t values[] = { 0,  1,   2,	 3,	 8,	 31,	32,
					   64, 255, 256, 0x7fff, 0x8000, 0xffff };

	for (unsigned int i = 0; i < patches; i++) {
		const uint16_t place = static_cast<uint16_t>(random());
		const uint16_t value = random() % 2 ? values[random() % std::size(values)]
						    : static_cast<uint16_t>(random());
		const Patch patch{ static_cast<uint8_t>(random()), static_cast<uint8_t>(random()),
				   place, value };
		const auto *bytes = reinterpret_cast<const uint8_t *>(&patch);
		input.insert(input.end(), bytes, bytes + sizeof(patch));
	}
	return input;
}

} /* namespace */

TEST(TaskCreateFuzz, ChangedGraphsAreRefusedOrRun)
{
	std::mt19937 random(1);
	unsigned int accepted = 0;
	unsigned int refused = 0;

	for (unsigned int i = 0; i < 20000 * nvdla::test::fuzzRounds(); i++) {
		if (createTask(randomInput(random)))
			accepted++;
		else
			refused++;
	}
	EXPECT_GT(accepted, 1000u);
	EXPECT_GT(refused, 1000u);
}

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	if (argc > 1) {
		std::ifstream file(argv[1], std::ios::binary);
		if (!file) {
			std::fprintf(stderr, "%s: cannot be read\n", argv[1]);
			return 1;
		}
		const std::vector<uint8_t> input((std::istreambuf_iterator<char>(file)),
						 std::istreambuf_iterator<char>());
		std::printf("%s\n", createTask(input) ? "accepted" : "refused");
		return 0;
	}
	return RUN_ALL_TESTS();
}
