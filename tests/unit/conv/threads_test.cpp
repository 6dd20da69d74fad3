/* SPDX-License-Identifier: MIT */
/*
 * A convolution, SDP and PDP behind it, on any number of threads.
 */
#include <gtest/gtest.h>

#include "conv_support.h"
#include "core/engines.h"
#include "left_behind.h"
#include "pdp/pdp.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim::test
{

namespace
{

constexpr uint64_t kOut = 0x100000, kBias = 0x1c0000;
constexpr uint64_t kEnds = Bench::kMemory - 0x5000, kPoolingEnds = Bench::kMemory - 0x3000;
constexpr uint64_t kWithinEnds = Bench::kMemory - 0x2000;

/** \brief What is behind the convolution */
struct Behind {
	const char *what;
	bool perElement = false; /* SDP adds what is there already */
	bool toPdp = false;
	uint64_t out = kOut;
	uint64_t bias = kBias;
	uint64_t data = 0;	/* 0: where they are */
	bool dataAtEnd = false; /* of memory */

	bool misses() const
	{
		return out == kEnds || out == kPoolingEnds || out == kWithinEnds ||
		       bias == Bench::kMemory || data != 0;
	}
};

class Chain
{
public:
	Chain(const Layer &layer, const Behind &behind)
		: behind_(behind), conv_(bench_.direct(layer))
	{
		const uint32_t lineStride = layer.outWidth() * atomBytes;

		if (behind.data != 0)
			conv_.fetch.address = behind.data;
		if (behind.dataAtEnd)
			moveData(nvFull.surfaces(layer.precision, layer.inputs[0].channels));

		sdp_.width = layer.outWidth();
		sdp_.height = layer.outHeight();
		sdp_.channels = static_cast<uint32_t>(layer.kernels.size());
		sdp_.flying = true;
		sdp_.in = sdp_.proc = sdp_.out = layer.precision;
		sdp_.destination = { .address = behind.out,
				     .lineStride = lineStride,
				     .surfaceStride = lineStride * sdp_.height };
		sdp_.x1.bypass = sdp_.x1.alu.bypass = false;
		sdp_.x1.algorithm = SdpAlu::Sum;
		sdp_.x1.alu.fromMemory = true;
		sdp_.x1.read = { .enabled = true, .alu = true, .twoBytes = true };
		sdp_.x1.read.cube.address = behind.bias;
		if (behind.perElement) {
			sdp_.x2 = sdp_.x1;
			sdp_.x2.read.perElement = true;
			sdp_.x2.read.twoBytes = layer.precision != Precision::Int8;
			sdp_.x2.read.cube = sdp_.destination;
		}
		sdp_.converter = { .offset = 3, .scale = 77, .shift = 12 };
		sdp_.countsSaturation = sdp_.countsOutputNan = true;
		sdp_.toPdp = behind.toPdp;

		pdp_.precision = layer.precision;
		pdp_.method = PoolingMethod::Max;
		pdp_.flying = true;
		pdp_.inWidth = sdp_.width;
		pdp_.inHeight = sdp_.height;
		pdp_.channels = sdp_.channels;
		pdp_.kernelWidth = pdp_.kernelHeight = pdp_.strideX = pdp_.strideY = 2;
		pdp_.outWidth = pdp_.inWidth / 2;
		pdp_.outHeight = pdp_.inHeight / 2;
		pdp_.destination = { RamType::Mc, behind.out, lineStride,
				     lineStride * pdp_.outHeight };

		std::vector<std::byte> bytes(kBias - kOut + 0x1000);
		for (size_t i = 0; i < bytes.size(); i++)
			bytes[i] = static_cast<std::byte>(i * 7 % 61);
		bench_.dram.write(kOut, bytes);
		bench_.dram.read(0, std::as_writable_bytes(std::span(before_)));
	}

	LeftBehind run(Workers &workers, const ConvOptions &options)
	{
		bench_.dram.write(0, std::as_bytes(std::span(before_)));

		ConvEngine engine(workers, options);
		MemoryPort port(bench_.dram, bench_.cvsram);
		MemoryPort results = port.fork();
		PdpStream pdp(pdp_, results);
		SdpStream sdp(sdp_, {}, results, behind_.toPdp ? &pdp : nullptr);
		OperationResult result = engine.run(conv_, port, sdp);
		merge(result, sdp.finish());
		if (behind_.toPdp)
			merge(result, pdp.finish());
		port.join(results);

		std::string memory(Bench::kMemory, 0);
		bench_.dram.read(0, std::as_writable_bytes(std::span(memory)));
		EXPECT_GT(port.traffic(RamType::Mc).writeBytes, 0U);
		EXPECT_FALSE(result.hangs);
		return { result, port, std::move(memory) };
	}

private:
	void moveData(uint32_t surfaces)
	{
		DataFetch &fetch = conv_.fetch;
		std::vector<std::byte> bytes((surfaces - 1) * fetch.surfaceStride +
					     (fetch.size.height - 1) * fetch.lineStride +
					     fetch.size.width * atomBytes);

		bench_.dram.read(fetch.address, bytes);
		fetch.address = Bench::kMemory - bytes.size();
		bench_.dram.write(fetch.address, bytes);
	}

	const Behind behind_;
	Bench bench_;
	std::string before_ = std::string(Bench::kMemory, 0);
	ConvOp conv_;
	SdpOp sdp_;
	PdpOp pdp_;
};

struct Some {
	Precision precision;
	bool manyKernels;
	Fp16Arithmetic fp16 = Fp16Arithmetic::Exact;
	uint32_t kernelSize = 3;
};

/* Enough products for threads to be worth it: few groups of many lines, and many of few. */
Layer someLayer(const Some &some, Random &random)
{
	const Precision precision = some.precision;
	const uint32_t pad = some.kernelSize / 2;
	/* Without their neighbours, more channels. */
	const uint32_t channels = some.kernelSize == 1 ? 168 : 40;
	Layer layer;

	layer.precision = precision;
	layer.padLeft = layer.padRight = layer.padTop = layer.padBottom = pad;
	layer.inputs.assign(1, some.manyKernels ? Cube(channels, 7, 6) : Cube(channels, 30, 21));
	layer.kernels.assign(some.manyKernels ? 1000 : 70,
			     Cube(channels, some.kernelSize, some.kernelSize));
	for (Cube &cube : layer.inputs)
		random.fill(cube, precision);
	for (Cube &cube : layer.kernels)
		random.fill(cube, precision);
	return layer;
}

const Behind behinds[] = {
	{ "memory" },
	{ .what = "memory, of elements that are there", .perElement = true },
	{ .what = "PDP", .toPdp = true },
	{ .what = "memory that ends", .out = kEnds },
	{ .what = "memory that ends within a surface", .out = kWithinEnds },
	{ .what = "memory that ends, and no operands", .out = kEnds, .bias = Bench::kMemory },
	{ .what = "PDP, whose memory ends", .toPdp = true, .out = kPoolingEnds },
	{ .what = "PDP, whose memory ends, and no operands",
	  .toPdp = true,
	  .out = kPoolingEnds,
	  .bias = Bench::kMemory },
	{ .what = "memory, of data that end", .data = Bench::kMemory - 0x800 },
	{ .what = "PDP, onto operands", .toPdp = true, .bias = kOut + 0x100 },
	{ .what = "memory, of data at its end", .dataAtEnd = true },
	{ .what = "memory, onto data", .out = Bench::kData },
	{ .what = "PDP, onto data", .toPdp = true, .out = Bench::kData },
	{ .what = "memory, onto weights", .out = Bench::kWeights },
	{ .what = "PDP, onto weights", .toPdp = true, .out = Bench::kWeights },
};

const Some somes[] = {
	{ Precision::Int8, false },
	{ Precision::Int8, true },
	{ Precision::Int16, false },
	{ Precision::Int16, true },
	{ .precision = Precision::Int8, .manyKernels = false, .kernelSize = 1 },
	{ .precision = Precision::Int8, .manyKernels = true, .kernelSize = 1 },
	{ .precision = Precision::Int16, .manyKernels = false, .kernelSize = 1 },
	{ Precision::Fp16, false },
	{ Precision::Fp16, false, Fp16Arithmetic::Fast },
	{ Precision::Fp16, true, Fp16Arithmetic::Fast },
};

} /* namespace */

TEST(Threads, OperationsAreTheSameOnAny)
{
	Random random(17);

	for (const Some &some : somes) {
		const Layer layer = someLayer(some, random);
		for (const Behind &behind : behinds) {
			Chain chain(layer, behind);
			SCOPED_TRACE(testing::Message() << behind.what << ", precision "
							<< static_cast<int>(some.precision)
							<< ", kernels of " << some.kernelSize);
			const auto run = [&](ReleasedEntries released) {
				return expectSameOnAnyThreads([&](Workers &workers) {
					return chain.run(workers, { some.fp16, released });
				});
			};
			const LeftBehind left = run(ReleasedEntries::Stay);
			EXPECT_EQ(left.faulted, behind.misses());
			EXPECT_TRUE(run(ReleasedEntries::MayChange) == left);
		}
	}
}

} /* namespace nvdla::sim::test */
