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
	Cubes(uint32_t width, uint32_t height, uint32_t channels,
	      Precision precision = Precision::Int8)
		: line_(width * kAtomBytes), surface_(line_ * height),
		  bytes_(size_t{ surface_ } * (channels / atomChannels(precision))),
		  memory_(0, 4 * bytes_), cvsram_(0, kAtomBytes)
	{
		std::mt19937 engine(1);
		std::vector<std::byte> bytes(4 * bytes_);

		for (size_t i = 0; i < bytes.size(); i++)
			bytes[i] = static_cast<std::byte>(engine());
		/* Numbers of 2^-7 to 2^8, as networks have them: no NaNs, nothing denormal. */
		for (size_t i = 1; precision == Precision::Fp16 && i < bytes.size(); i += 2)
			bytes[i] =
				(bytes[i] & std::byte{ 0xbf }) ^
				((bytes[i] & std::byte{ 0x20 }) == std::byte{} ? std::byte{ 0x40 }
									       : std::byte{});
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

/* A sum of two cubes. */
SdpOp sumOf(const Cubes &cubes, Precision precision)
{
	SdpOp op;

	op.in = op.proc = op.out = precision;
	op.width = op.height = 56;
	op.channels = 256;
	op.source = { RamType::Mc, 0, cubes.line(), cubes.surface() };
	op.destination = { RamType::Mc, cubes.out(), cubes.line(), cubes.surface() };
	op.x1.bypass = op.x1.alu.bypass = false;
	op.x1.algorithm = SdpAlu::Sum;
	op.x1.alu.fromMemory = true;
	op.x1.read = { .enabled = true, .alu = true, .perElement = true };
	op.x1.read.cube = { RamType::Mc, cubes.bytes(), cubes.line(), cubes.surface() };
	op.x1.read.twoBytes = precision != Precision::Int8;
	op.converter = { .offset = 0, .scale = 1, .shift = 1 };
	return op;
}

void elementWise(benchmark::State &state, Precision precision)
{
	Cubes cubes(56, 56, 256, precision);
	const SdpOp op = sumOf(cubes, precision);

	cubes.measure(state, [&](MemoryPort &port) { return runSdp(op, {}, port); });
}
BENCHMARK_CAPTURE(elementWise, int8, Precision::Int8);
BENCHMARK_CAPTURE(elementWise, int16, Precision::Int16);
BENCHMARK_CAPTURE(elementWise, fp16, Precision::Fp16);

/* As compilers make it of two cubes that count in steps of their own. */
void scaledSum(benchmark::State &state)
{
	Cubes cubes(56, 56, 256);
	SdpOp op = sumOf(cubes, Precision::Int8);

	op.y = op.x1;
	op.y.alu.converterBypass = false;
	op.y.alu.converter = { .offset = 3, .scale = 9973, .shift = 0 };
	op.x1.read = {};
	op.x1.alu = { .bypass = false, .value = -5 };
	op.x1.mul = { .bypass = false, .value = 16001 };
	op.converter = { .offset = -123456, .scale = 20011, .shift = 29 };
	cubes.measure(state, [&](MemoryPort &port) { return runSdp(op, {}, port); });
}
BENCHMARK(scaledSum);

void pooling(benchmark::State &state, PoolingMethod method, Precision precision)
{
	Cubes cubes(112, 112, 64, precision);
	PdpOp op;

	op.method = method;
	op.precision = precision;
	op.inWidth = op.inHeight = 112;
	op.outWidth = op.outHeight = 56;
	op.channels = 64;
	op.kernelWidth = op.kernelHeight = 3;
	op.strideX = op.strideY = 2;
	op.padLeft = op.padTop = 1;
	/* Of FP17 a third. */
	op.recipWidth = op.recipHeight = precision == Precision::Fp16 ? 0x7555 : (1 << 16) / 3;
	op.source = { RamType::Mc, 0, cubes.line(), cubes.surface() };
	op.destination = { RamType::Mc, cubes.out(), cubes.line() / 2, cubes.surface() / 4 };
	cubes.measure(state, [&](MemoryPort &port) { return runPdp(op, port); });
}
BENCHMARK_CAPTURE(pooling, max_int8, PoolingMethod::Max, Precision::Int8);
BENCHMARK_CAPTURE(pooling, max_fp16, PoolingMethod::Max, Precision::Fp16);
BENCHMARK_CAPTURE(pooling, average_int8, PoolingMethod::Average, Precision::Int8);
BENCHMARK_CAPTURE(pooling, average_int16, PoolingMethod::Average, Precision::Int16);
BENCHMARK_CAPTURE(pooling, average_fp16, PoolingMethod::Average, Precision::Fp16);

void normalization(benchmark::State &state, Precision precision)
{
	Cubes cubes(28, 28, 192, precision);
	LutTables tables;
	CdpOp op;

	op.width = op.height = 28;
	op.channels = 192;
	op.radius = 2;
	op.precision = precision;
	op.source = { RamType::Mc, 0, cubes.line(), cubes.surface() };
	op.destination = { RamType::Mc, cubes.out(), cubes.line(), cubes.surface() };
	op.output = { .offset = 0, .scale = 1, .shift = 15 };
	op.lut = { .le = { .indexSelect = 11, .start = 0, .end = 1 << 17 },
		   .lo = { .indexSelect = 4, .start = 0, .end = 1 << 12 } };
	if (precision == Precision::Int16)
		op.lut.le.indexSelect = 28;
	if (precision == Precision::Fp16) /* FP32 bits of 65536 and 4096 */
		op.lut = { .le = { .indexSelect = 10, .start = 0, .end = 0x47800000 },
			   .lo = { .indexSelect = 4, .start = 0, .end = 0x45800000 } };
	for (size_t i = 0; i < tables.lo.size(); i++)
		tables.lo[i] = static_cast<int16_t>(i * 50);
	cubes.measure(state, [&](MemoryPort &port) { return runCdp(op, tables, port); });
}
BENCHMARK_CAPTURE(normalization, int8, Precision::Int8);
BENCHMARK_CAPTURE(normalization, int16, Precision::Int16);
BENCHMARK_CAPTURE(normalization, fp16, Precision::Fp16);

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
