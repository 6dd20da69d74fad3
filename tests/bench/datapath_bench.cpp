/* SPDX-License-Identifier: MIT */
/*
 * How fast the device model's SDP works on a chunk of INT8 atoms, stage by stage, next to
 * copying the chunk ("of_memcpy", the limit) and to the readable stage ("of_reference"). Then
 * whole operations of the engines that move more than they compute, next to copying half of the
 * bytes that they read and write: memcpy() reads and writes them, too.
 */
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "bdma/bdma.h"
#include "cdp/cdp.h"
#include "core/ram_memory.h"
#include "lut/lut_fast.h"
#include "of_memcpy.h"
#include "pdp/pdp.h"
#include "rubik/rubik.h"
#include "sdp/sdp_fast.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

namespace
{

/* What SdpStream works on at a time. */
constexpr size_t lanes = 32, atoms = 256;

using Values = std::vector<int32_t>;

Values randomValues(size_t count, int limit)
{
	std::mt19937 engine(1);
	std::uniform_int_distribution<int32_t> number(-limit, limit);
	Values values(count);

	for (int32_t &value : values)
		value = number(engine);
	return values;
}

/* Both ways work in place: on a copy of the input each time, which counts as theirs. */
template<typename Fast, typename Reference>
void measure(benchmark::State &state, Fast fast, Reference reference)
{
	const Values input = randomValues(lanes * atoms, 1 << 14);
	Values values = input;
	auto on = [&](auto &work) {
		return [&] {
			values.assign(input.begin(), input.end());
			work(values);
			benchmark::ClobberMemory();
		};
	};

	bench::compareWithMemcpy(state, values.size() * sizeof(values[0]), on(fast));
	state.counters["of_reference"] =
		bench::secondsOf(on(reference)) / bench::secondsOf(on(fast));
	state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * values.size()));
}

/* Bias, multiplier and ReLU of each channel. */
void x(benchmark::State &state)
{
	SdpStage stage;
	const Values bias = randomValues(lanes, 1000);
	const Values scale = randomValues(lanes, 100);

	stage.algorithm = SdpAlu::Sum;
	stage.alu.bypass = stage.mul.bypass = stage.reluBypass = false;
	stage.mulShift = 7;
	measure(
		state,
		[&](Values &values) {
			const SdpStageRun run = {
				&stage, false, { bias.data(), 0 }, { scale.data(), 0 }
			};
			applySdpFast({ &run, 1 }, lanes, values, values);
		},
		[&](Values &values) {
			applySdpX(stage, Precision::Int8, values, lanes, { bias.data(), 0 },
				  { scale.data(), 0 });
		});
}
BENCHMARK(x);

/* An element-wise sum. */
void y(benchmark::State &state)
{
	SdpStage stage;
	const Values other = randomValues(lanes * atoms, 1000);

	stage.algorithm = SdpAlu::Sum;
	stage.alu.bypass = false;
	measure(
		state,
		[&](Values &values) {
			const SdpStageRun run = { &stage, true, { other.data(), lanes }, {} };
			applySdpFast({ &run, 1 }, lanes, values, values);
		},
		[&](Values &values) {
			applySdpY(stage, Precision::Int8, values, lanes, { other.data(), lanes },
				  {});
		});
}
BENCHMARK(y);

/* Both tables, some inputs beyond their edges. */
void lut(benchmark::State &state)
{
	const LutConfig config = { .le = { .indexSelect = 9, .start = -16000, .end = 16768 },
				   .lo = { .indexSelect = 4, .start = -2048, .end = 2048 } };
	LutTables tables;
	LutCounters counters;

	for (size_t i = 0; i < tables.lo.size(); i++)
		tables.lo[i] = static_cast<int16_t>(i * 50);
	const Lut readable(sdpLut, config, tables);
	const FastLut fast(sdpLut, config, tables);
	measure(
		state, [&](Values &values) { fast.lookup(values, counters); },
		[&](Values &values) { applySdpLut(readable, Precision::Int8, values, counters); });
}
BENCHMARK(lut);

void converter(benchmark::State &state)
{
	SdpOp op;
	SdpCounters counters;

	op.converter = { .offset = 3, .scale = 77, .shift = 13 };
	measure(
		state, [&](Values &values) { convertSdpOutputFast(op, values, counters); },
		[&](Values &values) { convertSdpOutput(op, values, counters); });
}
BENCHMARK(converter);

/** A surface of 32 channels behind the other, in one memory: input, output and a second input */
class Cubes
{
public:
	Cubes(uint32_t width, uint32_t height, uint32_t channels)
		: line_(width * kAtomBytes), surface_(line_ * height),
		  bytes_(size_t{ surface_ } * (channels / lanes)), memory_(0, 4 * bytes_),
		  cvsram_(0, kAtomBytes)
	{
		std::mt19937 engine(1);
		std::vector<std::byte> bytes(4 * bytes_);

		for (std::byte &byte : bytes)
			byte = static_cast<std::byte>(engine());
		memory_.write(0, bytes);
	}

	uint32_t line() const { return line_; }
	uint32_t surface() const { return surface_; }
	size_t bytes() const { return bytes_; }
	uint64_t out() const { return 2 * bytes_; }

	/** \param run called with a port; returns an OperationResult with its traffic in the port
	 */
	template<typename Run>
	void measure(benchmark::State &state, Run run)
	{
		MemoryPort once(memory_, cvsram_);
		check(run(once), once);
		const Traffic &traffic = once.traffic(RamType::Mc);
		bench::compareWithMemcpy(state, (traffic.readBytes + traffic.writeBytes) / 2, [&] {
			MemoryPort port(memory_, cvsram_);
			check(run(port), port);
		});
	}

private:
	static constexpr uint32_t kAtomBytes = 32;

	static void check(const OperationResult &result, const MemoryPort &port)
	{
		if (result.hangs || port.faulted() || !result.guestError.empty()) {
			std::fprintf(stderr, "datapath-bench: %s\n", result.guestError.c_str());
			std::exit(1);
		}
	}

	uint32_t line_;
	uint32_t surface_;
	size_t bytes_;
	RamMemory memory_;
	RamMemory cvsram_;
};

void elementWise(benchmark::State &state)
{
	Cubes cubes(56, 56, 256);
	SdpOp op;

	op.width = op.height = 56;
	op.channels = 256;
	op.source = { RamType::Mc, 0, cubes.line(), cubes.surface() };
	op.destination = { RamType::Mc, cubes.out(), cubes.line(), cubes.surface() };
	op.x1.bypass = op.x1.alu.bypass = false;
	op.x1.algorithm = SdpAlu::Sum;
	op.x1.alu.fromMemory = true;
	op.x1.read = { .enabled = true, .alu = true, .perElement = true };
	op.x1.read.cube = { RamType::Mc, cubes.bytes(), cubes.line(), cubes.surface() };
	op.converter = { .offset = 0, .scale = 1, .shift = 1 };
	cubes.measure(state, [&](MemoryPort &port) { return runSdp(op, {}, port); });
}
BENCHMARK(elementWise);

void pooling(benchmark::State &state, PoolingMethod method)
{
	Cubes cubes(112, 112, 64);
	PdpOp op;

	op.method = method;
	op.inWidth = op.inHeight = 112;
	op.outWidth = op.outHeight = 56;
	op.channels = 64;
	op.kernelWidth = op.kernelHeight = 3;
	op.strideX = op.strideY = 2;
	op.padLeft = op.padTop = 1;
	op.recipWidth = op.recipHeight = (1 << 16) / 3;
	op.source = { RamType::Mc, 0, cubes.line(), cubes.surface() };
	op.destination = { RamType::Mc, cubes.out(), cubes.line() / 2, cubes.surface() / 4 };
	cubes.measure(state, [&](MemoryPort &port) { return runPdp(op, port); });
}
BENCHMARK_CAPTURE(pooling, max, PoolingMethod::Max);
BENCHMARK_CAPTURE(pooling, average, PoolingMethod::Average);

void normalization(benchmark::State &state)
{
	Cubes cubes(28, 28, 192);
	LutTables tables;
	CdpOp op;

	op.width = op.height = 28;
	op.channels = 192;
	op.radius = 2;
	op.source = { RamType::Mc, 0, cubes.line(), cubes.surface() };
	op.destination = { RamType::Mc, cubes.out(), cubes.line(), cubes.surface() };
	op.output = { .offset = 0, .scale = 1, .shift = 15 };
	op.lut = { .le = { .indexSelect = 11, .start = 0, .end = 1 << 17 },
		   .lo = { .indexSelect = 4, .start = 0, .end = 1 << 12 } };
	for (size_t i = 0; i < tables.lo.size(); i++)
		tables.lo[i] = static_cast<int16_t>(i * 50);
	cubes.measure(state, [&](MemoryPort &port) { return runCdp(op, tables, port); });
}
BENCHMARK(normalization);

void copying(benchmark::State &state)
{
	Cubes cubes(56, 56, 256);
	BdmaOp op = {};

	op.srcType = op.dstType = RamType::Mc;
	op.dst = cubes.out();
	op.lineBytes = op.srcLineStride = op.dstLineStride = cubes.line();
	op.lines = 56;
	op.surfaces = 8;
	op.srcSurfaceStride = op.dstSurfaceStride = cubes.surface();
	cubes.measure(state, [&](MemoryPort &port) { return run(op, port); });
}
BENCHMARK(copying);

void rubik(benchmark::State &state, RubikMode mode)
{
	Cubes cubes(64, 56, 256);
	RubikOp op = {};
	const bool merges = mode == RubikMode::Merge;
	const uint32_t planeLine = 64;

	op.mode = mode;
	op.srcType = op.dstType = RamType::Mc;
	op.width = 64;
	op.height = 56;
	op.channels = op.outChannels = 256;
	op.dst = cubes.out();
	op.srcLineStride = merges ? planeLine : cubes.line();
	op.dstLineStride = merges ? cubes.line() : planeLine;
	op.srcSurfaceStride = op.dstSurfaceStride = cubes.surface();
	op.srcPlaneStride = op.dstPlaneStride = planeLine * op.height;
	op.strideX = op.strideY = 1;
	if (mode == RubikMode::Contract) {
		/* Four groups of two surfaces become two surfaces of twice the width and height. */
		op.outChannels = 64;
		op.strideX = op.strideY = 2;
		op.groupStride = 2 * cubes.surface();
		op.dstLineStride = 2 * cubes.line();
		op.blockStride = 2 * op.dstLineStride;
		op.dstSurfaceStride = 4 * cubes.surface();
	}
	cubes.measure(state, [&](MemoryPort &port) { return run(op, port); });
}
BENCHMARK_CAPTURE(rubik, contract, RubikMode::Contract);
BENCHMARK_CAPTURE(rubik, split, RubikMode::Split);
BENCHMARK_CAPTURE(rubik, merge, RubikMode::Merge);

} /* namespace */

} /* namespace nvdla::sim */

BENCHMARK_MAIN();
