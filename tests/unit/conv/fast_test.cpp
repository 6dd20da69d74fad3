/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string_view>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "conv/cdma.h"
#include "conv/channel_sums.h"
#include "conv/cmac.h"
#include "conv/conv_compute.h"
#include "conv/conv_tile.h"
#include "conv/dense_sums.h"
#include "conv/fp16_cells.h"
#include "conv/tile_operands.h"
#include "conv/tile_plan.h"
#include "conv_support.h"
#include "each_target.h"
#include "kernel_reference.h"

namespace nvdla::sim::test
{

namespace
{

using nvdla::test::forEachTarget;
using nvdla::test::forEachVectorTarget;

using Compute = std::function<ConvCounters(const ConvOp &, const DataView &, WeightSource &,
					   StreamSink &, const MemoryPort &)>;

struct Result {
	std::vector<int32_t> values;
	uint32_t saturated;
	uint32_t nan; /* of FP16 weights */
	uint32_t inf;
	size_t left; /* a hash of the weight banks */

	bool operator==(const Result &) const = default;
};

/** A fast way with that many threads, as Compute */
auto onThreads(ConvCounters (&function)(const ConvOp &, const DataView &, WeightSource &,
					StreamSink &, const MemoryPort &, Workers &),
	       Workers &workers)
{
	return [&](const ConvOp &op, const DataView &data, WeightSource &weights, StreamSink &sink,
		   const MemoryPort &memory) {
		return function(op, data, weights, sink, memory, workers);
	};
}

/** \brief Where a cube is while it is worked on */
enum class Place : uint8_t { Buffer, Memory };

/**
 * \param used entries of the data banks that were fetched and released before
 * \param place Memory is for cubes that can stay there
 */
Result compute(Bench &bench, const ConvOp &op, const Compute &function, uint32_t used = 0,
	       Place place = Place::Buffer)
{
	MemoryPort memory(bench.dram, bench.cvsram);
	Cbuf cbuf;
	Collector out(op);
	Workers fetchers;

	cbuf.begin(op);
	cbuf.data().fetched(used);
	cbuf.data().released(used);
	WeightReader weights(op, memory, cbuf);
	const auto data = DataFetcher::create(op, memory, cbuf);
	EXPECT_EQ(data->check(), "");
	const auto cube = place == Place::Memory ? data->leave(out) : std::optional<CubeInMemory>{};
	if (place == Place::Memory) {
		EXPECT_EQ(cube.has_value(), op.mode != ConvMode::Winograd && op.batches == 1 &&
						    op.precision != Precision::Fp16);
	}
	if (!cube)
		data->fill(fetchers);
	EXPECT_TRUE(data->done());
	const DataView view(op, cbuf, cube ? &*cube : nullptr);
	const ConvCounters counters = function(op, view, weights, out, memory);
	EXPECT_EQ(out.columns(), uint64_t{ op.batches } * op.surfaces() * op.windows.out.height *
					 op.windows.out.width);
	weights.fill();
	weights.settle();
	const auto banks = cbuf.from(cbuf.weights(), 0);
	const std::string_view left(reinterpret_cast<const char *>(banks.data()), banks.size());
	return { out.values(), counters.saturated, weights.special().nan, weights.special().inf,
		 std::hash<std::string_view>()(left) };
}

void expectSame(Bench &bench, const ConvOp &op, uint32_t used = 0)
{
	const Result reference = compute(bench, op, computeConv, used);
	Workers workers;

	forEachTileKind([&] {
		for (const Place place : { Place::Buffer, Place::Memory }) {
			if (!fastConvAccepts(op))
				break;
			SCOPED_TRACE(place == Place::Memory ? "in memory" : "in the buffer");
			EXPECT_EQ(compute(bench, op, onThreads(computeConvFast, workers), used,
					  place),
				  reference);
		}
		if (fp16ConvAccepts(op)) {
			EXPECT_EQ(compute(bench, op, onThreads(computeConvFp16, workers), used),
				  reference);
		}
	});
}

/** Any layer with a cube of at most that many lines and columns */
Layer anyLayer(Random &random, Precision precision, int mostLines, int mostColumns)
{
	Layer layer;

	layer.precision = precision;
	const auto channels = static_cast<uint32_t>(random(1, 140));
	const auto s = static_cast<uint32_t>(random(1, 5));
	const auto r = static_cast<uint32_t>(random(1, 5));
	layer.strideX = static_cast<uint32_t>(random(1, 4));
	layer.strideY = static_cast<uint32_t>(random(1, 4));
	layer.dilationX = static_cast<uint32_t>(std::max(1, random(-2, 3)));
	layer.dilationY = static_cast<uint32_t>(std::max(1, random(-2, 3)));
	layer.padLeft = static_cast<uint32_t>(random(0, 5));
	layer.padTop = static_cast<uint32_t>(random(0, 5));
	layer.padRight = static_cast<uint32_t>(random(0, 3)) + s * layer.dilationX;
	layer.padBottom = static_cast<uint32_t>(random(0, 3)) + r * layer.dilationY;
	layer.padValue = static_cast<int16_t>(random(-128, 127));
	layer.inputs.assign(static_cast<size_t>(std::max(1, random(-3, 4))),
			    Cube(channels, static_cast<uint32_t>(random(1, mostLines)),
				 static_cast<uint32_t>(random(1, mostColumns))));
	layer.kernels.assign(static_cast<size_t>(random(1, 70)), Cube(channels, r, s));
	for (Cube &cube : layer.inputs)
		random.fill(cube, precision);
	for (Cube &cube : layer.kernels)
		random.fill(cube, precision);
	return layer;
}

class FastTest : public ::testing::TestWithParam<std::tuple<Precision, uint32_t>>
{
};

TEST_P(FastTest, EqualsTheReference)
{
	const auto [precision, seed] = GetParam();
	Random random(seed);
	const Layer layer = anyLayer(random, precision, 9, 20);

	Bench bench;
	ConvOp op = bench.direct(layer);
	op.clipTruncate = static_cast<uint32_t>(random(0, 3));
	expectSame(bench, op);
}

INSTANTIATE_TEST_SUITE_P(Random, FastTest,
			 ::testing::Combine(::testing::Values(Precision::Int8, Precision::Int16,
							      Precision::Fp16),
					    ::testing::Range(1U, 16U)));

/** Numbers as behind ReLU */
void makeNumbersPositive(Layer &layer)
{
	layer.padValue = std::max<int16_t>(layer.padValue, 0);
	for (Cube &cube : layer.inputs)
		for (int16_t &number : cube.v)
			number = std::max<int16_t>(number, 0);
}

/** The same with the largest products that there are of them */
void makePositive(Random &random, Layer &layer)
{
	makeNumbersPositive(layer);
	for (Cube &cube : layer.inputs)
		for (int16_t &number : cube.v)
			number = random(0, 3) ? number : INT8_MAX;
	for (Cube &kernel : layer.kernels)
		for (int16_t &number : kernel.v)
			number = random(0, 3) ? number : INT8_MIN;
}

/* How INT8 is multiplied depends on whether any is below zero. */
TEST(FastTest, Int8WithoutNumbersBelowZeroEqualsTheReference)
{
	for (uint32_t seed = 1; seed <= 40; seed++) {
		Random random(seed);
		Layer layer = anyLayer(random, Precision::Int8, 9, 20);

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		makePositive(random, layer);
		if (seed % 4 == 0)
			layer.inputs.back().v.back() = INT8_MIN;
		if (seed % 8 == 1)
			layer.padValue = INT8_MIN;
		Bench bench;
		expectSame(bench, bench.direct(layer));
	}
}

/* Few positions, many kernels. */
TEST(FastTest, FewPositionsEqualTheReference)
{
	for (uint32_t seed = 1; seed <= 30; seed++) {
		Random random(seed);
		const Layer layer = anyLayer(random, Precision::Int8, 3, 3);
		Bench bench;

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		expectSame(bench, bench.direct(layer));
	}
}

/* One output position: of a fully connected layer, or of a kernel as large as the cube. */
TEST(FastTest, OnePositionEqualsTheReference)
{
	for (uint32_t seed = 1; seed <= 40; seed++) {
		Random random(seed);
		Layer layer;
		layer.precision = seed % 2 ? Precision::Int8 : Precision::Int16;
		const auto channels = static_cast<uint32_t>(random(1, 300));
		const auto s = static_cast<uint32_t>(random(1, 3));
		const auto r = static_cast<uint32_t>(random(1, 3));

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		layer.dilationX = static_cast<uint32_t>(random(1, 2));
		layer.dilationY = static_cast<uint32_t>(random(1, 2));
		layer.inputs.assign(1, Cube(channels, (r - 1) * layer.dilationY + 1,
					    (s - 1) * layer.dilationX + 1));
		layer.kernels.assign(static_cast<size_t>(random(1, 70)), Cube(channels, r, s));
		random.fill(layer.inputs[0], layer.precision);
		for (Cube &kernel : layer.kernels)
			random.fill(kernel, layer.precision);
		if (seed % 3 == 0) /* as behind ReLU */
			for (int16_t &number : layer.inputs[0].v)
				number = std::max<int16_t>(number, 0);
		if (seed % 12 == 9) /* the largest products */
			for (int16_t &number : layer.inputs[0].v)
				number = INT8_MAX;
		if (seed % 12 == 9)
			for (int16_t &number : layer.kernels[0].v)
				number = INT8_MIN;
		if (seed % 4 == 0) /* whose products the sums of two do not hold */
			layer.inputs[0].v[0] = INT16_MIN;
		Bench bench;
		ConvOp op = bench.direct(layer);
		ASSERT_EQ(op.windows.out.width * op.windows.out.height, 1U);
		op.clipTruncate = static_cast<uint32_t>(random(0, 3));
		expectSame(bench, op);
	}
}

/* Kernels of one element of each channel. */
TEST(FastTest, ColumnsOfTheBufferEqualTheReference)
{
	for (uint32_t seed = 1; seed <= 60; seed++) {
		Random random(seed);
		Layer layer;
		layer.precision = seed % 2 ? Precision::Int8 : Precision::Int16;
		/* Up to six surfaces, the last one seldom whole. */
		const auto channels = static_cast<uint32_t>(
			random(1, layer.precision == Precision::Int8 ? 192 : 96));

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		layer.strideX = static_cast<uint32_t>(random(1, 3));
		layer.strideY = static_cast<uint32_t>(random(1, 3));
		layer.padLeft = random(0, 7) == 0;
		layer.inputs.assign(static_cast<size_t>(random(1, 2)),
				    Cube(channels, static_cast<uint32_t>(random(1, 9)),
					 static_cast<uint32_t>(random(2, 20))));
		layer.kernels.assign(static_cast<size_t>(random(1, 70)), Cube(channels, 1, 1));
		for (Cube &cube : layer.inputs)
			random.fill(cube, layer.precision);
		for (Cube &cube : layer.kernels)
			random.fill(cube, layer.precision);
		if (seed % 4 == 1)
			makePositive(random, layer);
		if (seed % 8 == 1)
			layer.inputs[0].v.back() = INT8_MIN;
		Bench bench;
		ConvOp op = bench.direct(layer);
		op.clipTruncate = static_cast<uint32_t>(random(0, 3));
		/* The buffer turns round somewhere in the cube. */
		expectSame(bench, op,
			   op.dataBanks * kBankEntries - static_cast<uint32_t>(random(0, 400)));
	}
}

/** Kernels that have weights for one channel each, as those of depthwise layers put together */
Layer channelwiseLayer(Random &random, Precision precision, bool isSmall)
{
	const auto channels =
		static_cast<uint32_t>(random(1, static_cast<int>(atomChannels(precision))));
	const auto s = static_cast<uint32_t>(random(1, 4));
	const auto r = static_cast<uint32_t>(random(2, 4));
	Layer layer;

	layer.precision = precision;
	layer.strideX = static_cast<uint32_t>(random(1, 2));
	layer.strideY = static_cast<uint32_t>(random(1, 2));
	layer.dilationX = static_cast<uint32_t>(random(1, 2));
	layer.padLeft = layer.padRight = static_cast<uint32_t>(random(0, 2));
	layer.padTop = layer.padBottom = static_cast<uint32_t>(random(0, 2));
	layer.padValue = static_cast<int16_t>(random(-128, 127));
	layer.inputs.assign(1, Cube(channels, 9, static_cast<uint32_t>(random(9, 20))));
	random.fill(layer.inputs[0], precision);
	for (int16_t &number : layer.inputs[0].v)
		number = isSmall ? number % 100 : std::max<int16_t>(number, -INT16_MAX);
	layer.kernels.assign(static_cast<size_t>(random(1, static_cast<int>(channels))),
			     Cube(channels, r, s));
	for (uint32_t k = 0; k < layer.kernels.size(); k++) {
		Cube weights(1, r, s);
		random.fill(weights, precision);
		for (uint32_t y = 0; y < r; y++)
			for (uint32_t x = 0; x < s; x++)
				layer.kernels[k].at(k, y, x) = weights.at(0, y, x);
	}
	return layer;
}

TEST(FastTest, KernelsOfOneChannelEachEqualTheReference)
{
	for (uint32_t seed = 1; seed <= 60; seed++) {
		Random random(seed);
		const Precision precision = seed % 2 ? Precision::Int8 : Precision::Int16;
		Layer layer = channelwiseLayer(random, precision, seed % 3 == 0);

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		if (seed % 10 == 0) /* whose products the sums of two do not hold */
			layer.inputs[0].v[5] = INT16_MIN;
		if (precision == Precision::Int8 && seed % 3 == 1)
			makeNumbersPositive(layer);
		if (seed % 9 == 1)
			layer.inputs[0].v.back() = INT8_MIN;
		/* One more weight, wherever it is, makes them kernels like any other. */
		if (seed % 5 == 0 && layer.kernels[0].channels > 1)
			layer.kernels.back().at(layer.kernels.size() == 1 ? 1 : 0, 1, 0) = 3;
		Bench bench;
		ConvOp op = bench.direct(layer);
		ASSERT_TRUE(TilePlan(op).mayBeChannelwise);
		op.clipTruncate = static_cast<uint32_t>(random(0, 3));
		expectSame(bench, op);
	}
}

/** Kernel k has weights for channel k of each of the atoms, some of which are zero */
Layer atomwiseLayer(Random &random)
{
	const auto atoms = static_cast<uint32_t>(random(2, 7));
	const auto s = static_cast<uint32_t>(random(1, 2));
	const auto r = static_cast<uint32_t>(random(2, 5));
	Layer layer;

	layer.precision = Precision::Int8;
	layer.inputs.assign(1, Cube(32 * atoms, r + static_cast<uint32_t>(random(0, 1)), 9));
	random.fill(layer.inputs[0], layer.precision);
	layer.padLeft = static_cast<uint32_t>(random(0, 1));
	layer.padValue = static_cast<int16_t>(random(-128, 127));
	layer.kernels.assign(static_cast<size_t>(random(1, 32)), Cube(32 * atoms, r, s));
	for (uint32_t k = 0; k < layer.kernels.size(); k++)
		for (uint32_t channel = k; channel < 32 * atoms; channel += 32)
			for (uint32_t y = 0; y < r; y++)
				for (uint32_t x = 0; x < s; x++)
					layer.kernels[k].at(channel, y, x) = static_cast<int16_t>(
						random(0, 9) ? random(-128, 127) : 0);
	return layer;
}

/* Averages of whole pictures of many channels: a line's columns are beside each other as atoms. */
TEST(FastTest, KernelsOfOneChannelOfEachAtomEqualTheReference)
{
	for (uint32_t seed = 1; seed <= 60; seed++) {
		Random random(seed);
		Layer layer = atomwiseLayer(random);

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		if (seed % 3 == 1)
			makeNumbersPositive(layer);
		/* One more weight, wherever it is, makes them kernels like any other. */
		if (seed % 5 == 0) {
			const auto k = static_cast<uint32_t>(
				random(0, static_cast<int>(layer.kernels.size()) - 1));
			const auto atom = static_cast<uint32_t>(
				random(0, static_cast<int>(layer.kernels[0].channels / 32) - 1));
			layer.kernels[k].at(atom * 32 + (k + 1) % 32, 1, 0) = -3;
		}
		Bench bench;
		ConvOp op = bench.direct(layer);
		ASSERT_TRUE(TilePlan(op).mayBeChannelwise);
		op.clipTruncate = static_cast<uint32_t>(random(0, 3));
		expectSame(bench, op);
		expectSame(bench, bench.compressed(op));
	}
}

/* Averages of whole pictures, for one: the kernel is as large as the cube. */
TEST(FastTest, CompressedKernelsOfOneChannelEachEqualTheReference)
{
	for (uint32_t seed = 1; seed <= 40; seed++) {
		Random random(seed);
		Layer layer;
		layer.precision = seed % 3 ? Precision::Int8 : Precision::Fp16;
		const int atoms = layer.precision == Precision::Int8 ? 4 : 2;
		const auto channels = static_cast<uint32_t>(seed % 4 ? 8 * random(1, atoms) : 13);
		const auto s = static_cast<uint32_t>(random(1, 6));
		const auto r = static_cast<uint32_t>(random(1, 6));
		const auto kernels =
			static_cast<uint32_t>(random(0, 1) ? static_cast<int>(channels)
							   : random(1, static_cast<int>(channels)));

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		layer.inputs.assign(1, Cube(channels, r, s));
		layer.kernels.assign(kernels, Cube(channels, r, s));
		random.fill(layer.inputs[0], layer.precision);
		for (uint32_t k = 0; k < kernels; k++)
			for (uint32_t y = 0; y < r; y++)
				for (uint32_t x = 0; x < s; x++)
					layer.kernels[k].at(k, y, x) = static_cast<int16_t>(
						random(0, 1) ? random(1, 127) : -random(1, 128));
		/* Of FP16 any data, specials among them now and then. */
		if (layer.precision == Precision::Fp16)
			for (int16_t &element : layer.inputs[0].v)
				element =
					static_cast<int16_t>(random(0, seed % 2 ? 0x7bff : 0x7fff) |
							     (random(0, 1) ? 0x8000 : 0));
		/* A weight more, or one less, makes them kernels like any other. */
		if (seed % 5 == 0)
			layer.kernels.back().at(0, r - 1, s - 1) = seed % 2 ? 3 : 0;
		Bench bench;
		ConvOp op = bench.direct(layer);
		op.clipTruncate = static_cast<uint32_t>(random(0, 3));
		if (layer.precision == Precision::Int8) {
			expectSame(bench, bench.compressed(op));
			continue;
		}
		Workers workers;
		const auto fast = onThreads(computeConvFast, workers);
		const std::vector<int32_t> expected = compute(bench, op, fast).values;
		const ConvOp sparse = bench.compressed(op);
		forEachTileKind([&] { EXPECT_EQ(compute(bench, sparse, fast).values, expected); });
	}
}

/* The sums of the other kernels are those that they have beside one with weights for two channels.
 */
TEST(FastTest, Fp16KernelsOfOneChannelEachHaveTheSumsOfAnyOthers)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		Random random(seed);
		Layer layer = channelwiseLayer(random, Precision::Fp16, false);
		Bench bench;
		Workers workers;

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		if (layer.kernels[0].channels == 1)
			continue;
		layer.padValue = static_cast<int16_t>(random(0, 0x3c00));
		for (int16_t &number : layer.inputs[0].v)
			if (random(0, 20) == 0)
				number = random(0, 1) ? int16_t{ 0x7c00 } : int16_t{ 0 };
		if (seed % 4 == 0)
			layer.kernels.back().at(static_cast<uint32_t>(layer.kernels.size()) - 1, 0,
						0) = 0x7e01;
		if (seed % 5 == 0) /* meets weights of zero, too */
			layer.inputs[0].v[11] = 0x7c01;
		const auto sums = [&] {
			const ConvOp op = bench.direct(layer);
			return compute(bench, op, onThreads(computeConvFast, workers)).values;
		};
		forEachTileKind([&] {
			layer.kernels[0].at(1, 0, 0) = 0;
			std::vector<int32_t> channelwise = sums();
			layer.kernels[0].at(1, 0, 0) = 0x3c00;
			std::vector<int32_t> any = sums();
			for (size_t i = 0; i < any.size(); i += atomChannels(Precision::Fp16))
				any[i] = channelwise[i];
			EXPECT_EQ(channelwise, any);
		});
	}
}

/* Largest products whose sums just fit 32 bits, and those that just do not. */
TEST(FastTest, Int16SumsAtTheEdgeOf32Bits)
{
	for (const int largest : { 40, 8191, 8192, 32767 }) {
		for (const uint32_t truncate : { 0U, 5U }) {
			Layer layer;
			layer.precision = Precision::Int16;
			layer.inputs.assign(1, Cube(8, 3, 5));
			layer.kernels.assign(19, Cube(8, 2, 2));
			for (int16_t &number : layer.inputs[0].v)
				number = static_cast<int16_t>(-largest);
			for (Cube &kernel : layer.kernels)
				for (int16_t &number : kernel.v)
					number = static_cast<int16_t>(
						&kernel == &layer.kernels[3] ? largest : 8191);
			Bench bench;
			ConvOp op = bench.direct(layer);
			op.clipTruncate = truncate;
			expectSame(bench, op);
		}
	}
}

TEST(FastTest, AnyNumberOfThreadsGivesTheSameStream)
{
	for (const Precision precision : { Precision::Int8, Precision::Int16, Precision::Fp16 }) {
		Random random(3);
		Layer layer;

		layer.precision = precision;
		layer.padLeft = layer.padRight = 1;
		/* So many products that threads are worth it: see worthwhileThreads(). */
		layer.inputs.assign(2, Cube(40, 22, 30));
		layer.kernels.assign(75, Cube(40, 3, 3));
		for (Cube &cube : layer.inputs)
			random.fill(cube, precision);
		for (Cube &cube : layer.kernels)
			random.fill(cube, precision);
		Bench bench;
		ConvOp op = bench.direct(layer);
		op.clipTruncate = 2;
		const auto expectTheSame = [&](auto &function) {
			Workers one;
			const Result alone = compute(bench, op, onThreads(function, one));
			for (const unsigned int threads : { 2U, 3U, 7U }) {
				Workers workers(threads);
				EXPECT_EQ(workers.threads(), threads);
				for (int round = 0; round < 5; round++)
					EXPECT_EQ(compute(bench, op, onThreads(function, workers)),
						  alone)
						<< threads << " threads";
			}
		};
		if (precision == Precision::Fp16)
			expectTheSame(computeConvFp16);
		/* Integers are the reference's otherwise, which has one thread. */
		if (fastConvAccepts(op, Fp16Arithmetic::Fast))
			expectTheSame(computeConvFast);
	}
}

TEST(FastTest, ExtremesSaturateAlike)
{
	for (Precision precision : { Precision::Int8, Precision::Int16 }) {
		const int16_t lowest = precision == Precision::Int8 ? -128 : -32768;
		for (int16_t data : { lowest, static_cast<int16_t>(-lowest - 1) }) {
			Layer layer;
			layer.precision = precision;
			layer.inputs.assign(1, Cube(300, 2, 2));
			layer.kernels.assign(17, Cube(300, 2, 2));
			std::fill(layer.inputs[0].v.begin(), layer.inputs[0].v.end(), data);
			for (Cube &kernel : layer.kernels)
				std::fill(kernel.v.begin(), kernel.v.end(), lowest);
			Bench bench;
			const ConvOp op = bench.direct(layer);
			ASSERT_EQ(fastConvAccepts(op), tileKind() != TileKind::None);
			expectSame(bench, op);
			EXPECT_EQ(compute(bench, op, computeConv).saturated,
				  precision == Precision::Int8 ? 0U : 17U);
		}
	}
}

TEST(FastTest, ImagesEndWithZeroesAndHaveRowsOfPadding)
{
	for (uint32_t rowsPerBlock : { 1U, 2U, 4U }) {
		Random random(rowsPerBlock);
		Bench bench;
		ConvOp op;
		std::vector<uint8_t> bytes(8 * 64);
		std::vector<uint8_t> weights(7 * 12 * 40 / 128 * 128 + 128);

		for (uint8_t &byte : bytes)
			byte = static_cast<uint8_t>(random(0, 255));
		for (uint8_t &byte : weights)
			byte = static_cast<uint8_t>(random(0, 255));
		bench.store(Bench::kData, bytes);
		bench.store(Bench::kWeights, weights);
		op.mode = ConvMode::Image;
		op.pixel.format = NVDLA_CDMA_D_DATAIN_FORMAT__PIXEL_FORMAT__T_A8B8G8R8;
		op.fetch.address = Bench::kData;
		op.fetch.lineStride = 64;
		op.fetch.size = op.windows.data = { 13, 8, 4 };
		op.fetch.padLeft = 1;
		op.fetch.padValue = -5;
		op.weights.address = Bench::kWeights;
		op.weights.bytes = static_cast<uint32_t>(weights.size());
		op.windows.kernel = { 1, 7, 12 };
		op.windows.kernels = 40;
		op.windows.padTop = 3;
		op.windows.padValue = 9;
		op.windows.strideX = 2;
		/* The last columns and lines are beyond the image. */
		op.windows.out = { 8, 9, 40 };
		op.windows.rowsPerBlock = rowsPerBlock;
		expectSame(bench, op);
	}
}

TEST(FastTest, LeavesToTheReferenceWhatItCannotDo)
{
	ConvOp op;
	op.windows.kernel = { 32, 32, 63 };
	EXPECT_EQ(fastConvAccepts(op), tileKind() != TileKind::None);
	op.windows.kernel.channels = 64;
	EXPECT_FALSE(fastConvAccepts(op)) << "a sum may not fit 32 bits";
	op.windows.kernel = {};
	op.windows.out.width = op.windows.data.channels = 8192;
	op.windows.strideX = 8;
	op.windows.data.height = 8192;
	EXPECT_FALSE(fastConvAccepts(op)) << "the padded lines are too large";
	op.windows = {};
	op.mode = ConvMode::Winograd;
	EXPECT_FALSE(fastConvAccepts(op));
	op.mode = ConvMode::Direct;
	op.precision = Precision::Fp16;
	EXPECT_FALSE(fastConvAccepts(op));
}

/** Any bits that FP16 has, every \a nanEvery th a NaN */
int16_t anyHalf(Random &random, int nanEvery)
{
	const int sign = random(0, 1) << 15;

	if (nanEvery && random(1, nanEvery) == 1)
		return static_cast<int16_t>(sign | random(0x7c01, 0x7fff));
	return static_cast<int16_t>(sign | random(0, 0x7c00));
}

TEST(FastTest, Fp16OfAllExponentsWithInfinitiesAndNans)
{
	for (int nanEvery : { 0, 2000, 200 }) {
		Random random(static_cast<uint32_t>(nanEvery + 1));
		Layer layer;

		layer.precision = Precision::Fp16;
		layer.inputs.assign(1, Cube(150, 6, 7));
		layer.kernels.assign(37, Cube(150, 3, 2));
		for (int16_t &number : layer.inputs[0].v)
			number = anyHalf(random, nanEvery);
		for (Cube &kernel : layer.kernels)
			for (int16_t &number : kernel.v)
				number = anyHalf(random, nanEvery);
		Bench bench;
		expectSame(bench, bench.direct(layer));
	}
}

/* Each of their products is exact, but for NaNs, which count where they meet zeroes as well. */
TEST(FastTest, ExactFp16KernelsOfOneChannelEachEqualTheReference)
{
	for (uint32_t seed = 1; seed <= 40; seed++) {
		Random random(seed);
		const int nanEvery = seed % 4 ? 0 : 500;
		Layer layer = channelwiseLayer(random, Precision::Fp16, false);

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		layer.padValue = anyHalf(random, nanEvery);
		for (int16_t &number : layer.inputs[0].v)
			if (seed % 2) /* sums of all exponents, or of a few */
				number = anyHalf(random, nanEvery);
		if (seed % 3 == 0) { /* a batch */
			layer.inputs.push_back(layer.inputs[0]);
			std::ranges::reverse(layer.inputs[1].v);
		}
		for (Cube &kernel : layer.kernels)
			for (int16_t &number : kernel.v)
				if (seed % 2 && number != 0)
					number = anyHalf(random, seed % 8 ? 0 : 100);
		/* One more weight makes them kernels like any other. */
		if (seed % 5 == 0 && layer.kernels[0].channels > 1)
			layer.kernels[0].at(1, 0, 0) = 0x3c00;
		Bench bench;
		expectSame(bench, bench.direct(layer));
	}
}

/* Weights that only meet zeroes are left alone, but for NaNs. */
TEST(FastTest, ExactFp16OfOnePositionEqualsTheReference)
{
	for (uint32_t seed = 1; seed <= 40; seed++) {
		Random random(seed);
		const int nanEvery = seed % 4 ? 0 : 3000;
		Layer layer;
		const auto channels = static_cast<uint32_t>(random(1, 300));
		const auto r = static_cast<uint32_t>(random(1, 3));
		const auto s = static_cast<uint32_t>(random(1, 3));

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		layer.precision = Precision::Fp16;
		layer.inputs.assign(1, Cube(channels, r, s));
		layer.kernels.assign(static_cast<size_t>(random(1, 40)), Cube(channels, r, s));
		random.fill(layer.inputs[0], layer.precision);
		for (int16_t &number : layer.inputs[0].v)
			number = random(0, 1) ? int16_t{ 0 }
				 : seed % 2   ? anyHalf(random, nanEvery)
					      : number;
		for (Cube &kernel : layer.kernels) {
			random.fill(kernel, layer.precision);
			for (int16_t &number : kernel.v)
				if (seed % 2)
					number = anyHalf(random, nanEvery);
		}
		if (seed % 3 == 0) { /* a window whose first column is padding */
			layer.padLeft = 1;
			layer.padValue = anyHalf(random, 0);
		}
		Bench bench;
		ConvOp op = bench.direct(layer);
		op.fetch.flushNan = seed % 8 == 0;
		expectSame(bench, op);
	}
}

TEST(FastTest, Fp16InF32IsTheSameOnAllTargetsAndNearTheReference)
{
	for (uint32_t seed = 1; seed <= 8; seed++) {
		Random random(seed);
		Layer layer;

		layer.precision = Precision::Fp16;
		layer.padLeft = layer.padTop = static_cast<uint32_t>(random(0, 2));
		layer.dilationX = static_cast<uint32_t>(random(1, 2));
		layer.inputs.assign(1, Cube(static_cast<uint32_t>(random(1, 130)), 7, 9));
		layer.kernels.assign(static_cast<size_t>(random(1, 40)),
				     Cube(layer.inputs[0].channels, 3, 3));
		random.fill(layer.inputs[0], layer.precision);
		for (Cube &kernel : layer.kernels)
			random.fill(kernel, layer.precision);
		layer.inputs[0].v[7] = 0x7c01;
		Bench bench;
		const ConvOp op = bench.direct(layer);
		const Result exact = compute(bench, op, computeConv);
		Workers workers;
		std::vector<int32_t> first;

		ASSERT_TRUE(fastConvAccepts(op, Fp16Arithmetic::Fast));
		forEachTileKind([&] {
			const Result fast = compute(bench, op, onThreads(computeConvFast, workers));
			if (first.empty())
				first = fast.values;
			EXPECT_EQ(fast.values, first);
		});
		/* Numbers of 2^-5 to 2^3, so that a product is below 2^6. */
		const double elements = 9.0 * layer.inputs[0].channels;
		for (size_t i = 0; i < first.size(); i++) {
			const double a = floatValue(exact.values[i]);
			const double b = floatValue(first[i]);
			ASSERT_EQ(std::isnan(a), std::isnan(b)) << i;
			if (!std::isnan(a)) {
				ASSERT_NEAR(a, b, std::ldexp(elements * 2, 6 - 20)) << i;
			}
		}
	}
}

/* Sums that cancel, and halves to be rounded: few significant bits, far apart. */
TEST(FastTest, Fp16SumsOfPowersOfTwo)
{
	for (uint32_t seed = 1; seed <= 8; seed++) {
		Random random(seed);
		Layer layer;
		auto power = [&] {
			const int fraction = random(0, 3) == 0 ? 1 : 0;
			return static_cast<int16_t>(random(0, 1) << 15 | random(1, 30) << 10 |
						    fraction);
		};

		layer.precision = Precision::Fp16;
		layer.inputs.assign(1, Cube(3, 20, 20));
		layer.kernels.assign(16, Cube(3, 4, 4));
		std::generate(layer.inputs[0].v.begin(), layer.inputs[0].v.end(), power);
		for (Cube &kernel : layer.kernels)
			std::generate(kernel.v.begin(), kernel.v.end(), power);
		Bench bench;
		expectSame(bench, bench.direct(layer));
	}
}

/** As tileSums() does it on each target that multiplies so */
void expectTheReference(TileKind kind, const std::vector<TilePosition> &positions,
			const Panel &panel)
{
	std::vector<int32_t> expected(positions.size() * kTileColumns);

	tileSumsReference(kind, positions, panel, { expected.data() });
	forEachTileKind([&] {
		const bool isInt8 = kind == TileKind::Quads || kind == TileKind::Bytes ||
				    kind == TileKind::Matrices;
		if (kind != TileKind::Float && tileKind() == TileKind::None)
			return;
		if (isInt8 && tileKind() != kind)
			return;
		std::vector<int32_t> sums(expected.size(), 77);
		tileSums(kind, positions, panel, { sums.data() });
		EXPECT_EQ(sums, expected)
			<< positions.size() << " positions, " << panel.used << " columns";
	});
}

TEST(TileTest, SumsOfAllCounts)
{
	Random random(5);
	std::vector<std::byte> lines(4096);
	const TileRun runs[] = { { 0, 3 }, { 2009, 1 }, { 1013, 5 } };
	constexpr size_t kUnits = 9;
	std::vector<int32_t> weights(kUnits * kTileColumns);

	/* Numbers of 12 bits in pairs, so that sums fit. */
	for (size_t i = 0; i < lines.size(); i++)
		lines[i] = static_cast<std::byte>(random(0, 255) & (i % 2 ? 0x0f : 0xff));
	for (int32_t &weight : weights)
		weight = random(0, 0x0fff) << 16 | random(0, 0x0fff);
	for (size_t count = 1; count <= 30; count++) {
		std::vector<TilePosition> positions;
		for (size_t p = 0; p < count; p++)
			positions.push_back({ &lines[p * 6] });
		expectTheReference(TileKind::Pairs, positions, { runs, weights.data() });
		int32_t starts[kTileColumns];
		for (int32_t &start : starts)
			start = random(-100000, 100000);
		expectTheReference(TileKind::Quads, positions,
				   { .runs = runs, .weights = weights.data(), .starts = starts });
	}
}

TEST(TileTest, SumsOfTheLargestBytes)
{
	Random random(12);
	std::vector<std::byte> lines(512);
	const TileRun runs[] = { { 0, 7 }, { 256, 2 } };
	std::vector<int32_t> weights(9 * kTileColumns);
	std::vector<TilePosition> positions;
	const auto extremes = [&](std::span<std::byte> bytes, int lowest) {
		for (std::byte &byte : bytes)
			byte = static_cast<std::byte>(random(0, 3) ? lowest : INT8_MAX);
	};

	for (size_t p = 0; p < 23; p++)
		positions.push_back({ &lines[p * 5] });
	for (const int lowest : { 0, INT8_MAX }) {
		extremes(lines, lowest);
		extremes(std::as_writable_bytes(std::span(weights)), INT8_MIN);
		expectTheReference(TileKind::Bytes, positions, { runs, weights.data() });
	}
}

TEST(TileTest, SumsOfMatrices)
{
	Random random(14);
	std::vector<std::byte> lines(8192);
	const TileRun runs[] = { { 0, 2 * kMatrixUnits }, { 1009, kMatrixUnits } };
	std::vector<int32_t> weights(3 * kMatrixUnits * kTileColumns);

	for (std::byte &byte : lines)
		byte = static_cast<std::byte>(random(-128, 127));
	for (std::byte &byte : std::as_writable_bytes(std::span(weights)))
		byte = static_cast<std::byte>(random(-128, 127));
	for (size_t width = 1; width <= 35; width++) {
		std::vector<TilePosition> positions;
		const auto step = static_cast<size_t>(random(0, 70));
		/* As far, or further: what goes on from a line to the next one. */
		const size_t lineStep = width % 3 ? 1500 : width * step;
		for (size_t line = 0; line < 3; line++)
			for (size_t x = 0; x < width; x++)
				positions.push_back({ &lines[line * lineStep + x * step] });
		expectTheReference(TileKind::Matrices, positions,
				   { .runs = runs, .weights = weights.data(), .width = width });
	}
}

TEST(TileTest, ColumnsThatAreNotUsedHaveSumsOfZero)
{
	Random random(13);
	std::vector<std::byte> line(64);
	const TileRun runs[] = { { 0, 16 } };
	std::vector<int32_t> weights(16 * kTileColumns);
	const std::vector<TilePosition> positions(7, { line.data() });

	for (std::byte &byte : line)
		byte = static_cast<std::byte>(random(0, 0x3f));
	for (size_t used = 1; used <= kTileColumns; used++) {
		for (size_t column = 0; column < used; column++) {
			for (size_t unit = 0; unit < 16; unit++)
				weights[unit * kTileColumns + column] = random(0, 0x3fff);
		}
		for (TileKind kind :
		     { TileKind::Pairs, TileKind::Quads, TileKind::Bytes, TileKind::Matrices })
			expectTheReference(kind, positions, { runs, weights.data(), used });
	}
}

TEST(TileTest, SumsOfChannelsAreTheReferences)
{
	Random random(6);
	std::vector<std::byte> lines(8192);
	const ChannelTaps taps[] = { { 0, 64 }, { 4096 + 8, 4096 + 132 } };
	std::vector<int32_t> weights(2 * std::size(taps) * kTileColumns);
	const auto halves = reinterpret_cast<int16_t *>(lines.data());
	const auto floats = reinterpret_cast<float *>(lines.data());
	const auto expectSums = [&](size_t elementBytes, size_t columns,
				    const int32_t *starts = nullptr) {
		const ChannelOperands operands = { elementBytes, columns, taps, weights.data(),
						   starts };
		for (size_t count = 1; count <= 5; count++) {
			std::vector<TilePosition> positions;
			for (size_t p = 0; p < count; p++)
				positions.push_back({ &lines[p * 64] });
			std::vector<int32_t> expected(count * columns);
			channelSumsReference(operands, positions.data(), count, expected.data());
			forEachVectorTarget([&] {
				std::vector<int32_t> sums(expected.size());
				channelSums(operands, positions.data(), count, sums.data());
				EXPECT_EQ(sums, expected);
			});
		}
	};

	for (std::byte &byte : lines)
		byte = static_cast<std::byte>(random(0, 255));
	for (int32_t &weight : weights)
		weight = random(-128, 127) * 0x10000 + random(-128, 127);
	expectSums(sizeof(int8_t), kTileColumns);
	expectSums(sizeof(int8_t), kTileColumns, weights.data());
	for (size_t i = 0; i < lines.size() / sizeof(*halves); i++)
		halves[i] = std::max<int16_t>(halves[i], -INT16_MAX);
	expectSums(sizeof(int16_t), kTileColumns);
	expectSums(sizeof(int16_t), kFewColumns);
	for (int32_t &weight : weights)
		weight = std::bit_cast<int32_t>(static_cast<float>(random(-2047, 2047)));
	for (size_t i = 0; i < lines.size() / sizeof(*floats); i++)
		floats[i] = static_cast<float>(random(-2047, 2047)) / 1024;
	expectSums(sizeof(float), kFewColumns);
}

TEST(TileTest, FloatSumsAreTheReferencesBits)
{
	Random random(7);
	std::vector<std::byte> lines(12000);
	const TileRun runs[] = { { 0, 30 }, { 8008, 1 }, { 4012, 50 } };
	constexpr size_t kUnits = 81;
	std::vector<int32_t> weights(kUnits * kTileColumns);
	auto fill = [&](void *out, size_t bytes) {
		for (size_t i = 0; i < bytes; i += sizeof(float)) {
			const auto bits = static_cast<int16_t>(anyHalf(random, 5000));
			float number;
			widenHalves(reinterpret_cast<const std::byte *>(&bits), 1, &number);
			std::memcpy(static_cast<std::byte *>(out) + i, &number, sizeof(number));
		}
	};

	fill(lines.data(), lines.size());
	fill(weights.data(), weights.size() * sizeof(weights[0]));
	std::vector<int32_t> few = weights;
	for (size_t unit = 0; unit < kUnits; unit++)
		std::fill_n(&few[unit * kTileColumns + kFewColumns], kFewColumns, 0);
	for (size_t count = 1; count <= 30; count++) {
		std::vector<TilePosition> positions;
		for (size_t p = 0; p < count; p++)
			positions.push_back({ &lines[p * 12] });
		expectTheReference(TileKind::Float, positions, { runs, weights.data() });
		expectTheReference(TileKind::Float, positions, { runs, few.data(), kFewColumns });
	}
}

TEST(TileTest, WeightsInColumnsAreTheReferences)
{
	Random random(11);
	std::vector<std::byte> weights(32 * 70);

	for (std::byte &byte : weights)
		byte = static_cast<std::byte>(random(0, 255));
	for (UnitFormat format : { UnitFormat::Bytes, UnitFormat::WideBytes, UnitFormat::Float }) {
		for (size_t kernels = 1; kernels <= kTileColumns; kernels += 3) {
			for (size_t units = 1; units <= 17; units++) {
				const KernelRows rows = { weights.data(), 70, kernels };
				std::vector<int32_t> expected(units * kTileColumns);
				putUnitsReference(format, rows, units, expected.data());
				forEachVectorTarget([&] {
					std::vector<int32_t> out(expected.size());
					EXPECT_EQ(putUnits(format, rows, units, out.data()), units);
					EXPECT_EQ(out, expected)
						<< kernels << " kernels, " << units << " units";
				});
			}
		}
	}
}

TEST(TileTest, HalvesBecomeTheirValues)
{
	std::vector<int16_t> halves;
	for (int bits = 0; bits < 0x10000; bits++)
		halves.push_back(static_cast<int16_t>(bits));

	forEachTarget([&] {
		std::vector<float> floats(halves.size());
		widenHalves(reinterpret_cast<const std::byte *>(halves.data()), halves.size(),
			    floats.data());
		for (size_t bits = 0; bits < halves.size(); bits++) {
			if ((bits & 0x7fff) > 0x7c00)
				ASSERT_TRUE(std::isnan(floats[bits])) << bits;
			else
				ASSERT_EQ(floats[bits], halfValue(static_cast<uint16_t>(bits)))
					<< bits;
		}
	});
}

TEST(TileTest, NumbersThatAreNotFiniteAreFoundAnywhere)
{
	for (size_t count = 1; count <= 150; count += 7) {
		std::vector<uint16_t> halves(count, 0xfbff);
		const auto finite = [&] {
			return areFinite(std::as_bytes(std::span(halves)).data(), count);
		};
		forEachTarget([&] {
			EXPECT_TRUE(finite()) << count;
			for (uint16_t &half : halves) {
				half = &half == &halves[0] ? 0xfc00 : 0x7c01;
				EXPECT_FALSE(finite()) << count;
				half = 0x7bff;
			}
		});
	}
}

TEST(TileTest, ANumberBelowZeroIsFoundAnywhere)
{
	for (size_t count = 1; count <= 150; count += 7) {
		std::vector<int8_t> numbers(count, INT8_MAX);
		const auto any = [&] {
			return anyNegative(std::as_bytes(std::span(numbers)).data(), count);
		};
		forEachTarget([&] {
			EXPECT_FALSE(any()) << count;
			for (int8_t &number : numbers) {
				number = &number == &numbers[0] ? INT8_MIN : -1;
				EXPECT_TRUE(any()) << count;
				number = 0;
			}
		});
	}
}

/* The sums of a kernel as large as the data are those of the same one moved over larger data. */
TEST(FastTest, Fp16OfOnePositionIsThatOfMany)
{
	for (uint32_t seed = 1; seed <= 24; seed++) {
		Random random(seed);
		Bench bench;
		Workers workers;
		Layer layer;
		const auto channels = static_cast<uint32_t>(random(1, 150));
		const auto r = static_cast<uint32_t>(random(1, 3));
		const auto s = static_cast<uint32_t>(random(1, 3));

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		layer.precision = Precision::Fp16;
		layer.inputs.assign(1, Cube(channels, r, s));
		layer.kernels.assign(static_cast<size_t>(random(1, 40)), Cube(channels, r, s));
		random.fill(layer.inputs[0], layer.precision);
		for (Cube &kernel : layer.kernels)
			random.fill(kernel, layer.precision);
		if (seed % 4 == 0)
			layer.inputs[0].v[0] = 0x7c00;
		if (seed % 3 == 0)
			layer.kernels[0].v[0] = static_cast<int16_t>(0xfc00);
		if (seed % 6 == 1)
			layer.kernels.back().v[0] = 0x7d00;
		if (seed == 24)
			layer.inputs[0].v[0] = 0x7e00;
		const auto sums = [&](const ConvOp &op) {
			return compute(bench, op, onThreads(computeConvFast, workers)).values;
		};
		const ConvOp one = bench.direct(layer);
		std::vector<int32_t> first;
		forEachTileKind([&] {
			std::vector<int32_t> found = sums(one);
			if (first.empty())
				first = found;
			EXPECT_EQ(found, first);
		});
		/* Another line of zeroes below. */
		layer.padBottom = 1;
		const ConvOp two = bench.direct(layer);
		ASSERT_EQ(two.windows.out.height, 2U);
		forEachTileKind([&] {
			std::vector<int32_t> found = sums(two);
			for (size_t surface = 0; surface < two.surfaces(); surface++)
				for (size_t i = 0; i < kFewColumns; i++)
					EXPECT_EQ(found[2 * surface * kFewColumns + i],
						  first[surface * kFewColumns + i]);
		});
	}
}

/*
 * Who multiplies all weights finds the special ones among them, and they are counted and flushed as
 * if CDMA had looked at all; those that nobody multiplies are looked at.
 */
TEST(FastTest, Fp16WeightsOfOnePositionAreCountedOnceWhereverTheyAre)
{
	for (uint32_t seed = 1; seed <= 60; seed++) {
		Random random(seed);
		Bench bench;
		Workers workers(static_cast<unsigned int>(random(1, 3)));
		Layer layer;
		const bool isTight =
			seed % 5 == 0; /* groups as large as a bank, not of whole entries */
		const auto channels = static_cast<uint32_t>(isTight ? 1023 : random(1, 700));

		SCOPED_TRACE(testing::Message() << "seed " << seed);
		layer.precision = Precision::Fp16;
		layer.inputs.assign(1, Cube(channels, 1, 1));
		layer.kernels.assign(static_cast<size_t>(random(1, 100)), Cube(channels, 1, 1));
		random.fill(layer.inputs[0], layer.precision);
		for (int16_t &number : layer.inputs[0].v)
			number = random(0, 2) ? number : int16_t{ 0 };
		if (seed % 7 == 0) /* leaves no sum finite, without any such weight */
			layer.inputs[0].v[0] = 0x7c00;
		for (Cube &kernel : layer.kernels)
			random.fill(kernel, layer.precision);
		/* CDMA fetches one kernel more than anybody multiplies. */
		const bool hasMore = layer.kernels.size() > 1 && random(0, 2) == 0;
		const bool isBehind = hasMore && random(0, 1);
		if (isBehind)
			layer.kernels.back().v.back() = 0x7e00;
		for (int i = isBehind ? 0 : random(0, 3); i > 0; i--) {
			const auto last = static_cast<int>(layer.kernels.size()) - 1;
			auto &kernel = layer.kernels[static_cast<size_t>(random(0, last))];
			kernel.v[static_cast<size_t>(random(0, static_cast<int>(channels) - 1))] =
				static_cast<int16_t>(
					random(0, 1) << 15 |
					(random(0, 1) ? 0x7c00 : random(0x7c01, 0x7fff)));
		}
		ConvOp op = bench.direct(layer);
		op.fetch.flushNan = random(0, 1);
		op.weightBanks = isTight ? 1 : static_cast<uint32_t>(random(1, 4));
		op.windows.kernels -= hasMore ? 1 : 0;
		const Result exact = compute(bench, op, computeConv);
		forEachTileKind([&] {
			const Result fast = compute(bench, op, onThreads(computeConvFast, workers));
			EXPECT_EQ(fast.nan, exact.nan);
			EXPECT_EQ(fast.inf, exact.inf);
			EXPECT_EQ(fast.left, exact.left);
			for (size_t i = 0; i < exact.values.size(); i++)
				EXPECT_EQ(std::isnan(floatValue(fast.values[i])),
					  std::isnan(floatValue(exact.values[i])))
					<< i;
			if (fp16Cells()) {
				EXPECT_EQ(compute(bench, op, onThreads(computeConvFp16, workers)),
					  exact);
			}
		});
	}
}

/* Two groups are multiplied at once. */
TEST(FastTest, Fp16OfOnePositionKnowsANanOfTheNextGroup)
{
	constexpr uint32_t kChannels = 1024; /* a group of them fills a bank */

	for (const bool flush : { false, true }) {
		Random random(7);
		Bench bench;
		Workers workers;
		Layer layer;
		const auto sums = [&](const Compute &function) {
			ConvOp op = bench.direct(layer);
			op.weightBanks = 1;
			op.fetch.flushNan = flush;
			return compute(bench, op, function).values;
		};

		layer.precision = Precision::Fp16;
		layer.inputs.assign(1, Cube(kChannels, 1, 1));
		layer.kernels.assign(40, Cube(kChannels, 1, 1));
		random.fill(layer.inputs[0], layer.precision);
		for (Cube &kernel : layer.kernels)
			random.fill(kernel, layer.precision);
		layer.kernels[kFewColumns + 4].v[5] = 0x7e00;
		const std::vector<int32_t> expected = sums(computeConv);
		forEachTileKind([&] {
			const auto found = sums(onThreads(computeConvFast, workers));
			const auto isNan = [](int32_t bits) {
				return std::isnan(std::bit_cast<float>(bits));
			};
			ASSERT_EQ(found.size(), expected.size());
			for (size_t i = 0; i < found.size(); i++)
				EXPECT_EQ(isNan(found[i]), !flush && i == kFewColumns + 4) << i;
			EXPECT_EQ(std::ranges::count_if(expected, isNan),
				  std::ranges::count_if(found, isNan));
			if (fp16Cells()) {
				EXPECT_EQ(sums(onThreads(computeConvFp16, workers)), expected);
			}
		});
	}
}

TEST(MacFp16TargetsTest, AllInstructionSetsGiveTheSameBits)
{
	Random random(6);
	constexpr int kVectors = 200;
	std::vector<int16_t> numbers(2 * kVectors * kMacLanes);
	std::vector<std::pair<uint32_t, int64_t>> first;

	for (int16_t &number : numbers)
		number = static_cast<int16_t>(random(0, 1) << 15 | random(0, 0x7bff));
	forEachTarget([&] {
		std::vector<std::pair<uint32_t, int64_t>> sums;
		for (size_t i = 0; i < kVectors; i++) {
			Fp16Vector a, b;
			const auto lanes = static_cast<uint32_t>(i % kMacLanes + 1);
			a.load(&numbers[2 * i * kMacLanes], lanes);
			b.load(&numbers[(2 * i + 1) * kMacLanes], lanes);
			const Fp16Sum sum = macFp16(a, b, lanes);
			sums.emplace_back(sum.exponent, sum.mantissa);
			for (const Fp16Sum &out : macFp16Winograd(a, b))
				sums.emplace_back(out.exponent, out.mantissa);
		}
		if (first.empty())
			first = sums;
		EXPECT_EQ(sums, first);
	});
}

} /* namespace */

} /* namespace nvdla::sim::test */
