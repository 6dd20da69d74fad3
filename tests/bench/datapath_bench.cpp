/* SPDX-License-Identifier: MIT */
/*
 * Operations of the engines that move more than they compute, beside memcpy() of as many bytes,
 * which reads and writes them, too: half of what an operation reads and writes. Cubes are where
 * caches have them from the run before, and, a second time, in memory. Processor time, the best of
 * some rounds.
 */
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "arith/float.h"
#include "bdma/bdma.h"
#include "cdp/cdp.h"
#include "command-line/command_line.h"
#include "core/ram_memory.h"
#include "pdp/pdp.h"
#include "process.h"
#include "rubik/rubik.h"
#include "sdp/sdp_stream.h"

namespace nvdla::bench
{

namespace
{

using namespace sim;

constexpr uint32_t kAtomBytes = 32;

/** \brief Where the cubes of one shape are in a memory: a source, a second one, an output */
struct Cubes {
	uint32_t width;
	uint32_t height;
	uint32_t channels;
	Precision precision;

	uint32_t line() const { return width * kAtomBytes; }
	uint32_t surface() const { return line() * height; }
	size_t bytes() const { return size_t{ surface() } * (channels / atomChannels(precision)); }
	uint64_t second() const { return bytes(); }
	uint64_t out() const { return 2 * bytes(); }
	size_t memory() const { return 3 * bytes(); }
};

/** \return numbers for all cubes */
std::vector<std::byte> randomElements(const Cubes &cubes)
{
	std::mt19937 engine(1);
	std::vector<std::byte> bytes(cubes.memory());

	for (std::byte &byte : bytes)
		byte = static_cast<std::byte>(engine());
	if (cubes.precision != Precision::Fp16)
		return bytes;
	/* Numbers of 2^-7 to 2^8, as networks have them: no NaNs, nothing denormal. */
	for (size_t i = 1; i < bytes.size(); i += 2) {
		const bool small = (bytes[i] & std::byte{ 0x20 }) == std::byte{};
		bytes[i] =
			(bytes[i] & std::byte{ 0xbf }) ^ (small ? std::byte{ 0x40 } : std::byte{});
	}
	return bytes;
}

using Run = std::function<OperationResult(MemoryPort &)>;

struct Operation {
	const char *name;
	Cubes cubes;
	Run run;
};

constexpr const char *kPrecisions[] = { "INT8", "INT16", "FP16" };

/* A sum of two cubes. */
SdpOp sumOf(const Cubes &cubes)
{
	SdpOp op;

	op.in = op.proc = op.out = cubes.precision;
	op.width = cubes.width;
	op.height = cubes.height;
	op.channels = cubes.channels;
	op.source = { RamType::Mc, 0, cubes.line(), cubes.surface() };
	op.destination = { RamType::Mc, cubes.out(), cubes.line(), cubes.surface() };
	op.x1.bypass = op.x1.alu.bypass = false;
	op.x1.algorithm = SdpAlu::Sum;
	op.x1.alu.fromMemory = true;
	op.x1.read = { .enabled = true, .alu = true, .perElement = true };
	op.x1.read.cube = { RamType::Mc, cubes.second(), cubes.line(), cubes.surface() };
	op.x1.read.twoBytes = cubes.precision != Precision::Int8;
	op.converter = { .offset = 0, .scale = 1, .shift = 1 };
	return op;
}

Operation sum(Precision precision)
{
	const Cubes cubes = { 56, 56, 256, precision };

	return { "sum of two cubes", cubes,
		 [op = sumOf(cubes)](MemoryPort &port) { return runSdp(op, {}, port); } };
}

/* As compilers make it of two cubes that count in steps of their own. */
Operation scaledSum(Precision precision)
{
	const Cubes cubes = { 56, 56, 256, precision };
	SdpOp op = sumOf(cubes);

	op.y = op.x1;
	op.y.alu.converterBypass = false;
	op.y.alu.converter = { .offset = 3, .scale = 9973, .shift = 0 };
	op.x1.read = {};
	op.x1.alu = { .bypass = false, .value = -5 };
	op.x1.mul = { .bypass = false, .value = 16001 };
	op.converter = { .offset = -123456, .scale = 20011, .shift = 29 };
	return { "sum with factors", cubes,
		 [op](MemoryPort &port) { return runSdp(op, {}, port); } };
}

/** \return entries of a linear table, 16-bit numbers with \a one for 1, or FP16 */
template<size_t kEntries>
std::array<int16_t, kEntries> entriesOf(const LutTableConfig &table, bool isFloat, double one,
					double (*function)(double))
{
	std::array<int16_t, kEntries> entries;
	const double start = isFloat ? std::bit_cast<float>(static_cast<uint32_t>(table.start))
				     : static_cast<double>(table.start);

	for (size_t i = 0; i < kEntries; i++) {
		const double y = function(start + std::ldexp(i, table.indexSelect));
		const auto bits = std::bit_cast<uint32_t>(static_cast<float>(y));
		entries[i] = static_cast<int16_t>(isFloat ? arith::fp32ToFp16(bits)
							  : std::lround(y * one));
	}
	return entries;
}

/** \return FP32 bits, as registers have them */
int64_t bitsOfFloat(int64_t number)
{
	return std::bit_cast<uint32_t>(static_cast<float>(number));
}

LutTables tablesOf(const LutConfig &lut, Precision precision, double (*function)(double))
{
	constexpr double kOne = 16000;
	const bool isFloat = precision == Precision::Fp16;

	return { .le = entriesOf<LutTables::leEntries>(lut.le, isFloat, kOne, function),
		 .lo = entriesOf<LutTables::loEntries>(lut.lo, isFloat, kOne, function) };
}

/* tanh() in SDP's tables, as compilers make them: both have the whole range, and LO answers. */
Operation table(Precision precision)
{
	const Cubes cubes = { 56, 56, 256, precision };
	const bool isFloat = precision == Precision::Fp16;
	/* Numbers of FP16 are as far apart as those of INT8 and one bit more. */
	const int bits = precision == Precision::Int16 ? 16 : isFloat ? 9 : 8;
	SdpOp op = sumOf(cubes);

	op.x1 = {};
	op.y.bypass = op.y.lutBypass = false;
	op.lut.hybridSelectsLo = true;
	op.lut.le.indexSelect = static_cast<int8_t>(bits - 6);
	op.lut.lo.indexSelect = static_cast<int8_t>(bits - 8);
	const int64_t start = -(1 << (bits - 1)) - 1;
	for (LutTableConfig *half : { &op.lut.le, &op.lut.lo }) {
		half->start = isFloat ? bitsOfFloat(start) : start;
		half->end = isFloat ? bitsOfFloat(start + (1 << bits)) : start + (1 << bits);
	}
	op.converter = { .offset = 0,
			 .scale = 77,
			 .shift = static_cast<uint8_t>(precision == Precision::Int8 ? 14 : 6) };
	const LutTables tables = tablesOf(
		op.lut, precision,
		precision == Precision::Int16 ? [](double x) { return std::tanh(x / 16384); }
					      : [](double x) { return std::tanh(x / 64); });
	return { "table of SDP", cubes,
		 [op, tables](MemoryPort &port) { return runSdp(op, tables, port); } };
}

Operation pooling(PoolingMethod method, Precision precision)
{
	const Cubes cubes = { 112, 112, 64, precision };
	PdpOp op;

	op.method = method;
	op.precision = precision;
	op.inWidth = op.inHeight = cubes.width;
	op.outWidth = op.outHeight = cubes.width / 2;
	op.channels = cubes.channels;
	op.kernelWidth = op.kernelHeight = 3;
	op.strideX = op.strideY = 2;
	op.padLeft = op.padTop = 1;
	/* Of FP17 a third. */
	op.recipWidth = op.recipHeight = precision == Precision::Fp16 ? 0x7555 : (1 << 16) / 3;
	op.source = { RamType::Mc, 0, cubes.line(), cubes.surface() };
	op.destination = { RamType::Mc, cubes.out(), cubes.line() / 2, cubes.surface() / 4 };
	return { method == PoolingMethod::Max ? "maximum of 3x3" : "average of 3x3", cubes,
		 [op](MemoryPort &port) { return runPdp(op, port); } };
}

Operation maximum(Precision precision)
{
	return pooling(PoolingMethod::Max, precision);
}

Operation average(Precision precision)
{
	return pooling(PoolingMethod::Average, precision);
}

/* By what is elements' sum of squares, as far as it goes. */
constexpr double (*kFactors[])(double) = {
	[](double sum) { return std::pow(1 + sum * 0x1p-15, -0.75); },
	[](double sum) { return std::pow(1 + sum * 0x1p-31, -0.75); },
	[](double sum) { return std::pow(1 + sum * 0x1p-13, -0.75); },
};

/* Local response normalization over five channels. */
Operation normalization(Precision precision)
{
	const Cubes cubes = { 28, 28, 192, precision };
	CdpOp op;

	op.width = cubes.width;
	op.height = cubes.height;
	op.channels = cubes.channels;
	op.radius = 2;
	op.precision = precision;
	op.source = { RamType::Mc, 0, cubes.line(), cubes.surface() };
	op.destination = { RamType::Mc, cubes.out(), cubes.line(), cubes.surface() };
	op.output = { .offset = 0, .scale = 77, .shift = 22 };
	op.lut = { .le = { .indexSelect = 11, .start = 0, .end = 1 << 17 },
		   .lo = { .indexSelect = 4, .start = 0, .end = 1 << 12 } };
	if (precision == Precision::Int16)
		op.lut.le.indexSelect = 28;
	if (precision == Precision::Fp16) /* FP32 bits of 65536 and 4096 */
		op.lut = { .le = { .indexSelect = 10, .start = 0, .end = 0x47800000 },
			   .lo = { .indexSelect = 4, .start = 0, .end = 0x45800000 } };
	const LutTables tables = tablesOf(op.lut, precision, kFactors[static_cast<int>(precision)]);
	return { "normalization", cubes,
		 [op, tables](MemoryPort &port) { return runCdp(op, tables, port); } };
}

Operation copying()
{
	const Cubes cubes = { 56, 56, 256, Precision::Int8 };
	BdmaOp op = {};

	op.srcType = op.dstType = RamType::Mc;
	op.dst = cubes.out();
	op.lineBytes = op.srcLineStride = op.dstLineStride = cubes.line();
	op.lines = cubes.height;
	op.surfaces = 8;
	op.srcSurfaceStride = op.dstSurfaceStride = cubes.surface();
	return { "BDMA", cubes, [op](MemoryPort &port) { return sim::run(op, port); } };
}

Operation rubik(const char *name, RubikMode mode)
{
	const Cubes cubes = { 64, 56, 256, Precision::Int8 };
	const bool merges = mode == RubikMode::Merge;
	const uint32_t planeLine = 64;
	RubikOp op = {};

	op.mode = mode;
	op.srcType = op.dstType = RamType::Mc;
	op.width = cubes.width;
	op.height = cubes.height;
	op.channels = op.outChannels = cubes.channels;
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
	return { name, cubes, [op](MemoryPort &port) { return sim::run(op, port); } };
}

std::vector<Operation> allOperations()
{
	std::vector<Operation> all;
	const auto add = [&](Operation (*make)(Precision), bool floats = true) {
		all.push_back(make(Precision::Int8));
		all.push_back(make(Precision::Int16));
		if (floats)
			all.push_back(make(Precision::Fp16));
	};

	add(sum);
	add(scaledSum, false);
	add(table);
	add(maximum);
	add(average);
	add(normalization);
	all.push_back(copying());
	all.push_back(rubik("RUBIK, contraction", RubikMode::Contract));
	all.push_back(rubik("RUBIK, split", RubikMode::Split));
	all.push_back(rubik("RUBIK, merge", RubikMode::Merge));
	return all;
}

/** \brief Memories with the same cubes, which an operation works on in turns */
class Memories
{
public:
	Memories(const Operation &operation, size_t count) : operation_(operation), cvsram_(0, 1)
	{
		const std::vector<std::byte> elements = randomElements(operation.cubes);

		for (size_t i = 0; i < count; i++) {
			all_.push_back(std::make_unique<RamMemory>(0, elements.size()));
			all_.back()->write(0, elements);
		}
	}

	/** \return bytes that were read and written */
	uint64_t runNext()
	{
		MemoryPort port(*all_[next_], cvsram_);
		const OperationResult result = operation_.run(port);

		if (result.hangs || port.faulted() || !result.guestError.empty()) {
			std::fprintf(stderr, "datapath-bench: %s: %s\n", operation_.name,
				     result.guestError.c_str());
			std::exit(1);
		}
		next_ = (next_ + 1) % all_.size();
		const Traffic &traffic = port.traffic(RamType::Mc);
		return traffic.readBytes + traffic.writeBytes;
	}

private:
	const Operation &operation_;
	std::vector<std::unique_ptr<RamMemory>> all_;
	RamMemory cvsram_;
	size_t next_ = 0;
};

/** \brief memcpy() of as many bytes as an operation reads and writes together */
class Copy
{
public:
	explicit Copy(uint64_t traffic) : from_(traffic / 2, std::byte{ 1 }), to_(traffic / 2) {}

	void run()
	{
		std::memcpy(to_.data(), from_.data(), from_.size());
		asm volatile("" : : "r"(to_.data()) : "memory");
	}

private:
	std::vector<std::byte> from_;
	std::vector<std::byte> to_;
};

/** Seconds of a call, which is made so often that a round takes some time */
template<typename Call>
double secondsOf(Call call)
{
	constexpr double kRound = 200e-6;

	for (unsigned int calls = 1;; calls *= 2) {
		const double start = processSeconds();
		for (unsigned int i = 0; i < calls; i++)
			call();
		const double took = processSeconds() - start;
		if (took >= kRound)
			return took / calls;
	}
}

/** What moving as many bytes takes */
struct Times {
	double bytes; /* that memcpy() copies */
	double operation = 1e9;
	double copy = 1e9;

	void print() const
	{
		std::printf(" %.1f | %.1f | %.2f |", bytes / operation / 1e9, bytes / copy / 1e9,
			    copy / operation);
	}
};

Times measure(const Operation &operation, size_t count, unsigned int rounds)
{
	Memories memories(operation, count);
	uint64_t traffic = 0;
	for (size_t i = 0; i < count; i++)
		traffic += memories.runNext();
	Copy copy(traffic);
	Times times = { static_cast<double>(traffic) / 2 };

	for (unsigned int round = 0; round < rounds; round++) {
		times.operation = std::min(times.operation, secondsOf([&] {
						   for (size_t i = 0; i < count; i++)
							   memories.runNext();
					   }));
		times.copy = std::min(times.copy, secondsOf([&] { copy.run(); }));
	}
	return times;
}

/** \return bytes of which hardly any is in a cache when all were used since */
size_t farBytes()
{
	constexpr long kLeast = 32 << 20;
	constexpr long kMost = 128 << 20; /* what a guest is told may be another machine's */

	return static_cast<size_t>(4 * std::clamp(sysconf(_SC_LEVEL3_CACHE_SIZE), kLeast, kMost));
}

void printLine(const Operation &operation, unsigned int rounds)
{
	const uint64_t traffic = Memories(operation, 1).runNext();
	const Times near = measure(operation, 1, rounds);
	const Times far = measure(operation, farBytes() / traffic + 1, (rounds + 3) / 4);

	std::printf("| %s | %s | %.0f | %.1f |", operation.name,
		    kPrecisions[static_cast<int>(operation.cubes.precision)], near.bytes / 1e3,
		    near.operation * 1e6);
	near.print();
	far.print();
	std::printf("\n");
	std::fflush(stdout);
}

} /* namespace */

} /* namespace nvdla::bench */

int main(int argc, char **argv)
{
	using namespace nvdla::bench;

	unsigned int rounds = 20;
	std::string part;
	nvdla::CommandLine app(
		"Measures operations of the device model (an NVDLA in software) that move more "
		"than they compute and, for comparison, a memcpy(). Prints a Markdown table.",
		"datapath-bench", "datapath-bench");
	app.option("--rounds", rounds, "run each operation N times; the best time is printed")
		.range(1u, 100000u)
		.showDefault();
	app.option("--operation", part, "measure only operations with TEXT in their names")
		.valueText("TEXT");
	if (const auto code = app.parse(argc, argv))
		return *code;

	std::printf(
		"| operation | precision | KB | us | GB/s | memcpy() | ratio | from memory, GB/s | "
		"memcpy() | ratio |\n"
		"|---|---|---|---|---|---|---|---|---|---|\n");
	for (const Operation &operation : allOperations())
		if (std::string_view(operation.name).find(part) != std::string_view::npos)
			printLine(operation, rounds);
	return 0;
}
