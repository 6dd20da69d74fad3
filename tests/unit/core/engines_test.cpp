/* SPDX-License-Identifier: MIT */
/*
 * SDP, PDP and CDP on cores with different atoms: random operations against plain ones, which take
 * an element after the other and know nothing of atoms.
 */
#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "cdp/cdp.h"
#include "core/geometry.h"
#include "core/ram_memory.h"
#include "pdp/pdp.h"
#include "pdp_naive.h"
#include "sdp/sdp_datapath.h"
#include "sdp/sdp_stream.h"

using namespace nvdla::sim;

namespace
{

constexpr uint64_t kSource = 0x1000;
constexpr uint64_t kOperands = 0x30000;
constexpr uint64_t kOut = 0x60000;
constexpr size_t kMemory = 0x90000;
constexpr unsigned int kOperations = 60;

class Random
{
public:
	int operator()(int low, int high)
	{
		return std::uniform_int_distribution<int>(low, high)(engine_);
	}
	uint32_t number(int low, int high) { return static_cast<uint32_t>((*this)(low, high)); }
	bool coin() { return (*this)(0, 1) != 0; }

private:
	std::mt19937 engine_{ 20261128 };
};

struct Size {
	uint32_t width;
	uint32_t height;
	uint32_t channels;

	size_t elements() const { return size_t{ width } * height * channels; }
};

/* INT8 or INT16 as memory has them; lines, columns and channels in this order. */
using Numbers = std::vector<int16_t>;

Numbers randomNumbers(Random &random, const Size &size, int largest)
{
	Numbers numbers(size.elements());

	for (int16_t &number : numbers)
		number = static_cast<int16_t>(random(-largest - 1, largest));
	return numbers;
}

/* A core's memory, with cubes in its atoms. */
class Machine
{
public:
	Machine(const Geometry &core, RamMemory &memory, RamMemory &cvsram)
		: geometry(core), image(kMemory), dram(memory), port(memory, cvsram)
	{
	}

	/* Lines and surfaces have gaps behind them. */
	FeatureCube cubeAt(uint64_t address, const Size &size) const
	{
		FeatureCube cube;

		cube.address = address;
		cube.lineStride = (size.width + 1) * geometry.atomBytes;
		cube.surfaceStride = size.height * cube.lineStride + geometry.atomBytes;
		return cube;
	}

	void put(const FeatureCube &cube, const Size &size, const Numbers &numbers)
	{
		forEach(cube, size, 1, [&](size_t i, uint64_t address) {
			image[address] = static_cast<std::byte>(numbers[i]);
		});
	}

	Numbers get(const FeatureCube &cube, const Size &size)
	{
		Numbers numbers(size.elements());

		EXPECT_TRUE(dram.read(0, image));
		forEach(cube, size, 1, [&](size_t i, uint64_t address) {
			numbers[i] = static_cast<int8_t>(image[address]);
		});
		return numbers;
	}

	/* Pairs of operands, of each element or of each channel. */
	void putOperands(const SdpOperandRead &read, const Size &size, const Numbers &alu,
			 const Numbers &mul)
	{
		forEach(read.cube, size, read.elementBytes(), [&](size_t i, uint64_t address) {
			const uint64_t channel = i % size.channels;
			if (!read.perElement)
				address = read.cube.address + channel * read.elementBytes();
			const size_t from = read.perElement ? i : channel;
			write(address, alu[from], read.twoBytes);
			write(address + read.elementBytes() / 2, mul[from], read.twoBytes);
		});
	}

	/* To be called when all is put. */
	void load() { EXPECT_TRUE(dram.write(0, image)); }

	const Geometry &geometry;
	std::vector<std::byte> image; /* of the memory, before the operation or behind it */
	RamMemory &dram;
	MemoryPort port;

private:
	void write(uint64_t address, int16_t number, bool twoBytes)
	{
		image[address] = static_cast<std::byte>(number);
		if (twoBytes)
			image[address + 1] = static_cast<std::byte>(number >> 8);
	}

	template<typename Function>
	void forEach(const FeatureCube &cube, const Size &size, uint32_t bytes,
		     const Function &function)
	{
		const uint32_t lanes = geometry.atomChannels(Precision::Int8);
		size_t i = 0;

		for (uint32_t y = 0; y < size.height; y++)
			for (uint32_t x = 0; x < size.width; x++)
				for (uint32_t c = 0; c < size.channels; c++, i++)
					function(i, cube.address +
							    uint64_t{ c / lanes } *
								    cube.surfaceStride +
							    uint64_t{ y } * cube.lineStride +
							    (uint64_t{ x } * lanes + c % lanes) *
								    bytes);
	}
};

Size randomSize(Random &random)
{
	return { random.number(1, 40), random.number(1, 6), random.number(1, 75) };
}

LutTables randomTables(Random &random)
{
	LutTables tables;

	for (int16_t &entry : tables.le)
		entry = static_cast<int16_t>(random(INT16_MIN, INT16_MAX));
	for (int16_t &entry : tables.lo)
		entry = static_cast<int16_t>(random(INT16_MIN, INT16_MAX));
	return tables;
}

class EnginesOfCoresTest : public testing::Test
{
protected:
	Random random;
	RamMemory dram{ 0, kMemory };
	RamMemory cvsram{ 0x50000000, 4096 };
};

/* \a run puts the input into memory and returns the output. */
template<typename Run>
void expectOnAllCores(const Numbers &expected, const Run &run)
{
	for (const Geometry *geometry : { &nvFull, &nvLarge, &nvSmall256Full })
		EXPECT_EQ(run(*geometry), expected) << geometry->name;
}

/* The same on a core with any atom from 8 to 32 bytes. */
template<typename Run>
void expectWithAnyAtom(Random &random, const Numbers &expected, const Run &run)
{
	Geometry geometry = nvSmall256Full;

	geometry.atomBytes = 8U << random(0, 2);
	EXPECT_EQ(run(geometry), expected) << "atom of " << geometry.atomBytes;
}

SdpOp randomSdp(Random &random, const Size &size)
{
	SdpOp op;

	op.width = size.width;
	op.height = size.height;
	op.channels = size.channels;
	op.x1.bypass = false;
	op.x1.algorithm = static_cast<SdpAlu>(random(0, 2));
	op.x1.alu.bypass = op.x1.mul.bypass = false;
	op.x1.alu.fromMemory = op.x1.mul.fromMemory = true;
	op.x1.aluShift = static_cast<uint8_t>(random(0, 4));
	op.x1.mulShift = static_cast<uint16_t>(random(0, 8));
	op.x1.prelu = random.coin();
	op.x1.reluBypass = random.coin();
	op.x1.read.enabled = op.x1.read.alu = op.x1.read.mul = true;
	op.x1.read.twoBytes = random.coin();
	op.x1.read.perElement = random.coin();
	op.x2.bypass = random.coin();
	op.x2.algorithm = SdpAlu::Sum;
	op.x2.alu.bypass = false;
	op.x2.alu.value = random(-500, 500);
	op.y.bypass = random.coin();
	op.y.lutBypass = random.coin();
	op.lut = { .le = { .indexSelect = 8, .start = -(1 << 13), .end = 1 << 13 },
		   .lo = { .indexSelect = 3, .start = -(1 << 10), .end = 1 << 10 } };
	op.converter.scale = static_cast<int16_t>(random(1, 300));
	op.converter.shift = static_cast<uint8_t>(random(4, 12));
	op.converter.offset = random(-100, 100);
	return op;
}

/* The arithmetic of each stage is the model's, for one element. */
Numbers plainSdp(const SdpOp &op, const LutTables &tables, const Size &size, const Numbers &in,
		 const Numbers &alu, const Numbers &mul)
{
	const Lut lut(sdpLut, op.lut, tables);
	SdpCounters counters;
	Numbers out;

	for (size_t i = 0; i < in.size(); i++) {
		const size_t operand = op.x1.read.perElement ? i : i % size.channels;
		const int32_t added = alu[operand] * (1 << op.x1.aluShift);
		const int32_t factor = mul[operand];
		int32_t value = in[i];
		const std::span one(&value, 1);
		applySdpStage({ &op.x1, false, { &added }, { &factor } }, op.proc, one, 1);
		if (!op.x2.bypass)
			applySdpStage({ &op.x2, false, { &op.x2.alu.value }, {} }, op.proc, one, 1);
		if (!op.y.bypass && !op.y.lutBypass)
			applySdpLut(lut, op.proc, one, counters.lut);
		convertSdpOutput(op, one, counters);
		out.push_back(static_cast<int16_t>(value));
	}
	return out;
}

TEST_F(EnginesOfCoresTest, SdpIsPlain)
{
	for (unsigned int i = 0; i < kOperations; i++) {
		const Size size = randomSize(random);
		const SdpOp made = randomSdp(random, size);
		const LutTables tables = randomTables(random);
		const int largest = made.x1.read.twoBytes ? INT16_MAX : INT8_MAX;
		const Numbers in = randomNumbers(random, size, INT8_MAX);
		const Numbers alu = randomNumbers(random, size, largest);
		const Numbers mul = randomNumbers(random, size, largest);

		SCOPED_TRACE(i);
		const Numbers expected = plainSdp(made, tables, size, in, alu, mul);
		const auto run = [&](const Geometry &geometry) {
			Machine machine(geometry, dram, cvsram);
			SdpOp op = made;
			op.geometry = &geometry;
			op.source = machine.cubeAt(kSource, size);
			op.destination = machine.cubeAt(kOut, size);
			SdpOperandRead &read = op.x1.read;
			read.cube.address = kOperands;
			read.cube.lineStride = size.width * op.lanes() * read.elementBytes();
			read.cube.surfaceStride = size.height * read.cube.lineStride;
			machine.put(op.source, size, in);
			machine.putOperands(read, size, alu, mul);
			machine.load();
			const OperationResult result = runSdp(op, tables, machine.port);
			EXPECT_EQ(result.guestError, "");
			return machine.get(op.destination, size);
		};
		expectOnAllCores(expected, run);
		expectWithAnyAtom(random, expected, run);
	}
}

PdpOp randomPdp(Random &random, Size &in, Size &out)
{
	PdpOp op;

	op.method = static_cast<PoolingMethod>(random(0, 2));
	op.kernelWidth = random.number(1, 5);
	op.kernelHeight = random.number(1, 5);
	op.strideX = random.number(1, 3);
	op.strideY = random.number(1, 3);
	op.padLeft = random.number(0, static_cast<int>(op.kernelWidth) - 1);
	op.padTop = random.number(0, static_cast<int>(op.kernelHeight) - 1);
	out.width = random.number(4, 16);
	out.height = random.number(4, 8);
	in.width = (out.width - 1) * op.strideX + op.kernelWidth - op.padLeft;
	in.height = (out.height - 1) * op.strideY + op.kernelHeight - op.padTop;
	in.channels = out.channels = random.number(1, 75);
	op.inWidth = in.width;
	op.inHeight = in.height;
	op.outWidth = out.width;
	op.outHeight = out.height;
	op.channels = in.channels;
	op.recipWidth = (1 << 16) / op.kernelWidth;
	op.recipHeight = (1 << 16) / op.kernelHeight;
	for (size_t n = 1; n < op.padValue.size(); n++)
		op.padValue[n] = static_cast<int32_t>(n) * random(-20, 20);
	return op;
}

/* All channels are one atom, in which the elements lie in the order of Numbers. */
Numbers plainPdp(const PdpOp &op, const Size &in, const Numbers &numbers)
{
	nvdla::test::Cube cube(in.width, in.height, 1, in.channels);

	std::ranges::copy(numbers, cube.values.begin());
	const auto out = nvdla::test::poolByDefinition(op, cube);
	return { out.values.begin(), out.values.end() };
}

TEST_F(EnginesOfCoresTest, PdpIsPlain)
{
	for (unsigned int i = 0; i < kOperations; i++) {
		Size in = {};
		Size out = {};
		const PdpOp made = randomPdp(random, in, out);
		const Numbers numbers = randomNumbers(random, in, INT8_MAX);

		SCOPED_TRACE(i);
		expectOnAllCores(plainPdp(made, in, numbers), [&](const Geometry &geometry) {
			Machine machine(geometry, dram, cvsram);
			PdpOp op = made;
			op.geometry = &geometry;
			op.source = machine.cubeAt(kSource, in);
			op.destination = machine.cubeAt(kOut, out);
			machine.put(op.source, in, numbers);
			machine.load();
			const OperationResult result = runPdp(op, machine.port);
			EXPECT_EQ(result.guestError, "");
			return machine.get(op.destination, out);
		});
	}
}

/* The neighbours of a channel, squared or not, through the table; times the channel, scaled. */
Numbers plainCdp(const CdpOp &op, const LutTables &tables, const Size &size, const Numbers &in)
{
	const Lut lut(cdpLut, op.lut, tables);
	LutCounters counters;
	Numbers out;

	for (size_t i = 0; i < in.size(); i++) {
		const size_t channel = i % size.channels;
		const size_t first = channel - std::min<size_t>(channel, op.radius);
		const size_t last = std::min<size_t>(channel + op.radius, size.channels - 1);
		int64_t sum = 0;
		for (size_t c = first; c <= last; c++)
			sum += in[i - channel + c] * in[i - channel + c];
		const int64_t result = lut.lookup(op.squareSumBypass ? in[i] : sum, counters);
		const int64_t product = (op.mulBypass ? result : result * in[i]) * op.output.scale;
		out.push_back(static_cast<int16_t>(arith::truncate<8>(product, op.output.shift)));
	}
	return out;
}

TEST_F(EnginesOfCoresTest, CdpIsPlain)
{
	for (unsigned int i = 0; i < kOperations; i++) {
		const Size size = randomSize(random);
		const LutTables tables = randomTables(random);
		const Numbers numbers = randomNumbers(random, size, INT8_MAX);
		CdpOp made;
		made.width = size.width;
		made.height = size.height;
		made.channels = size.channels;
		made.radius = random.number(1, 4);
		made.squareSumBypass = random.coin();
		made.mulBypass = random.coin();
		made.output = { .offset = 0, .scale = 77, .shift = 12 };
		made.lut = { .le = { .indexSelect = 11, .start = 0, .end = 1 << 17 },
			     .lo = { .indexSelect = 4, .start = 0, .end = 1 << 12 } };

		SCOPED_TRACE(i);
		const Numbers expected = plainCdp(made, tables, size, numbers);
		const auto run = [&](const Geometry &geometry) {
			Machine machine(geometry, dram, cvsram);
			CdpOp op = made;
			op.geometry = &geometry;
			op.source = machine.cubeAt(kSource, size);
			op.destination = machine.cubeAt(kOut, size);
			machine.put(op.source, size, numbers);
			machine.load();
			const OperationResult result = runCdp(op, tables, machine.port);
			EXPECT_EQ(result.guestError, "");
			return machine.get(op.destination, size);
		};
		expectOnAllCores(expected, run);
		expectWithAnyAtom(random, expected, run);
	}
}

} /* namespace */
