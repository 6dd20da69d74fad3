/* SPDX-License-Identifier: MIT */
#include <type_traits>

#include <gtest/gtest.h>

#include "conv/cdma.h"
#include "conv/tile_operands.h"
#include "conv_support.h"
#include "each_target.h"

namespace nvdla::sim::test
{

namespace
{

/** A layer with \a kernels of 2x3xC whose elements are zero with odds of \a zeroes in 10 */
Layer sparseLayer(Random &random, Precision precision, uint32_t channels, uint32_t kernels,
		  int zeroes)
{
	Layer layer;

	layer.precision = precision;
	layer.inputs.assign(1, Cube(channels, 4, 5));
	layer.kernels.assign(kernels, Cube(channels, 2, 3));
	random.fill(layer.inputs[0], precision);
	for (Cube &kernel : layer.kernels) {
		random.fill(kernel, precision);
		for (int16_t &element : kernel.v)
			element = random(1, 10) <= zeroes ? int16_t{ 0 } : element;
	}
	return layer;
}

class CompressedTest : public ::testing::TestWithParam<std::tuple<Precision, int>>
{
};

TEST_P(CompressedTest, GivesWhatTheFullWeightsGive)
{
	const auto [precision, zeroes] = GetParam();
	Random random(static_cast<uint32_t>(100 + zeroes));
	Bench bench;
	/* Neither groups nor the mask end at a byte. */
	const ConvOp op = bench.direct(sparseLayer(random, precision, 67, 69, zeroes));

	ASSERT_EQ(bench.run(op).guestError, "");
	const std::vector<int32_t> full = bench.out->values();
	const ConvOp sparse = bench.compressed(op);
	EXPECT_LE(sparse.weights.bytes, op.weights.bytes);
	ASSERT_EQ(bench.run(sparse).guestError, "");
	EXPECT_EQ(bench.out->values(), full);
}

INSTANTIATE_TEST_SUITE_P(Densities, CompressedTest,
			 ::testing::Combine(::testing::Values(Precision::Int8, Precision::Int16,
							      Precision::Fp16),
					    ::testing::Values(0, 5, 9, 10)));

/** 128 INT8 kernels, none of whose elements is zero, of 99 entries a group; one bank of 256 */
class GroupSizesTest : public ::testing::TestWithParam<unsigned int>
{
protected:
	static constexpr uint32_t kGroup = 99 * 128;

	GroupSizesTest()
	{
		Random random(9);
		Layer layer = sparseLayer(random, Precision::Int8, 66, 128, 0);

		for (Cube &kernel : layer.kernels)
			std::ranges::replace(kernel.v, int16_t{ 0 }, int16_t{ 1 });
		op = bench.compressed(bench.direct(layer));
		op.weightBanks = 1;
		EXPECT_EQ(op.weights.bytes, 4 * kGroup);
		EXPECT_EQ(runWith({ kGroup, kGroup, kGroup, kGroup }), "");
		expected = bench.out->values();
	}

	/* The guest error of an operation with these sizes, which hangs if it has one. */
	std::string runWith(const std::vector<uint32_t> &sizes)
	{
		Workers workers(GetParam());
		ConvEngine engine(workers);

		bench.storeGroupSizes(sizes);
		const OperationResult result = bench.run(op, engine);
		EXPECT_EQ(result.hangs, !result.guestError.empty());
		EXPECT_EQ(bench.out->columns() == 0, result.hangs);
		return result.guestError;
	}

	Bench bench;
	ConvOp op;
	std::vector<int32_t> expected;
};

/* CDMA compares the bytes that it has fetched with a sum of 32 bits: never more than there are. */
TEST_P(GroupSizesTest, MoreThanAllWeightsNeverArrive)
{
	EXPECT_NE(runWith({ 4 * kGroup + 1, 0, 0, 0 }), "");
	EXPECT_NE(runWith({ kGroup, kGroup, 2 * kGroup + 1, 0 }), "");
	EXPECT_EQ(runWith({ kGroup, kGroup, 2 * kGroup, 0 }), "");
	EXPECT_EQ(bench.out->values(), expected);
}

/* CSC releases groups that it has used; CDMA fetches bursts of two entries into what is free. */
TEST_P(GroupSizesTest, MoreThanThereIsRoomForNeverArrives)
{
	EXPECT_EQ(runWith({ 256 * 128, 0, 0, 0 }), "");
	EXPECT_NE(runWith({ 256 * 128 + 1, 0, 0, 0 }), "");
	EXPECT_EQ(runWith({ kGroup, 255 * 128, 0, 0 }), "");
	EXPECT_NE(runWith({ kGroup, 255 * 128 + 1, 0, 0 }), "");
}

TEST_P(GroupSizesTest, LessThanTheMaskSaysIsNotWaitedFor)
{
	for (const std::vector<uint32_t> &sizes :
	     { std::vector<uint32_t>{ 0, 0, 0, 0 }, { kGroup, 1, 1, 1 }, { 2, ~1U, 0, 0 } }) {
		EXPECT_EQ(runWith(sizes), "");
		EXPECT_EQ(bench.out->values(), expected);
	}
}

/* Instead of the last sum, CDMA waits for D_WEIGHT_BYTES. */
TEST_P(GroupSizesTest, TheLastIsNotLookedAt)
{
	EXPECT_EQ(runWith({ kGroup, kGroup, kGroup, ~0U }), "");
	EXPECT_EQ(bench.out->values(), expected);
	op.weights.bytes += 256 * 128;
	EXPECT_NE(runWith({ kGroup, kGroup, kGroup, kGroup }), "");
}

INSTANTIATE_TEST_SUITE_P(Threads, GroupSizesTest, ::testing::Values(1, 3));

/* Each mask behind each other one, once. */
TEST(SparseWeights, ElementsAreWhereTheMaskHasOnes)
{
	std::vector<std::byte> masks;

	for (unsigned first = 0; first < 256; first++)
		for (unsigned second = 0; second < 256; second++)
			masks.insert(masks.end(), { static_cast<std::byte>(first),
						    static_cast<std::byte>(second) });
	masks.push_back(std::byte{ 0x5a }); /* an odd number of them */
	for (const size_t element : { 1, 2 }) {
		std::vector<std::byte> expected;
		std::vector<std::byte> packed;
		for (size_t i = 0; i < 8 * masks.size(); i++) {
			const bool one = std::to_integer<unsigned>(masks[i / 8]) >> i % 8 & 1;
			for (size_t byte = 0; byte < element; byte++) {
				const auto value = static_cast<std::byte>(i * element + byte);
				expected.push_back(one ? value : std::byte{ 0 });
				if (one)
					packed.push_back(value);
			}
		}
		ControlData copy;
		copy.copy(masks);
		EXPECT_EQ(countOnes(copy.view()) * element, packed.size());
		packed.resize(packed.size() + kSparseSlack);
		nvdla::test::forEachTarget([&] {
			std::vector<std::byte> out(expected.size());
			expandSparse(copy.view(), packed.data(), element, out.data());
			EXPECT_TRUE(out == expected);
		});
	}
}

TEST(WeightReaderTest, ElementsComeInMemoryOrderGroupByGroup)
{
	Random random(7);
	Bench bench;
	const ConvOp op = bench.direct(sparseLayer(random, Precision::Int16, 65, 20, 3));
	MemoryPort port(bench.dram, bench.cvsram);
	Cbuf cbuf;
	cbuf.begin(op);
	WeightReader reader(op, port, cbuf);
	size_t at = 0;

	ASSERT_EQ(reader.check(), "");
	for (uint32_t kernels : { 16U, 4U }) {
		const WeightGroup group = reader.next();
		EXPECT_EQ(group.kernels, kernels);
		ASSERT_EQ(group.bytes.size(), 65U * 6 * kernels * 2);
		for (std::byte byte : group.bytes) {
			ASSERT_EQ(std::to_integer<uint8_t>(byte), bench.packedWeights[at])
				<< "byte " << at;
			at++;
		}
	}
}

/*
 * A guest, or BDMA, may write to the mask at any time; how many elements there are is said once:
 * views of memory are no masks.
 */
static_assert(!std::is_constructible_v<ControlView, std::span<const std::byte>>);

TEST(WeightReaderTest, RefusesWhatWouldNeverArrive)
{
	Random random(8);
	Bench bench;
	const Layer layer = sparseLayer(random, Precision::Int8, 64, 33, 5);
	const ConvOp good = bench.direct(layer);
	MemoryPort port(bench.dram, bench.cvsram);
	ConvOp op = good;
	Cbuf cbuf;

	cbuf.begin(op);

	op.weights.bytes -= 128;
	EXPECT_NE(WeightReader(op, port, cbuf).check(), "");
	op = good;
	op.weights.bytes += 8 * kBankBytes;
	EXPECT_NE(WeightReader(op, port, cbuf).check(), "");
	op = good;
	op.windows.kernel.channels = 8192;
	op.weights.bytes = 0xffffff80;
	EXPECT_NE(WeightReader(op, port, cbuf).check(), "");
	op = bench.compressed(good);
	EXPECT_EQ(WeightReader(op, port, cbuf).check(), "");
	op.weights.maskBytes -= 128;
	EXPECT_NE(WeightReader(op, port, cbuf).check(), "");
}

/** A memory that has to be copied from */
class WithoutView : public Memory
{
public:
	explicit WithoutView(Memory &memory) : memory_(memory) {}

	bool read(uint64_t address, std::span<std::byte> out) override
	{
		return memory_.read(address, out);
	}
	bool write(uint64_t address, std::span<const std::byte> data) override
	{
		return memory_.write(address, data);
	}

private:
	Memory &memory_;
};

/** The buffer, and what CSC was given out of it, operation by operation */
struct Buffered {
	Cbuf cbuf;
	std::vector<std::byte> given;
	uint64_t readBytes = 0;
	uint32_t nan = 0;

	void run(const ConvOp &op, Memory &dram, Memory &cvsram)
	{
		MemoryPort port(dram, cvsram);

		cbuf.begin(op);
		WeightReader reader(op, port, cbuf);
		for (uint32_t i = 0; i < op.surfaces(); i++) {
			const std::span<const std::byte> bytes = reader.next().bytes;
			given.insert(given.end(), bytes.begin(), bytes.end());
		}
		reader.fill();
		reader.settle();
		cbuf.end(op);
		readBytes += port.traffic(RamType::Mc).readBytes;
		nan += reader.special().nan;
	}
};

/* Weights that are taken out of memory leave the same bytes behind as those that are copied. */
TEST(WeightReaderTest, BuffersTheSameWithAViewOfMemory)
{
	for (uint32_t seed = 1; seed <= 30; seed++) {
		Random random(seed);
		Buffered viewed;
		Buffered copied;

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		for (int i = 0; i < 4; i++) {
			constexpr Precision precisions[] = { Precision::Int8, Precision::Int16,
							     Precision::Fp16 };
			Bench bench;
			ConvOp op = bench.direct(sparseLayer(random, precisions[random(0, 2)],
							     static_cast<uint32_t>(random(1, 300)),
							     static_cast<uint32_t>(random(1, 120)),
							     random(0, 9)));
			/* Weights in no group or all of them in one, once around the bank or more.
			 */
			op.dataBanks = 8;
			op.weightBanks = static_cast<uint32_t>(random(4, 5));
			op.fetch.flushNan = random(0, 1);
			op.keepWeights = op.weights.bytes <= op.weightBanks * kBankBytes &&
					 random(0, 3) == 0;
			if (random(0, 3) == 0)
				op = bench.compressed(op);
			WithoutView memory(bench.dram);
			viewed.run(op, bench.dram, bench.cvsram);
			copied.run(op, memory, bench.cvsram);
			ASSERT_TRUE(viewed.given == copied.given) << "operation " << i;
			const auto left = viewed.cbuf.from(viewed.cbuf.weights(), 0);
			ASSERT_TRUE(std::ranges::equal(left,
						       copied.cbuf.from(copied.cbuf.weights(), 0)))
				<< "operation " << i;
			ASSERT_EQ(viewed.readBytes, copied.readBytes);
			ASSERT_EQ(viewed.nan, copied.nan);
		}
	}
}

} /* namespace */

} /* namespace nvdla::sim::test */
