/* SPDX-License-Identifier: MIT */
/*
 * Operations for which the host has no memory, and registers that ask for more than there is. A
 * guest error says so, and the operation hangs; the process goes on, and so does the core once it
 * is reset. NVDLA_FUZZ_ROUNDS in the environment makes it that many times as many operations.
 */
#include <chrono>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>

#include "failing_memory.h"
#include "fuzz_rounds.h"
#include "played_core.h"

namespace nvdla::fuzz
{

namespace
{

bool saysThatItHangs(const Remains &left)
{
	return std::ranges::any_of(left.errors, [](const std::string &error) {
		return error.ends_with(std::string("operation: ") + sim::kNoHostMemory);
	});
}

class OutOfMemory : public testing::TestWithParam<Kind>
{
protected:
	/* Each allocation, then ever fewer of them. \return how many there are */
	uint64_t failEach(PlayedCore &core, const Program &program,
			  std::span<const std::byte> image, Fails fails)
	{
		const Remains whole = play(core, program, image);
		constexpr uint64_t kAllUpTo = 40;

		for (uint64_t n = 0;; n += n < kAllUpTo ? 1 : n / 8) {
			SCOPED_TRACE(testing::Message() << "allocation " << n);
			core.prepare(program, image);
			failAllocation(n, fails);
			core.play(program);
			const uint64_t failed = stopFailing();
			const Remains left = core.remains();
			if (failed == 0) {
				EXPECT_TRUE(left == whole);
				return n;
			}
			EXPECT_TRUE(left == whole || left.lacksMemory()) << "nothing is said of it";
			/* BDMA looks for an operation whenever it is written to. */
			if (saysThatItHangs(left) && GetParam() != Kind::Bdma) {
				EXPECT_FALSE(left.registers == whole.registers) << "and it is done";
			}
			if (n % 8 == 0) {
				EXPECT_TRUE(play(core, program, image) == whole) << "afterwards";
			}
			if (HasFailure())
				return n;
		}
	}

	static Remains play(PlayedCore &core, const Program &program,
			    std::span<const std::byte> image)
	{
		core.prepare(program, image);
		core.play(program);
		return core.remains();
	}
};

TEST_P(OutOfMemory, IsAnErrorOfTheOperation)
{
	const std::vector<std::byte> image = memoryImage(1, true);
	PlayedCore alone(1, {});
	PlayedCore shared(3, {});
	uint64_t allocations = 0;

	for (uint32_t seed = 1; seed <= 2 * test::fuzzRounds() && !HasFailure(); seed++) {
		const Program program = OperationDice(seed).roll(GetParam());
		SCOPED_TRACE(testing::Message() << program.what << ", seed " << seed);
		allocations += failEach(alone, program, image, Fails::Once);
		allocations += failEach(shared, program, image, Fails::Once);
		allocations += failEach(shared, program, image, Fails::ForEver);
	}
	std::cout << allocations << " allocations\n";
	EXPECT_GT(allocations, 0U);
}

/** \brief Whether a register says how much there is of something, or how far it goes */
bool isSize(uint32_t address)
{
	const sim::RegisterInfo *info = sim::registerInfo(address);
	const std::string name = info ? info->name : "";

	for (const char *part : { "SIZE", "CUBE", "NUMBER", "STRIDE", "BANK", "BYTES", "PADDING",
				  "CFG_LINE", "REPEAT", "ENTRY", "KERNEL", "WIDTH", "RELEASE" })
		if (name.find(part) != std::string::npos)
			return true;
	return false;
}

/* As large as they can be, all of them or some. */
TEST_P(OutOfMemory, IsNotWhatRegistersCanAskFor)
{
	constexpr size_t kMostBytes = 512 << 20;
	constexpr auto kLongest = std::chrono::milliseconds(30);
	const std::vector<std::byte> image = memoryImage(1, true);
	std::mt19937 random(3);
	PlayedCore core(3, {});
	size_t most = 0;

	for (uint32_t seed = 1; seed <= 8 * test::fuzzRounds() && !HasFailure(); seed++) {
		Program program = OperationDice(seed).roll(GetParam());
		SCOPED_TRACE(testing::Message() << program.what << ", seed " << seed);
		for (sim::CsbWrite &write : program.writes)
			if (isSize(write.byteOffset) && random() % seed == 0)
				write.value = random() % 2 ? UINT32_MAX : random();
		core.prepare(program, image);
		watchPeak();
		core.playFor(program, kLongest);
		most = std::max(most, peakBytes());
		EXPECT_LE(most, kMostBytes);
	}
	std::cout << most / 1024 << " KiB at most\n";
}

std::vector<Kind> allKinds()
{
	std::vector<Kind> kinds;

	for (unsigned int kind = 0; kind < kKinds; kind++)
		kinds.push_back(static_cast<Kind>(kind));
	return kinds;
}

INSTANTIATE_TEST_SUITE_P(Kinds, OutOfMemory, testing::ValuesIn(allKinds()));

/* Registers can say that 1 x 1 x 1 becomes 137 GB of sums; and as much as is not worked on
 * elsewhere. */
TEST(OutOfMemoryTest, OneElementCannotBecomeMoreThanThereIs)
{
	constexpr size_t kMostBytes = 256 << 20;
	const std::vector<std::byte> image = memoryImage(1, true);
	PlayedCore exact(2, {});
	PlayedCore fast(2, { .conv = { .fp16 = sim::Fp16Arithmetic::Fast } });

	for (const auto &[side, batches] : { std::pair(8192U, 32U), std::pair(2000U, 1U) }) {
		for (uint32_t precision = 0; precision < 3; precision++) {
			const Program program =
				growing(static_cast<sim::Precision>(precision), side, batches);
			SCOPED_TRACE(testing::Message() << side << " of precision " << precision);
			for (PlayedCore *core : { &exact, &fast }) {
				core->prepare(program, image);
				watchPeak();
				core->playFor(program, std::chrono::milliseconds(100));
				EXPECT_LE(peakBytes(), kMostBytes);
				EXPECT_FALSE(core->remains().lacksMemory());
			}
		}
	}
}

} /* namespace */

} /* namespace nvdla::fuzz */
