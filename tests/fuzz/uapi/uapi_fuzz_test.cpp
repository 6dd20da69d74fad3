/* SPDX-License-Identifier: MIT */
/*
 * Random programs of system calls, in a guest whose kernel says which of the driver's code they
 * reach: those that reach something new are what the next ones are made of.
 *
 * NVDLA_FUZZ_ROUNDS in the environment makes it that many times as many programs;
 * NVDLA_FUZZ_SECONDS has it go on for so long, whatever their number. NVDLA_FUZZ_SEED is another
 * seed.
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <unordered_set>

#include <gtest/gtest.h>

#include "caller.h"
#include "coverage.h"
#include "driver_files.h"
#include "fuzz_rounds.h"

namespace nvdla::fuzz
{

namespace
{

constexpr unsigned int plainPrograms = 60;
constexpr unsigned int programsBetweenLines = 100;

/** \return what changes when the kernel reports something: its taint, and whether it still checks
 * locks */
std::string kernelState()
{
	const std::string locks = test::readFile("/proc/lockdep_stats");
	const size_t line = locks.find("debug_locks:");

	return test::readFile("/proc/sys/kernel/tainted") +
	       (line == std::string::npos ? "" : locks.substr(line, locks.find('\n', line) - line));
}

class UapiFuzz : public testing::Test
{
protected:
	void SetUp() override
	{
		ASSERT_TRUE(coverage_.valid()) << "the kernel has no KCOV";
		ASSERT_TRUE(failNth_.valid()) << "the kernel has no fault injection";
	}

	/** \return blocks of the driver that no program before it has reached */
	size_t run(const Program &program, const Program *beside)
	{
		Caller caller;
		std::thread other;
		size_t fresh = 0;

		if (beside)
			other = std::thread([&] {
				const test::FailNth failNth;
				for (const Call &call : *beside)
					caller.make(call, failNth);
			});
		coverage_.begin();
		for (const Call &call : program)
			caller.make(call, failNth_);
		for (const uint64_t place : coverage_.reached())
			fresh += reached_.insert(place).second;
		calls_ += program.size();
		if (other.joinable())
			other.join();
		return fresh;
	}

	/** \brief Something new most of the time, made of what was worth keeping */
	Program next(ProgramDice &dice)
	{
		if (corpus_.empty() || random_() % 8 == 0)
			return dice.make();
		return dice.vary(any(), any());
	}

	const Program &any() { return corpus_[random_() % corpus_.size()]; }

	void print(unsigned int programs) const
	{
		std::printf("%u programs, %zu calls; %zu blocks of the driver reached, by %zu "
			    "programs\n",
			    programs, calls_, reached_.size(), corpus_.size());
		std::fflush(stdout);
	}

	const unsigned int seed_ =
		static_cast<unsigned int>(test::numberOf("NVDLA_FUZZ_SEED", 20261122));
	std::mt19937 random_{ seed_ };
	Coverage coverage_;
	test::FailNth failNth_;
	std::unordered_set<uint64_t> reached_;
	std::vector<Program> corpus_;
	size_t calls_ = 0;
};

} /* namespace */

TEST_F(UapiFuzz, TheKernelHasNothingToReport)
{
	using Clock = std::chrono::steady_clock;
	const std::chrono::seconds seconds(test::numberOf("NVDLA_FUZZ_SECONDS", 0));
	const unsigned int most = plainPrograms * test::fuzzRounds();
	const std::string before = kernelState();
	const Clock::time_point begin = Clock::now();
	ProgramDice dice(random_);
	unsigned int programs = 0;

	std::printf("seed %u\n", seed_);
	while (seconds.count() ? Clock::now() - begin < seconds : programs < most) {
		const Program program = next(dice);
		const bool two = !corpus_.empty() && random_() % 4 == 0;
		const Program beside = two ? any() : Program();

		if (run(program, two ? &beside : nullptr) > 0)
			corpus_.push_back(program);
		if (++programs % programsBetweenLines == 0)
			print(programs);
		ASSERT_EQ(kernelState(), before)
			<< "after " << describe(program) << "beside " << describe(beside);
	}
	print(programs);
	EXPECT_GT(reached_.size(), 800U) << "these programs do not get far";
	EXPECT_GT(corpus_.size(), 5U);
}

} /* namespace nvdla::fuzz */
