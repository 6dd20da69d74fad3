/* SPDX-License-Identifier: MIT */
#include "sdp/sdp_stream.h"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "arith/float.h"
#include "arith/integer.h"
#include "core/elements.h"
#include "each_target.h"
#include "sdp_test_support.h"
#include "timing/operation_timing.h"

using namespace nvdla::sim;
using namespace nvdla::sim::test;
using nvdla::test::forEachTarget;

namespace
{

const LutTables tables;

std::vector<int32_t> counting(size_t count, int32_t first = 0)
{
	std::vector<int32_t> values(count);

	std::iota(values.begin(), values.end(), first);
	return values;
}

SdpStage aluFromMemory(bool perElement, bool twoBytes)
{
	SdpStage stage;

	stage.bypass = false;
	stage.algorithm = SdpAlu::Sum;
	stage.alu = { .bypass = false, .fromMemory = true };
	stage.read = { .enabled = true,
		       .alu = true,
		       .twoBytes = twoBytes,
		       .perElement = perElement,
		       .cube = { .address = SdpBench::operandAddress } };
	return stage;
}

struct Recorder : AtomSink {
	void push(const AtomRun &run) override
	{
		std::vector<int32_t> values(run.atoms.size() / elementBytes(run.precision));
		widenElements(run.atoms, run.precision, values);
		surfaces.push_back(run.surface);
		columns.push_back(run.x);
		data.insert(data.end(), values.begin(), values.end());
	}

	std::vector<uint32_t> surfaces;
	std::vector<uint32_t> columns;
	std::vector<int32_t> data;
};

/* What goes to PDP, packed as it would be in memory. */
struct PooledCube : AtomSink {
	explicit PooledCube(const SdpOp &op)
		: op_(op), values(size_t{ op.width } * op.height * op.channels)
	{
	}
	void push(const AtomRun &run) override
	{
		const size_t lanes = atomChannels(run.precision);
		const size_t atom =
			(size_t{ run.surface } * op_.height + run.y) * op_.width + run.x;

		ASSERT_EQ(run.precision, op_.out);
		ASSERT_LE(run.x + run.width(), op_.width);
		widenElements(run.atoms, run.precision,
			      std::span(values).subspan(atom * lanes, run.width() * lanes));
	}

	const SdpOp &op_;
	std::vector<int32_t> values;
};

/* Feeds the whole cube, surface by surface and line by line, all values the same. */
void feed(SdpStream &stream, const SdpOp &op, int32_t value)
{
	const std::vector<int32_t> data(size_t{ op.width } * atomChannels(op.proc), value);

	for (uint32_t surface = 0; surface < op.surfaces(); surface++)
		for (uint32_t y = 0; y < op.height; y++)
			for (uint32_t batch = 0; batch < op.batches; batch++)
				stream.push({ batch, surface, y, 0, op.width, data });
}

} /* namespace */

TEST(SdpRun, PassesACubeThrough)
{
	for (const Precision precision : { Precision::Int8, Precision::Int16, Precision::Fp16 }) {
		SdpBench bench;
		const SdpOp op = SdpBench::passThrough(precision, 3, 2, 40);
		const size_t count = size_t{ op.surfaces() } * 3 * 2 * atomChannels(precision);
		const std::vector<int32_t> data = counting(count, 5);
		bench.store(SdpBench::sourceAddress, precision, data);
		MemoryPort port = bench.port();
		const OperationResult result = runSdp(op, {}, port);

		EXPECT_EQ(result.guestError, "");
		EXPECT_FALSE(result.hangs);
		EXPECT_TRUE(result.work.sdp);
		const std::vector<int32_t> expected =
			precision == Precision::Int8
				? bench.load(SdpBench::sourceAddress, precision, count)
				: data;
		EXPECT_EQ(bench.load(SdpBench::destinationAddress, precision, count), expected);
		EXPECT_EQ(updateOf(result, NVDLA_SDP_D_STATUS), 1u);
	}
}

TEST(SdpRun, StatusTellsZeroOutput)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int16, 2, 2, 16);
	MemoryPort port = bench.port();
	EXPECT_EQ(updateOf(runSdp(op, {}, port), NVDLA_SDP_D_STATUS), 0u);
	op.converter.offset = 1;
	MemoryPort second = bench.port();
	EXPECT_EQ(updateOf(runSdp(op, {}, second), NVDLA_SDP_D_STATUS), 1u);
}

uint64_t cyclesOf(const SdpOp &op)
{
	return timeOperation({ .sdp = sdpWork(op) }, {}).cycles;
}

TEST(SdpRun, TimeFollowsTheSlowestPart)
{
	SdpOp op = SdpBench::passThrough(Precision::Int16, 64, 1, 16);
	const uint64_t through = cyclesOf(op);
	op.y.bypass = false;
	EXPECT_GE(cyclesOf(op), through + 64 * 3) << "Y takes four elements a cycle, X sixteen";

	/* One atom per line: each write takes its word and the way there. */
	op = SdpBench::passThrough(Precision::Int16, 1, 64, 16);
	EXPECT_EQ(cyclesOf(op), through + 64 * 2);
}

/* On a line, and with PReLU, which is none. */
TEST(SdpRun, LinesLongerThanAChunk)
{
	constexpr uint32_t width = 2500, lanes = 16, bytes = width * 32;
	const std::vector<int32_t> data = counting(size_t{ width } * lanes, -20000);

	for (const bool prelu : { false, true }) {
		ElementMemories memories(0, size_t{ 3 } * bytes);
		SdpOp op = SdpBench::passThrough(Precision::Int16, width, 1, lanes);
		op.source.address = 0;
		op.destination.address = 2 * bytes;
		op.x1 = aluFromMemory(true, true);
		op.x1.read.cube = { .address = bytes, .lineStride = bytes };
		op.x1.mul = { .bypass = !prelu, .value = -1 };
		op.x1.prelu = prelu;
		memories.store(0, Precision::Int16, data);
		memories.store(bytes, Precision::Int16, data);
		MemoryPort port = memories.port();
		EXPECT_FALSE(runSdp(op, {}, port).hangs);
		EXPECT_EQ(port.traffic(RamType::Mc).readBytes, 2 * bytes);
		const std::vector<int32_t> out =
			memories.load(2 * bytes, Precision::Int16, data.size());
		for (size_t i = 0; i < out.size(); i++) {
			const int32_t sum = 2 * data[i];
			ASSERT_EQ(out[i], arith::saturate<16>(prelu ? std::abs(sum) : sum)) << i;
		}
	}
}

TEST(SdpRun, Int16ToInt8TakesTwoSurfaces)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int8, 2, 1, 32);
	op.in = Precision::Int16;
	bench.store(SdpBench::sourceAddress, Precision::Int16, counting(64));
	MemoryPort port = bench.port();
	runSdp(op, {}, port);
	const std::vector<int32_t> out =
		bench.load(SdpBench::destinationAddress, Precision::Int8, 64);

	/* First position: channels 0..15 of its first surface, then those of the second. */
	EXPECT_EQ(out[0], 0);
	EXPECT_EQ(out[15], 15);
	EXPECT_EQ(out[16], 32);
	EXPECT_EQ(out[32], 16);
	EXPECT_EQ(out[48], 48);
}

TEST(SdpRun, Int8ToInt16MakesTwoSurfaces)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int8, 2, 1, 8);
	op.out = Precision::Int16;
	bench.store(SdpBench::sourceAddress, Precision::Int8, counting(64));
	MemoryPort port = bench.port();
	runSdp(op, {}, port);
	const std::vector<int32_t> out =
		bench.load(SdpBench::destinationAddress, Precision::Int16, 64);

	EXPECT_EQ(out[16], 32) << "second position, channel 0";
	EXPECT_EQ(out[32], 16) << "first position, channel 16: written though beyond the cube";
}

TEST(SdpRun, PerKernelOperandsRepeat)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int16, 2, 2, 32);
	op.x1 = aluFromMemory(false, true);
	op.x1.aluShift = 1;
	bench.store(SdpBench::operandAddress, Precision::Int16, counting(32));
	MemoryPort port = bench.port();
	runSdp(op, {}, port);
	const std::vector<int32_t> out =
		bench.load(SdpBench::destinationAddress, Precision::Int16, 128);

	for (size_t i = 0; i < out.size(); i++)
		ASSERT_EQ(out[i], static_cast<int32_t>(2 * (i / 64 * 16 + i % 16))) << i;
}

TEST(SdpRun, PerElementOperandsFollowTheirStrides)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int8, 2, 2, 32);
	op.x2 = aluFromMemory(true, true);
	op.x2.read.cube.lineStride = 192;
	bench.store(SdpBench::operandAddress, Precision::Int16, counting(192));
	MemoryPort port = bench.port();
	runSdp(op, {}, port);
	const std::vector<int32_t> out =
		bench.load(SdpBench::destinationAddress, Precision::Int8, 128);

	EXPECT_EQ(out[33], 33);
	EXPECT_EQ(out[64], 96) << "second line";
	EXPECT_EQ(out[96 + 31], 127) << "clipped from 159";
}

TEST(SdpRun, PerElementOperandsAreShifted)
{
	/* Zeros come in, so the operand goes out, shifted there and back. */
	const std::vector<int32_t> zeros(16, 0),
		operands = { INT16_MIN, INT16_MAX, -1, 0, 1,	  -257,	 1000, -16384,
			     7,		-4096,	   99, 5, -30000, 30000, 2,    -2 };
	for (const uint8_t shift : { 1, 8, 16, 17, 30 }) {
		SdpBench bench;
		SdpOp op = SdpBench::passThrough(Precision::Int16, 1, 1, 16);
		op.x1 = aluFromMemory(true, true);
		op.x1.aluShift = shift;
		op.converter.shift = shift;
		bench.store(SdpBench::sourceAddress, Precision::Int16, zeros);
		bench.store(SdpBench::operandAddress, Precision::Int16, operands);
		MemoryPort port = bench.port();
		runSdp(op, {}, port);
		const std::vector<int32_t> out =
			bench.load(SdpBench::destinationAddress, Precision::Int16, 16);
		for (size_t i = 0; i < out.size(); i++) {
			const int64_t there = arith::shiftLeftSaturate<32>(operands[i], shift);
			EXPECT_EQ(out[i], arith::saturate<16>(arith::shiftRightRound(there, shift)))
				<< operands[i] << " by " << int{ shift };
		}
	}
}

TEST(SdpRun, AluAndMultiplierOperandsInterleave)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int8, 1, 1, 32);
	op.x1 = aluFromMemory(false, false);
	op.x1.mul = { .bypass = false, .fromMemory = true };
	op.x1.read.mul = true;
	std::vector<int32_t> operands;
	for (int32_t channel = 0; channel < 32; channel++) {
		operands.push_back(channel);
		operands.push_back(channel % 2 ? -1 : 2);
	}
	bench.store(SdpBench::operandAddress, Precision::Int8, operands);
	MemoryPort port = bench.port();
	runSdp(op, {}, port);
	const std::vector<int32_t> out =
		bench.load(SdpBench::destinationAddress, Precision::Int8, 32);

	EXPECT_EQ(out[7], -7);
	EXPECT_EQ(out[8], 16);
}

TEST(SdpRun, YConvertsOperandsFromMemoryOnly)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int16, 1, 1, 16);
	op.y = aluFromMemory(false, true);
	op.y.alu.converterBypass = false;
	op.y.alu.converter = { .offset = 1, .scale = 10, .shift = 0 };
	op.y.mul = { .bypass = false, .value = 3, .converterBypass = false };
	bench.store(SdpBench::sourceAddress, Precision::Int16, std::vector<int32_t>(16, 2));
	bench.store(SdpBench::operandAddress, Precision::Int16, counting(16));
	MemoryPort port = bench.port();
	runSdp(op, {}, port);

	EXPECT_EQ(bench.load(SdpBench::destinationAddress, Precision::Int16, 3),
		  (std::vector<int32_t>{ 6 - 10, 6, 6 + 10 }));
}

/* Lines that are packed in all cubes are worked on as one, bytes and operands where they are. */
TEST(SdpRun, PackedLinesAreAsOthers)
{
	constexpr uint32_t width = 3, height = 50, channels = 40, padded = 5;
	std::vector<int32_t> results[2];

	for (const bool packed : { false, true }) {
		RamMemory dram(0, 1 << 16), cvsram(0, 32);
		SdpOp op = SdpBench::passThrough(Precision::Int8, width, height, channels);
		const uint32_t line = (packed ? width : padded) * 32, surface = line * height;
		op.source = { .address = 0, .lineStride = line, .surfaceStride = surface };
		op.x1 = aluFromMemory(true, false);
		op.x1.read.cube = { .address = 2 * surface,
				    .lineStride = line,
				    .surfaceStride = surface };
		op.destination = { .address = 4 * surface,
				   .lineStride = line,
				   .surfaceStride = surface };
		op.converter = { .offset = 5, .scale = 3, .shift = 2 };
		for (uint32_t y = 0; y < 4 * height; y++) {
			std::vector<std::byte> bytes(size_t{ width } * 32);
			for (size_t i = 0; i < bytes.size(); i++)
				bytes[i] = static_cast<std::byte>((y * 37 + i) * 11 >> 2);
			dram.write(y * line, bytes);
		}
		MemoryPort port(dram, cvsram);
		const OperationResult result = runSdp(op, {}, port);

		EXPECT_FALSE(result.hangs);
		EXPECT_FALSE(port.faulted());
		EXPECT_EQ(port.traffic(RamType::Mc).readBytes, 4 * height * width * 32);
		EXPECT_EQ(result.work.sdp->writeLines, 2 * height);
		for (uint32_t y = 4 * height; y < 6 * height; y++) {
			std::vector<std::byte> bytes(size_t{ width } * 32);
			dram.read(y * line, bytes);
			for (const std::byte byte : bytes)
				results[packed].push_back(static_cast<int8_t>(byte));
		}
	}
	EXPECT_EQ(results[0], results[1]);
}

/* Also where fast ways give up in their midst, as numbers saturate, and others read input again. */
TEST(SdpRun, OverlappingCubesAreAsCopied)
{
	constexpr uint32_t seed = 815, width = 40, height = 20, channels = 32,
			   surface = width * height * 32;
	std::mt19937 engine(seed);

	std::printf("seed %u\n", seed);
	for (const Precision precision : { Precision::Int8, Precision::Int16, Precision::Fp16 }) {
		for (const uint32_t at : { 0, 32, 64, 320, 9600 }) {
			for (const bool behind : { false, true }) {
				std::vector<std::byte> bytes(8 * surface);
				for (std::byte &byte : bytes)
					byte = static_cast<std::byte>(engine());
				SdpOp op =
					SdpBench::passThrough(precision, width, height, channels);
				op.source.address = 2 * surface;
				op.destination.address = (behind ? 2 : 4) * surface + at;
				op.x1 = aluFromMemory(true, precision != Precision::Int8);
				op.x1.read.cube = { .address = 4 * surface,
						    .lineStride = width * 32,
						    .surfaceStride = surface };
				op.converter = { .offset = 5, .scale = 3, .shift = 1 };
				RamMemory ram(0, bytes.size()), cvsram(0, 32);
				HiddenMemory hidden(0, bytes.size());
				for (RamMemory *memory :
				     { &ram, static_cast<RamMemory *>(&hidden) }) {
					memory->write(0, bytes);
					MemoryPort port(*memory, cvsram);
					runSdp(op, {}, port);
					EXPECT_FALSE(port.faulted());
				}
				std::vector<std::byte> results[2] = { bytes, bytes };
				ram.read(0, results[0]);
				hidden.read(0, results[1]);
				EXPECT_EQ(results[0], results[1]) << at;
			}
		}
	}
}

/** \brief Stages with a table, at random */
class RandomTables
{
public:
	explicit RandomTables(uint32_t seed) : engine_(seed) {}

	int32_t number(int32_t low, int32_t high)
	{
		return std::uniform_int_distribution<int32_t>(low, high)(engine_);
	}

	/** \param finite as FP16 */
	LutTables entries(bool finite = false)
	{
		LutTables tables;
		const auto draw = [&] {
			const auto entry = static_cast<uint16_t>(number(INT16_MIN, INT16_MAX));
			return static_cast<int16_t>(finite ? entry & ~0x4000 : entry);
		};

		std::ranges::generate(tables.le, draw);
		std::ranges::generate(tables.lo, draw);
		return tables;
	}

	/** Of \a op all but its cubes */
	void registers(SdpOp &op)
	{
		const bool isFloat = op.proc == Precision::Fp16;

		op.x1 = { .bypass = false, .alu = operand(100), .mul = operand(3) };
		op.x1.algorithm = static_cast<SdpAlu>(number(0, 2));
		op.y = { .bypass = false, .mul = operand(5), .mulShift = 1, .lutBypass = false };
		if (isFloat) {
			for (SdpOperand *x : { &op.x1.alu, &op.x1.mul })
				x->value = arith::fp32ToFp16(bitsOf(x->value));
			op.y.mul.value = static_cast<int32_t>(bitsOf(op.y.mul.value));
		}
		op.nanToZero = number(0, 1) == 1;
		op.lut = { .le = half(op.proc),
			   .lo = half(op.proc),
			   .hybridSelectsLo = number(0, 1) == 1 };
		op.lut.le.exponential = number(0, 3) == 0;
		op.converter = { .offset = number(-9, 9),
				 .scale = static_cast<int16_t>(number(-9, 9)),
				 .shift = static_cast<uint8_t>(number(0, 9)) };
	}

private:
	static uint32_t bitsOf(int32_t number)
	{
		return std::bit_cast<uint32_t>(static_cast<float>(number));
	}

	SdpOperand operand(int32_t limit)
	{
		return { .bypass = number(0, 1) == 0, .value = number(-limit, limit) };
	}

	LutTableConfig half(Precision precision)
	{
		const int32_t wide = precision == Precision::Int16 ? 8 : 0; /* more bits */
		const int32_t start = number(-200, 0) * (1 << wide);
		const int32_t end = number(0, 200) * (1 << wide);
		const bool isFloat = precision == Precision::Fp16;

		return { .indexSelect = static_cast<int8_t>(number(-1, 3) + wide),
			 .start = isFloat ? int64_t{ bitsOf(start) } : start,
			 .end = isFloat ? int64_t{ bitsOf(end) } : end,
			 .underflow = { .scale = static_cast<int16_t>(number(-9, 9)), .shift = 2 },
			 .overflow = { .scale = static_cast<int16_t>(number(-9, 9)), .shift = 1 } };
	}

	std::mt19937 engine_;
};

/** What an operation makes of elements, where somebody counts and where nobody does, is the same */
void expectTablesAsOthers(SdpOp op, const LutTables &tables, const std::vector<int32_t> &elements)
{
	const uint64_t size = elements.size() * elementBytes(op.proc);
	ElementMemories memories(0, 2 * size);
	std::vector<int32_t> results[2];
	uint32_t status[2];

	op.source.address = 0;
	op.destination.address = size;
	memories.store(0, op.proc, elements);
	for (const bool counts : { true, false }) {
		op.countsLut = counts;
		forEachTarget([&] {
			MemoryPort port = memories.port();
			status[counts] = updateOf(runSdp(op, tables, port), NVDLA_SDP_D_STATUS);
			results[counts] = memories.load(size, op.proc, elements.size());
			EXPECT_TRUE(results[counts] == results[1]);
			EXPECT_EQ(status[counts], status[1]);
		});
	}
}

/* Where nobody counts, what becomes of each number is computed once. */
TEST(SdpRun, TablesOfBytesAreAsOthers)
{
	constexpr uint32_t seed = 4711, width = 5, height = 9;
	RandomTables random(seed);

	std::printf("seed %u\n", seed);
	for (int round = 0; round < 50; round++) {
		SdpOp op = SdpBench::passThrough(Precision::Int8, width, height, 40);
		std::vector<int32_t> elements(size_t{ width } * height * 64);
		for (int32_t &element : elements)
			element = round ? random.number(INT8_MIN, INT8_MAX) : 0;
		random.registers(op);
		expectTablesAsOthers(op, random.entries(), elements);
	}
}

/* All numbers there are, and as many again, which makes a table worth it. */
TEST(SdpRun, TablesOfWordsAreAsOthers)
{
	constexpr uint32_t seed = 1147, width = 91, height = 91, lanes = 16;
	RandomTables random(seed);

	std::printf("seed %u\n", seed);
	for (const Precision precision : { Precision::Int16, Precision::Fp16 }) {
		for (int round = 0; round < 6; round++) {
			SdpOp op = SdpBench::passThrough(precision, width, height, lanes);
			std::vector<int32_t> elements(size_t{ width } * height * lanes);
			for (size_t i = 0; i < elements.size(); i++)
				elements[i] = static_cast<int32_t>(round ? i : 0);
			random.registers(op);
			expectTablesAsOthers(op, random.entries(round % 2 == 1), elements);
		}
	}
}

TEST(SdpRun, NanFlush)
{
	for (const bool flush : { false, true }) {
		SdpBench bench;
		SdpOp op = SdpBench::passThrough(Precision::Fp16, 1, 1, 16);
		op.nanToZero = flush;
		op.countsInputNan = op.countsOutputNan = true;
		std::vector<int32_t> data(16, 0x3c00);
		data[1] = 0x7c05;
		data[2] = 0x7c00;
		bench.store(SdpBench::sourceAddress, Precision::Fp16, data);
		MemoryPort port = bench.port();
		const OperationResult result = runSdp(op, {}, port);

		EXPECT_EQ(bench.load(SdpBench::destinationAddress, Precision::Fp16, 3),
			  (std::vector<int32_t>{ 0x3c00, flush ? 0 : 0x7c05, 0x7bff }));
		EXPECT_EQ(updateOf(result, NVDLA_SDP_RDMA_D_STATUS_NAN_INPUT_NUM), 1u);
		EXPECT_EQ(updateOf(result, NVDLA_SDP_RDMA_D_STATUS_INF_INPUT_NUM), 1u);
		EXPECT_EQ(updateOf(result, NVDLA_SDP_D_STATUS_NAN_OUTPUT_NUM), flush ? 0u : 1u);
	}
}

TEST(SdpRun, ComparisonWritesNothing)
{
	for (const bool same : { false, true }) {
		SdpBench bench;
		SdpOp op = SdpBench::passThrough(Precision::Int8, 2, 1, 32);
		op.y = aluFromMemory(true, false);
		op.y.algorithm = SdpAlu::Equal;
		bench.store(SdpBench::sourceAddress, Precision::Int8, counting(64));
		std::vector<int32_t> other = counting(64);
		other[63] += same ? 0 : 1;
		bench.store(SdpBench::operandAddress, Precision::Int8, other);
		bench.store(SdpBench::destinationAddress, Precision::Int8, { 7 });
		MemoryPort port = bench.port();
		const OperationResult result = runSdp(op, {}, port);

		EXPECT_EQ(updateOf(result, NVDLA_SDP_D_STATUS), same ? 0u : 1u);
		EXPECT_EQ(bench.load(SdpBench::destinationAddress, Precision::Int8, 1)[0], 7);
	}
}

TEST(SdpRun, CountersAreZeroWhenTheyAreOff)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int16, 1, 1, 16);
	op.converter.scale = INT16_MAX;
	bench.store(SdpBench::sourceAddress, Precision::Int16, counting(16, 100));

	for (const bool on : { false, true }) {
		op.countsSaturation = op.countsLut = on;
		op.y.bypass = op.y.lutBypass = true;
		MemoryPort port = bench.port();
		EXPECT_EQ(updateOf(runSdp(op, {}, port), NVDLA_SDP_D_PERF_OUT_SATURATION),
			  on ? 16u : 0u);

		/* LO starts at 0 with steps of 1; LE ends before the values. */
		op.y.bypass = op.y.lutBypass = false;
		MemoryPort second = bench.port();
		EXPECT_EQ(updateOf(runSdp(op, {}, second), NVDLA_SDP_D_PERF_LUT_LO_HIT),
			  on ? 16u : 0u);
	}
}

TEST(SdpRun, AccessOutsideMemoryIsAFault)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int8, 2, 1, 32);
	op.destination.address = 0x12345600;
	MemoryPort port = bench.port();

	EXPECT_FALSE(runSdp(op, {}, port).hangs);
	EXPECT_TRUE(port.faulted());
	EXPECT_EQ(port.faultAddress(), 0x12345600u);
}

TEST(SdpRun, StopsWhenCancelled)
{
	SdpBench bench;
	const SdpOp op = SdpBench::passThrough(Precision::Int8, 8192, 8192, 8192);
	const std::atomic<bool> cancel = true;
	MemoryPort port = bench.port(&cancel);

	EXPECT_TRUE(runSdp(op, {}, port).hangs);
	EXPECT_EQ(port.traffic(RamType::Mc).writeBytes, 0u);
}

TEST(SdpStream, BatchesGoToTheirOwnCubes)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int16, 2, 2, 16);
	op.flying = true;
	op.batches = 3;
	op.destination.batchStride = 0x400;
	MemoryPort port = bench.port();
	SdpStream stream(op, tables, port);
	feed(stream, op, 9);
	const OperationResult result = stream.finish();

	EXPECT_FALSE(result.hangs);
	EXPECT_EQ(result.guestError, "");
	EXPECT_EQ(updateOf(result, NVDLA_SDP_RDMA_D_STATUS_NAN_INPUT_NUM), UINT32_MAX)
		<< "SDP_RDMA takes no part";
	for (uint64_t batch = 0; batch < 3; batch++)
		EXPECT_EQ(bench.load(SdpBench::destinationAddress + batch * 0x400, Precision::Int16,
				     64),
			  std::vector<int32_t>(64, 9));
}

/* Whole lines at once, whether they lie behind one another in memory or not, or go to PDP. */
TEST(SdpStream, LinesTogetherAreAsLineByLine)
{
	constexpr uint32_t width = 7, height = 45, channels = 40;

	for (const bool perElement : { false, true }) {
		for (const uint32_t gap : { 0, 64 }) {
			for (const bool toPdp : { false, true }) {
				std::vector<std::byte> written[2];
				Recorder recorded[2];

				for (const uint32_t together : { 1, 15 }) {
					RamMemory dram(0, 1 << 16), cvsram(0, 32);
					SdpOp op = SdpBench::passThrough(Precision::Int8, width,
									 height, channels);
					op.destination.address = 0;
					op.destination.lineStride = width * 32 + gap;
					op.destination.surfaceStride =
						height * op.destination.lineStride;
					op.x1 = aluFromMemory(perElement, false);
					op.x1.read.cube = op.destination;
					op.flying = true;
					op.toPdp = toPdp;
					std::vector<std::byte> bytes(1 << 16);
					for (size_t i = 0; i < bytes.size(); i++)
						bytes[i] = static_cast<std::byte>(i * 11 >> 2);
					dram.write(0, bytes);

					MemoryPort port(dram, cvsram);
					const size_t which = together > 1;
					SdpStream stream(op, tables, port, &recorded[which]);
					const std::vector<int32_t> all =
						counting(size_t{ 2 } * height * width * 32, -999);
					for (uint32_t y = 0; y < 2 * height; y += together)
						stream.pushLines({ 0, y / height, y % height, 0,
								   width,
								   std::span(all).subspan(
									   size_t{ y } * width * 32,
									   size_t{ together } *
										   width * 32) },
								 together);
					EXPECT_EQ(stream.finish().guestError, "");
					dram.read(0, bytes);
					written[which] = bytes;
				}
				EXPECT_TRUE(written[0] == written[1]);
				EXPECT_EQ(recorded[0].columns, recorded[1].columns);
			}
		}
	}
}

namespace
{

/** Any stage with operands from memory or registers, those of elements packed */
SdpStage anyStage(std::mt19937 &random, Precision precision, uint64_t address, bool isY)
{
	const auto draw = [&](int last) { return static_cast<int>(random() % (last + 1)); };
	SdpStage stage;

	stage.bypass = draw(3) == 0;
	stage.algorithm = static_cast<SdpAlu>(draw(2));
	stage.alu.bypass = draw(3) == 0;
	stage.mul.bypass = draw(1) == 0;
	stage.alu.fromMemory = draw(2) != 0;
	stage.mul.fromMemory = draw(2) != 0;
	stage.alu.value = draw(2000) - 1000;
	stage.mul.value = draw(200) - 100;
	stage.prelu = draw(3) == 0;
	stage.reluBypass = isY || draw(1);
	stage.aluShift = static_cast<uint8_t>(isY ? 0 : draw(4));
	stage.mulShift = static_cast<uint16_t>(draw(8));
	if (isY && draw(1)) {
		stage.alu.converterBypass = false;
		stage.alu.converter = { .offset = draw(20), .scale = 3, .shift = 1 };
	}
	stage.read = { .enabled = true,
		       .alu = stage.readsAlu(),
		       .mul = stage.readsMul(),
		       .twoBytes = draw(1) != 0,
		       .perElement = draw(1) != 0,
		       .cube = { .address = address } };
	stage.read.cube.surfaceStride = atomChannels(precision) * stage.read.elementBytes();
	return stage;
}

} /* namespace */

/* Where surfaces are not behind one another in memory, each is worked on by itself. */
TEST(SdpStream, SurfacesOfOnePositionAreAsOneByOne)
{
	constexpr uint64_t kOperands = 1 << 16, kOut = 1 << 18;
	constexpr uint32_t seed = 2811;
	std::mt19937 random(seed);

	std::printf("seed %u\n", seed);
	for (int round = 0; round < 80; round++) {
		const Precision precision = round % 2 ? Precision::Int8 : Precision::Int16;
		const uint32_t lanes = atomChannels(precision);
		SdpOp op = SdpBench::passThrough(precision, 1, 1, 1 + random() % (300 * lanes));
		op.flying = true;
		op.countsSaturation = true;
		op.converter = { .offset = 0, .scale = 5, .shift = 6 };
		op.x1 = anyStage(random, precision, 0, false);
		op.x2 = anyStage(random, precision, kOperands, false);
		op.y = anyStage(random, precision, 2 * kOperands, true);
		op.destination.address = kOut;

		std::vector<uint32_t> surfaces(op.surfaces());
		std::iota(surfaces.begin(), surfaces.end(), 0);
		if (round % 5 == 0)
			std::swap(surfaces.front(), surfaces.back());
		std::vector<int32_t> sums(size_t{ op.surfaces() } * lanes);
		for (int32_t &sum : sums)
			sum = static_cast<int32_t>(random() % 20000) - 10000;
		std::vector<std::byte> memory(kOut + surfaces.size() * 2 * atomBytes);
		for (std::byte &byte : memory)
			byte = static_cast<std::byte>(random());

		std::vector<std::vector<std::byte>> written[2];
		std::vector<RegisterUpdate> updates[2];
		for (const uint32_t step : { 1, 2 }) {
			RamMemory dram(0, memory.size()), cvsram(0, 32);
			dram.write(0, memory);
			MemoryPort port(dram, cvsram);
			op.destination.surfaceStride = step * atomBytes;
			SdpStream stream(op, tables, port);
			for (const uint32_t surface : surfaces)
				stream.push({ .batch = 0,
					      .surface = surface,
					      .y = 0,
					      .x = 0,
					      .width = 1,
					      .data = std::span(sums).subspan(
						      size_t{ surface } * lanes, lanes) });
			const OperationResult result = stream.finish();
			EXPECT_EQ(result.guestError, "");
			EXPECT_FALSE(result.hangs);
			EXPECT_EQ(port.traffic(RamType::Mc).writeBytes,
				  surfaces.size() * atomBytes);
			updates[step - 1] = result.updates;
			for (size_t i = 0; i < surfaces.size(); i++) {
				std::vector<std::byte> atom(atomBytes);
				dram.read(kOut + i * step * atomBytes, atom);
				written[step - 1].push_back(atom);
			}
		}
		ASSERT_EQ(written[0], written[1]) << round;
		ASSERT_EQ(updates[0].size(), updates[1].size());
		for (size_t i = 0; i < updates[0].size(); i++)
			EXPECT_EQ(updates[0][i].value, updates[1][i].value)
				<< round << ", update " << i;
	}
}

TEST(SdpStream, HandsOverToPdp)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int8, 300, 1, 64);
	op.flying = op.toPdp = true;
	MemoryPort port = bench.port();
	Recorder pdp;
	SdpStream stream(op, tables, port, &pdp);
	feed(stream, op, 1000);
	const OperationResult result = stream.finish();

	EXPECT_FALSE(result.hangs);
	EXPECT_EQ(updateOf(result, NVDLA_SDP_D_STATUS), 0u) << "nothing went to memory";
	EXPECT_EQ(pdp.data, std::vector<int32_t>(300 * 64, 127));
	EXPECT_EQ(pdp.surfaces.front(), 0u);
	EXPECT_EQ(pdp.surfaces.back(), 1u);
	EXPECT_EQ(pdp.columns[0], 0u);
	EXPECT_EQ(port.traffic(RamType::Mc).writeBytes, 0u);
}

/* PDP gets the bytes that memory would have, whatever way they are made, and so do the counters. */
TEST(SdpStream, HandsOverWhatMemoryWouldHave)
{
	constexpr uint32_t seed = 31, width = 9, height = 31, channels = 64;
	constexpr Precision precisions[] = { Precision::Int8, Precision::Int16, Precision::Fp16 };
	RandomTables random(seed);

	std::printf("seed %u\n", seed);
	for (int round = 0; round < 90; round++) {
		SCOPED_TRACE(testing::Message() << "round " << round);
		SdpOp op = SdpBench::passThrough(precisions[round % 3], width, height, channels);
		op.flying = true;
		op.countsSaturation = op.countsOutputNan = true;
		random.registers(op);
		op.y.lutBypass = random.number(0, 2) != 0;
		if (op.proc == Precision::Int8 && random.number(0, 3) == 0)
			op.out = Precision::Int16;
		const LutTables entries = random.entries();
		const size_t line = size_t{ width } * atomChannels(op.proc);
		std::vector<int32_t> data(line * height * op.surfaces());
		for (int32_t &value : data)
			value = op.proc == Precision::Fp16
					? std::bit_cast<int32_t>(random.number(-999, 999) / 16.0F)
					: random.number(-999, 999);
		const size_t size = size_t{ width } * height * channels * elementBytes(op.out);
		ASSERT_LE(size, 0x10000U);
		ElementMemories memories(0, 0x10000);
		op.destination.address = 0;
		forEachTarget([&] {
			PooledCube cube(op);
			OperationResult results[2];
			for (const bool toPdp : { false, true }) {
				MemoryPort port = memories.port();
				op.toPdp = toPdp;
				SdpStream stream(op, entries, port, &cube);
				for (uint32_t surface = 0; surface < op.surfaces(); surface++)
					stream.pushLines(
						{ 0, surface, 0, 0, width,
						  std::span(data).subspan(surface * line * height,
									  line * height) },
						height);
				results[toPdp] = stream.finish();
				EXPECT_FALSE(results[toPdp].hangs);
			}
			EXPECT_EQ(cube.values,
				  memories.load(0, op.out, size / elementBytes(op.out)));
			for (const uint32_t counter :
			     { NVDLA_SDP_D_PERF_OUT_SATURATION, NVDLA_SDP_D_STATUS_NAN_OUTPUT_NUM })
				EXPECT_EQ(updateOf(results[0], counter),
					  updateOf(results[1], counter));
			EXPECT_EQ(updateOf(results[1], NVDLA_SDP_D_STATUS), 0U);
		});
	}
}

TEST(SdpStream, SaysIfPdpIsMissing)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int8, 1, 1, 32);
	op.flying = op.toPdp = true;
	MemoryPort port = bench.port();
	SdpStream stream(op, tables, port);
	feed(stream, op, 1);

	EXPECT_NE(stream.finish().guestError, "");
}

TEST(SdpStream, WaitsForTheWholeCube)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int8, 2, 2, 32);
	op.flying = true;
	MemoryPort port = bench.port();
	SdpStream stream(op, tables, port);
	const std::vector<int32_t> line(64);
	stream.push({ .batch = 0, .surface = 0, .y = 0, .x = 0, .width = 2, .data = line });
	const OperationResult result = stream.finish();

	EXPECT_TRUE(result.hangs);
	EXPECT_NE(result.guestError, "");
}

TEST(SdpStream, RefusesWhatDoesNotFit)
{
	SdpBench bench;
	SdpOp op = SdpBench::passThrough(Precision::Int16, 2, 2, 16);
	op.flying = true;
	const std::vector<int32_t> data(32);
	const StreamRun good = {
		.batch = 0, .surface = 0, .y = 0, .x = 0, .width = 2, .data = data
	};
	std::vector<StreamRun> bad(6, good);
	bad[0].batch = 1;
	bad[1].surface = 1;
	bad[2].y = 2;
	bad[3].x = UINT32_MAX;
	bad[4].x = 1;
	bad[5].data = std::span(data).first(31);

	for (const StreamRun &run : bad) {
		MemoryPort port = bench.port();
		SdpStream stream(op, tables, port);
		stream.push(run);
		EXPECT_EQ(port.traffic(RamType::Mc).writeBytes, 0u);
		EXPECT_NE(stream.finish().guestError, "");
	}
}
