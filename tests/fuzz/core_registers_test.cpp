/* SPDX-License-Identifier: MIT */
/*
 * What the fuzzer does, without the fuzzer: a fixed number of inputs made from
 * the reference traces of all cores, or of random accesses, by a generator with
 * a fixed seed. Worth most with the sanitizers. NVDLA_FUZZ_ROUNDS in the environment
 * makes it that many times as many. With a file as its argument, the program
 * plays that fuzz input instead; with --write-seeds DIR, it writes the reference
 * traces as inputs for the fuzzer to start from, to a folder for each core.
 */
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "core_registers.h"
#include "fuzz_rounds.h"
#include "reference_data.h"
#include "trace/suite.h"

using namespace nvdla::fuzz;
namespace sim = nvdla::sim;

namespace
{

/* The reference traces of each core. */
std::vector<sim::SuiteRun> referenceTraces()
{
	std::vector<sim::SuiteRun> all;

	for (const char *vectors : { "vectors", "vectors-nv_small", "vectors-nv_large" }) {
		const auto directory = nvdla::test::referenceData() / vectors;
		if (std::filesystem::is_directory(directory))
			std::ranges::move(sim::findTraces(directory), std::back_inserter(all));
	}
	return all;
}

/* Changes some of the accesses, keeping most of the input sensible. */
void mutate(std::span<uint8_t> input, std::mt19937 &random)
{
	if (input.empty())
		return;
	for (unsigned int changes = random() % 6 + 1; changes; changes--) {
		const size_t access = random() % (input.size() / sizeof(Access)) * sizeof(Access);
		const size_t value = access + offsetof(Access, value);
		switch (random() % 4) {
		case 0: /* one bit of the value */
			input[value + random() % 4] ^= static_cast<uint8_t>(1 << random() % 8);
			break;
		case 1: /* one byte of it, at its ends */
			input[value + random() % 4] = random() % 2 ? 0xff : 0x00;
			break;
		case 2: /* another register */
			input[access + offsetof(Access, word)] +=
				static_cast<uint8_t>(random() % 3);
			break;
		case 3: /* another kind of access */
			input[access] = static_cast<uint8_t>(random() % 4);
			break;
		}
	}
}

TEST(CoreRegisters, RandomAccesses)
{
	std::mt19937 random(1);
	for (unsigned int round = 0; round < 40 * nvdla::test::fuzzRounds(); round++) {
		std::vector<uint8_t> input(kGeometryBytes + sizeof(Access) * 600);
		for (uint8_t &byte : input)
			byte = static_cast<uint8_t>(random());
		input[0] = static_cast<uint8_t>(round);
		for (size_t access = kGeometryBytes; access < input.size();
		     access += sizeof(Access)) {
			const auto kind = static_cast<uint8_t>(random() % 100);
			input[access] = kind < 90   ? Access::Write
					: kind < 98 ? Access::Read
					: kind < 99 ? Access::Wait
						    : Access::Reset;
			/* Registers are in the first words of a unit, values often small. */
			input[access + offsetof(Access, word)] %= 64;
			input[access + offsetof(Access, word) + 1] = 0;
			if (random() % 2)
				input[access + offsetof(Access, value) + 3] = 0;
		}
		playAccesses(input);
	}
}

TEST(CoreRegisters, ChangedTraces)
{
	const auto runs = referenceTraces();
	if (runs.empty())
		GTEST_SKIP() << "no reference data in " << nvdla::test::referenceData()
			     << " (set NVDLA_REFERENCE_DATA to its folder)";

	std::mt19937 random(2);
	for (size_t i = 0; i < runs.size() * nvdla::test::fuzzRounds(); i += 7) {
		const auto trace = sim::loadTrace(runs[i % runs.size()].directory);
		ASSERT_TRUE(trace) << trace.error();
		auto input = encode(*trace);
		mutate(std::span(input).subspan(kGeometryBytes), random);
		SCOPED_TRACE(runs[i % runs.size()].directory);
		playAccesses(input);
	}
}

int writeSeeds(const std::filesystem::path &directory)
{
	size_t seeds = 0;
	std::error_code ignored;
	for (const auto &run : referenceTraces()) {
		const auto trace = sim::loadTrace(run.directory);
		if (!trace) {
			fprintf(stderr, "%s\n", trace.error().c_str());
			return 2;
		}
		auto input = encode(*trace);
		const auto all = sim::geometries();
		for (size_t core = 0; core < all.size(); core++) {
			/* Of cores with the same units at the same addresses, any may play it. */
			if (all[core]->pages.data() != trace->geometry->pages.data())
				continue;
			input[0] = static_cast<uint8_t>(core);
			const auto path = directory / all[core]->name /
					  (std::string(trace->geometry->name) + "-" +
					   trace->directory.filename().string());
			std::filesystem::create_directories(path.parent_path(), ignored);
			std::ofstream file(path, std::ios::binary);
			file.write(reinterpret_cast<const char *>(input.data()),
				   static_cast<std::streamsize>(input.size()));
			if (!file.flush()) {
				fprintf(stderr, "cannot write %s\n", path.c_str());
				return 2;
			}
			seeds++;
		}
	}
	printf("%zu seeds in %s\n", seeds, directory.c_str());
	return seeds ? 0 : 2;
}

} /* namespace */

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	if (argc < 2)
		return RUN_ALL_TESTS();
	if (argc == 3 && argv[1] == std::string_view("--write-seeds"))
		return writeSeeds(argv[2]);
	const auto input = sim::readFile(argv[1]);
	if (!input) {
		fprintf(stderr, "%s\n", input.error().c_str());
		return 2;
	}
	playAccesses({ reinterpret_cast<const uint8_t *>(input->data()), input->size() });
	return 0;
}
