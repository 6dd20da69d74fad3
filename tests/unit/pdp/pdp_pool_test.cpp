/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "each_target.h"
#include "pdp/pdp.h"
#include "pdp/pdp_pooler.h"
#include "pdp_extreme.h"
#include "pdp_naive.h"
#include "timing/operation_timing.h"

using namespace nvdla::sim;
using namespace nvdla::test;

namespace
{

/* The sign of a zero is the one thing that the plain numbers of the comparison do not have. */
std::vector<int32_t> comparable(const PdpOp &op, std::vector<int32_t> values)
{
	if (op.precision == Precision::Fp16)
		for (int32_t &value : values)
			value = value == 0x8000 ? 0 : value;
	return values;
}

uint32_t counter(const OperationResult &result, uint32_t address)
{
	for (const RegisterUpdate &update : result.updates)
		if (update.address == address)
			return update.value;
	ADD_FAILURE() << "no update of register " << address;
	return 0;
}

/** \brief One line of INT8, INT16 or FP16 in lane 0, pooled by one window */
int32_t poolOne(PdpOp op, const std::vector<int32_t> &line, uint32_t kernelHeight = 1)
{
	op.inWidth = static_cast<uint32_t>(line.size()) / kernelHeight;
	op.inHeight = kernelHeight;
	op.kernelWidth = op.inWidth + op.padLeft + op.padRight;
	op.kernelHeight = kernelHeight + op.padTop + op.padBottom;
	op.destination.address = PdpMemory::dramBase + PdpMemory::outputOffset;
	op.destination.ram = RamType::Mc;
	op.source.address = PdpMemory::dramBase;
	op.source.ram = RamType::Mc;
	op.source.lineStride = op.inWidth * 32;

	PdpMemory memory(op);
	Cube in(op.inWidth, op.inHeight, 1, op.lanes());
	for (size_t i = 0; i < line.size(); i++)
		in.values[i * op.lanes()] = line[i];
	memory.storeInput(in);
	runPdp(op, memory.port());
	return memory.loadOutput().values[0];
}

class PdpPool : public testing::TestWithParam<std::tuple<Precision, PoolingMethod>>
{
protected:
	Precision precision() const { return std::get<0>(GetParam()); }
	PoolingMethod method() const { return std::get<1>(GetParam()); }
};

constexpr int32_t inf = 0x7c00;
constexpr int32_t nan1 = 0x7e01;
constexpr int32_t nan2 = 0xfe02;
constexpr int32_t one = 0x3c00;
constexpr int32_t minusOne = 0xbc00;

} /* namespace */

TEST_P(PdpPool, RandomShapesEqualTheDefinition)
{
	std::mt19937 random(seed);

	for (int round = 0; round < 25; round++) {
		const PdpOp op = randomOp(precision(), method(), random);
		SCOPED_TRACE(testing::Message()
			     << "seed " << seed << ", round " << round << ": " << op.inWidth << "x"
			     << op.inHeight << " kernel " << op.kernelWidth << "x"
			     << op.kernelHeight << " stride " << op.strideX << "x" << op.strideY);
		const Cube in = randomInput(op, random);
		const std::vector<int32_t> expected =
			comparable(op, poolByDefinition(op, in).values);

		forEachTarget([&] {
			PdpMemory memory(op);
			memory.storeInput(in);

			const OperationResult result = runPdp(op, memory.port());

			EXPECT_EQ(result.guestError, "");
			EXPECT_FALSE(memory.port().faulted());
			ASSERT_EQ(comparable(op, memory.loadOutput().values), expected);
			EXPECT_EQ(memory.strayBytes(), 0U);
		});
	}
}

TEST_P(PdpPool, SplitMakesNoDifference)
{
	std::mt19937 random(seed + 1);
	unsigned int splits = 0;

	for (int round = 0; round < 40; round++) {
		const PdpOp op = randomOp(precision(), method(), random);
		/* One window on the left, one in the middle, the rest on the right. */
		const uint32_t first = op.kernelWidth - op.padLeft;
		PdpOp split = op;
		split.parts = 3;
		split.partIn = { first, op.strideX, op.inWidth - first - op.strideX };
		split.partOut = { 1, 1, op.outWidth - 2 };
		if (op.outWidth < 3 || op.strideX < op.padLeft || op.inWidth <= first + op.strideX)
			continue; /* a part would have no columns of its own */
		splits++;
		SCOPED_TRACE(testing::Message() << "seed " << seed + 1 << ", round " << round);
		const Cube in = randomInput(op, random);
		PdpMemory whole(op);
		PdpMemory parts(split);
		whole.storeInput(in);
		parts.storeInput(in);

		runPdp(op, whole.port());
		runPdp(split, parts.port());

		ASSERT_EQ(parts.loadOutput().values, whole.loadOutput().values);
		EXPECT_EQ(parts.strayBytes(), 0U);
	}
	EXPECT_GT(splits, 5U);
}

INSTANTIATE_TEST_SUITE_P(Methods, PdpPool,
			 testing::Combine(testing::Values(Precision::Int8, Precision::Int16,
							  Precision::Fp16),
					  testing::Values(PoolingMethod::Average,
							  PoolingMethod::Max, PoolingMethod::Min)));

TEST(PdpAverage, HalvesAreRoundedAwayFromZeroTwice)
{
	PdpOp op = opOf(Precision::Int8, PoolingMethod::Average);
	op.recipWidth = 32768;

	EXPECT_EQ(poolOne(op, { 1, 2 }), 2);
	EXPECT_EQ(poolOne(op, { -1, -2 }), -2);
	/* 5 / 2 = 2.5 becomes 3, 3 / 2 = 1.5 becomes 2; at once it would be 1. */
	op.recipHeight = 32768;
	EXPECT_EQ(poolOne(op, { 2, 3 }), 2);
	EXPECT_EQ(poolOne(op, { -2, -3 }), -2);
}

namespace
{

/** \brief Lines of windows of one size beside one another, each lane of each window with a sum */
template<typename Element>
class LinesOfSums
{
public:
	/** \param sums as many as lanes can have are looked at */
	LinesOfSums(Precision precision, uint32_t size, std::vector<int32_t> sums)
		: op_(opOf(precision, PoolingMethod::Average)), sums_(std::move(sums)), lines_(size)
	{
		using Limits = std::numeric_limits<Element>;
		const size_t lanes = op_.lanes();
		const size_t windows = sums_.size() / lanes;

		sums_.resize(windows * lanes);
		op_.kernelWidth = op_.kernelHeight = op_.strideX = op_.strideY = size;
		op_.inHeight = size;
		op_.outHeight = 1;
		op_.outWidth = static_cast<uint32_t>(windows);
		op_.inWidth = op_.outWidth * size;
		for (auto &line : lines_)
			line.resize(op_.inWidth * lanes);
		for (size_t i = 0; i < sums_.size(); i++) {
			int32_t left = sums_[i];
			for (size_t n = 0; n < size_t{ size } * size; n++) {
				const int32_t element =
					std::clamp<int32_t>(left, Limits::min(), Limits::max());
				const size_t column = i / lanes * size + n % size;
				lines_[n / size][column * lanes + i % lanes] =
					static_cast<Element>(element);
				left -= element;
			}
		}
	}

	void expectArithmetic(uint32_t recipWidth, uint32_t recipHeight)
	{
		constexpr auto precision =
			sizeof(Element) == 1 ? Precision::Int8 : Precision::Int16;
		using Arith = PdpIntegerAverage<precision>;
		std::vector<Element> expected(sums_.size());

		op_.recipWidth = recipWidth;
		op_.recipHeight = recipHeight;
		const Arith arith(op_);
		std::ranges::transform(sums_, expected.begin(), [&](int32_t sum) {
			return arith.finish(static_cast<typename Arith::Number>(sum), 0);
		});
		forEachTarget([&] {
			const auto pooler = PdpPooler::create(op_, pdpParts(op_).front());
			PooledLine<Element> line;
			for (const auto &in : lines_)
				pooler->push(std::as_bytes(std::span(in)), line);
			ASSERT_EQ(line.elements, expected) << recipWidth << ", " << recipHeight;
		});
	}

private:
	PdpOp op_;
	std::vector<int32_t> sums_;
	std::vector<std::vector<Element>> lines_;
};

std::vector<int32_t> numbersBetween(int32_t smallest, int32_t largest)
{
	std::vector<int32_t> numbers(largest - smallest + 1);

	std::iota(numbers.begin(), numbers.end(), smallest);
	return numbers;
}

} /* namespace */

/* Windows of 64 elements have all sums that there are, those of 9 and 4 what is usual. */
TEST(PdpAverage, EverySumIsDividedAsTheArithmeticDoes)
{
	std::vector<uint32_t> reciprocals = { 0, 1, 2, 8192, 21845, 32768, 65535, 65536, 131071 };
	std::mt19937 random(seed);

	std::printf("seed %u\n", seed);
	for (int i = 0; i < 20; i++)
		reciprocals.push_back(static_cast<uint32_t>(pick(random, 0, 131071)));
	for (const uint32_t size : { 2, 3, 8 }) {
		const auto count = static_cast<int32_t>(size * size);
		LinesOfSums<int8_t> lines(Precision::Int8, size,
					  numbersBetween(count * INT8_MIN, count * INT8_MAX));
		lines.expectArithmetic(65536 / size, 65536 / size);
		for (size_t i = 0; i < reciprocals.size(); i++)
			lines.expectArithmetic(reciprocals[i],
					       reciprocals[(i * 7 + 3) % reciprocals.size()]);
	}
}

/* Of INT16, one of seven sums, and those that may become halves. */
TEST(PdpAverage, SumsOfInt16AreDividedAsTheArithmeticDoes)
{
	std::mt19937 random(seed);

	for (const uint32_t size : { 2, 3 }) {
		const auto count = static_cast<int32_t>(size * size);
		auto sums = numbersBetween(count * INT16_MIN, count * INT16_MAX);
		std::erase_if(sums, [](int32_t sum) { return sum % 7 && sum % (1 << 14); });
		LinesOfSums<int16_t> lines(Precision::Int16, size, std::move(sums));
		const auto most = static_cast<int32_t>(65536 / size);
		lines.expectArithmetic(65536 / size, 65536 / size);
		for (uint32_t bit = 0; bit < 10; bit++)
			lines.expectArithmetic(static_cast<uint32_t>(pick(random, 1, most)) &
						       -(1U << bit),
					       static_cast<uint32_t>(pick(random, 1, most)));
	}
}

TEST(PdpAverage, PaddingValuesByRowAndByWindow)
{
	PdpOp op = opOf(Precision::Int16, PoolingMethod::Average);
	op.padValue = { 0, 1, 20, 300, 4000, 0, 0, 0 };
	op.padLeft = 1;
	op.padRight = 1;
	EXPECT_EQ(poolOne(op, { 5 }), 5 + 20);

	/* Two lines padded at the bottom: entry 2 for each of the three columns. */
	op.padBottom = 2;
	EXPECT_EQ(poolOne(op, { 5 }), 5 + 20 + 3 * 20);
}

TEST(PdpAverage, AccumulatorsWrap)
{
	PdpOp op = opOf(Precision::Int8, PoolingMethod::Average);
	op.padLeft = 1;
	op.padValue[1] = 1024; /* a row has 11 bits */
	op.recipWidth = 4096;
	EXPECT_EQ(poolOne(op, { 16 }), (16 - 1024) / 16);

	op = opOf(Precision::Int8, PoolingMethod::Average);
	op.padBottom = 1;
	op.padValue[1] = 0x2000; /* a window has 14 bits */
	op.recipWidth = 65536 / 128;
	EXPECT_EQ(poolOne(op, { 0 }), -64);

	/* 22 bits: 8 * 32767 + 8 * 262143 is 2^22 - 1835024. */
	op = opOf(Precision::Int16, PoolingMethod::Average);
	op.padBottom = 7;
	op.padValue[7] = 0x3ffff;
	op.recipWidth = 65536 / 64;
	EXPECT_EQ(poolOne(op, std::vector<int32_t>(8, 32767)), -28672);
}

TEST(PdpFloat, InfinityIsANumberForAverages)
{
	const PdpOp op = opOf(Precision::Fp16, PoolingMethod::Average);

	/* It becomes the largest FP17, which leaves as the largest FP16. */
	EXPECT_EQ(poolOne(op, { inf, one }), 0x7bff);
	EXPECT_EQ(poolOne(op, { inf | 0x8000, one }), 0xfbff);
	EXPECT_EQ(poolOne(op, { inf, inf | 0x8000 }) & 0x7fff, 0);
}

TEST(PdpFloat, InfinityStaysForExtremes)
{
	EXPECT_EQ(poolOne(opOf(Precision::Fp16, PoolingMethod::Max), { one, inf, 0 }), inf);
	EXPECT_EQ(poolOne(opOf(Precision::Fp16, PoolingMethod::Min), { one, inf, 0 }), 0);
	EXPECT_EQ(poolOne(opOf(Precision::Fp16, PoolingMethod::Min), { one, inf | 0x8000 }),
		  inf | 0x8000);
}

TEST(PdpFloat, NanWinsTheLeftOneInARowTheLowerOneOfRows)
{
	for (const PoolingMethod method :
	     { PoolingMethod::Average, PoolingMethod::Max, PoolingMethod::Min }) {
		const PdpOp op = opOf(Precision::Fp16, method);
		EXPECT_EQ(poolOne(op, { one, nan1, nan2, minusOne }), nan1);
		EXPECT_EQ(poolOne(op, { nan2, inf, nan1 }), nan2);
		EXPECT_EQ(poolOne(op, { nan1, one, nan2, one }, 2), nan2);
		EXPECT_EQ(poolOne(op, { nan1, one, one, one }, 2), nan1);
	}
}

/* As of all sums of FP17, which has that of the operand in front. */
TEST(PdpFloat, ZeroHasTheSignOfTheLastRow)
{
	constexpr int32_t minusZero = 0x8000, two = 0x4000;
	PdpOp op = opOf(Precision::Fp16, PoolingMethod::Average);

	forEachTarget([&] {
		EXPECT_EQ(poolOne(op, { one, minusOne }), 0);
		EXPECT_EQ(poolOne(op, { minusOne, one }), minusZero);
		EXPECT_EQ(poolOne(op, { minusZero, 0 }), minusZero);
		EXPECT_EQ(poolOne(op, { 0, minusZero }), 0);
		EXPECT_EQ(poolOne(op, { minusOne, one, 0 }), minusZero);
		EXPECT_EQ(poolOne(op, { one, minusOne }, 2), minusZero);
		EXPECT_EQ(poolOne(op, { minusOne, one }, 2), 0);
		EXPECT_EQ(poolOne(op, { minusOne, one, 0, 0 }, 2), 0);
		EXPECT_EQ(poolOne(op, { 0, 0, minusOne, one }, 2), minusZero);
	});
	/* Of rows that padding makes negative as well. */
	op.padLeft = 1;
	op.padValue[1] = static_cast<int32_t>(fp17Bits(-1.5));
	forEachTarget([&] {
		EXPECT_EQ(poolOne(op, { one, two }, 2), 0);
		EXPECT_EQ(poolOne(op, { two, one }, 2), minusZero);
	});
}

/* Every number beside those that differ from it in a bit, and beside the extremes. */
TEST(PdpFloat, TheExtremeIsThatOfTheArithmetic)
{
	using MaxOf = PdpFloatExtreme<PoolingMethod::Max>;
	using MinOf = PdpFloatExtreme<PoolingMethod::Min>;
	const MaxOf largest{ PdpOp() };
	const MinOf smallest{ PdpOp() };

	for (uint32_t a = 0; a < 0x10000; a++) {
		for (uint32_t n = 0; n < 20; n++) {
			const uint32_t b = n < 16 ? a ^ 1U << n : (n & 1) << 15 | (n & 2) * 0x3e00;
			const auto x = static_cast<int32_t>(a);
			const auto y = static_cast<int32_t>(b);
			const auto max = largest.addInRow(largest.load(x), largest.load(y));
			const auto min = smallest.addInRow(smallest.load(x), smallest.load(y));
			ASSERT_EQ(static_cast<uint32_t>(largest.finish(max, 0)),
				  arith::maximum<arith::Fp16>(a, b))
				<< a << ' ' << b;
			ASSERT_EQ(static_cast<uint32_t>(smallest.finish(min, 0)),
				  arith::minimum<arith::Fp16>(a, b))
				<< a << ' ' << b;
		}
	}
}

TEST(PdpFloat, NansCanBeCleared)
{
	PdpOp op = opOf(Precision::Fp16, PoolingMethod::Max);
	op.nanToZero = true;

	EXPECT_EQ(poolOne(op, { nan1, minusOne }), 0);
	EXPECT_EQ(poolOne(op, { nan1, one }), one);
	/* In integers there is no NaN. */
	op = opOf(Precision::Int16, PoolingMethod::Max);
	op.nanToZero = true;
	EXPECT_EQ(poolOne(op, { nan1, 5 }), nan1);
}

TEST(PdpFloat, NansOfTheOutputAreCountedInAllLanes)
{
	PdpOp op = opOf(Precision::Fp16, PoolingMethod::Max);
	op.inWidth = op.outWidth = 4;
	op.channels = 5;
	op.source = { RamType::Cv, PdpMemory::cvsramBase, 128, 128 };
	op.destination = { RamType::Cv, PdpMemory::cvsramBase + PdpMemory::outputOffset, 128, 128 };
	PdpMemory memory(op);
	Cube in(4, 1, 1, 16);
	in.at(0, 0, 1, 2) = nan1;
	in.at(0, 0, 3, 4) = nan2;
	in.at(0, 0, 3, 15) = nan2; /* beyond the last channel */
	in.at(0, 0, 0, 0) = inf;
	memory.storeInput(in);

	const OperationResult result = runPdp(op, memory.port());
	EXPECT_EQ(counter(result, NVDLA_PDP_D_NAN_OUTPUT_NUM), 3U);
	/* The hardware does not count these. */
	EXPECT_EQ(counter(result, NVDLA_PDP_D_NAN_INPUT_NUM), 0U);
	EXPECT_EQ(counter(result, NVDLA_PDP_D_INF_INPUT_NUM), 0U);
}

TEST(PdpRun, CountsTrafficAndCycles)
{
	PdpOp op = opOf(Precision::Int8, PoolingMethod::Max);
	op.inWidth = 12;
	op.inHeight = 4;
	op.channels = 64;
	op.kernelWidth = op.kernelHeight = op.strideX = op.strideY = 2;
	op.outWidth = 6;
	op.outHeight = 2;
	op.source = { RamType::Mc, PdpMemory::dramBase, 384, 1536 };
	op.destination = { RamType::Cv, PdpMemory::cvsramBase + PdpMemory::outputOffset, 192, 384 };
	PdpMemory memory(op);

	const OperationResult result = runPdp(op, memory.port());
	EXPECT_EQ(memory.port().traffic(RamType::Mc).readBytes, 2U * 4 * 12 * 32);
	EXPECT_EQ(memory.port().traffic(RamType::Cv).writeBytes, 2U * 2 * 6 * 32);
	EXPECT_EQ(timeOperation(result.work, {}).cycles, 70U + 4 * 2 * 4 * 12);
}

TEST(PdpRun, AbandonedOperationWritesNothingMore)
{
	const PdpOp op = [] {
		std::mt19937 random(seed);
		return randomOp(Precision::Int8, PoolingMethod::Max, random);
	}();
	RamMemory dram(PdpMemory::dramBase, PdpMemory::size);
	RamMemory cvsram(PdpMemory::cvsramBase, PdpMemory::size);
	const std::atomic<bool> cancel = true;
	MemoryPort port(dram, cvsram, &cancel);

	runPdp(op, port);
	EXPECT_EQ(port.traffic(RamType::Mc).writeBytes + port.traffic(RamType::Cv).writeBytes, 0U);
}
