/* SPDX-License-Identifier: MIT */
/*
 * Random operations of every engine of every core on 1, 2, 3 and 5 threads: the bytes of both
 * memories, the registers and the errors must be those of one thread. Worth most with the
 * sanitizers. A round is twelve operations of each kind on nv_full, and four on each other core;
 * NVDLA_FUZZ_ROUNDS in the environment makes it as many rounds, NVDLA_FUZZ_SEED begins with another
 * seed.
 */
#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "fuzz_rounds.h"
#include "played_core.h"

namespace nvdla::fuzz
{

namespace
{

constexpr unsigned int kOperationsOfKind = 12;
constexpr unsigned int kOperationsOfOthers = 4;

/** \brief Cores that play in the same way, each with another number of threads */
class Cores
{
public:
	Cores(const sim::Geometry &geometry, const PlayOptions &options)
	{
		for (size_t i = 0; i < kThreads.size(); i++)
			cores_[i] = std::make_unique<PlayedCore>(kThreads[i], options, geometry);
	}

	/** \return what is left, the same on all of them */
	Remains play(const Program &program, std::span<const std::byte> image)
	{
		std::optional<Remains> alone;

		for (size_t i = 0; i < cores_.size(); i++) {
			cores_[i]->prepare(program, image);
			cores_[i]->play(program);
			const Remains left = cores_[i]->remains();
			if (!alone)
				alone = left;
			EXPECT_TRUE(left.dram == alone->dram) << kThreads[i] << " threads";
			EXPECT_TRUE(left.cvsram == alone->cvsram) << kThreads[i] << " threads";
			EXPECT_EQ(left.registers, alone->registers) << kThreads[i] << " threads";
			EXPECT_EQ(left.errors, alone->errors) << kThreads[i] << " threads";
		}
		return *alone;
	}

private:
	static constexpr std::array<unsigned int, 4> kThreads = { 1, 2, 3, 5 };

	std::array<std::unique_ptr<PlayedCore>, kThreads.size()> cores_;
};

uint32_t firstSeed()
{
	const char *text = std::getenv("NVDLA_FUZZ_SEED");
	return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : 1;
}

/* A kind of operations, and the core that they are for. */
struct KindOfCore {
	const sim::Geometry *core;
	Kind kind;
};

class AnyThreads : public testing::TestWithParam<KindOfCore>
{
};

TEST_P(AnyThreads, OperationsLeaveTheSame)
{
	const auto &[core, kind] = GetParam();
	const unsigned int count = test::fuzzRounds() *
				   (core == &sim::nvFull ? kOperationsOfKind : kOperationsOfOthers);
	const std::vector<std::byte> any = memoryImage(1, false);
	const std::vector<std::byte> tame = memoryImage(2, true);
	Cores cores[] = {
		Cores(*core, {}),
		Cores(*core,
		      { .conv = { sim::Fp16Arithmetic::Fast, sim::ReleasedEntries::MayChange } }),
		Cores(*core, { .hidesMemory = true }),
	};
	unsigned int legal = 0;
	std::map<std::string, unsigned int> errors;
	std::string name;

	for (uint32_t i = 0; i < count && !HasFailure(); i++) {
		const uint32_t seed = firstSeed() + i;
		const Program program = OperationDice(seed, *core).roll(kind);
		SCOPED_TRACE(testing::Message() << program.what << ", seed " << seed);
		name = program.what;
		const Remains left =
			cores[i % std::size(cores)].play(program, seed % 4 ? tame : any);
		legal += left.errors.empty();
		for (const std::string &error : left.errors)
			errors[error.substr(0, error.find("0x"))]++;
	}
	std::cout << core->name << ", " << name << ": " << count << " operations, " << legal
		  << " without an error\n";
	/* Most are to be what the hardware defines, and in memory. */
	EXPECT_GE(3 * legal, count) << testing::PrintToString(errors);
}

/* The core has all that an operation of the kind is made of. */
bool supports(const sim::Geometry &core, Kind kind)
{
	switch (kind) {
	case Kind::Bdma:
		return core.has(sim::Unit::Bdma);
	case Kind::Rubik:
		return core.has(sim::Unit::Rbk);
	case Kind::Batch:
		return core.mostBatches > 1;
	case Kind::Sparse:
	case Kind::SparseDepthwise:
		return core.hasCompressedWeights;
	case Kind::Winograd:
		return core.hasWinograd;
	default:
		return true;
	}
}

std::vector<KindOfCore> allKinds()
{
	std::vector<KindOfCore> kinds;

	for (const sim::Geometry *core : sim::geometries())
		for (unsigned int kind = 0; kind < kKinds; kind++)
			if (supports(*core, static_cast<Kind>(kind)))
				kinds.push_back({ core, static_cast<Kind>(kind) });
	return kinds;
}

INSTANTIATE_TEST_SUITE_P(Kinds, AnyThreads, testing::ValuesIn(allKinds()), [](const auto &info) {
	return std::string(info.param.core->name) + "_" +
	       std::to_string(static_cast<unsigned int>(info.param.kind));
});

} /* namespace */

} /* namespace nvdla::fuzz */
