/* SPDX-License-Identifier: MIT */
/*
 * Operations of SDP on cores with other atoms than nv_full's 32 bytes: each element is computed as
 * there, wherever it lies.
 */
#include <cstdio>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "core/ram_memory.h"
#include "each_target.h"
#include "element_memories.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim::test
{

namespace
{

using nvdla::test::forEachTarget;

constexpr uint64_t kSourceOfAtoms = 0, kOutOfAtoms = 0x100000, kOperandsOfAtoms = 0x200000,
		   kStage = 0x200000;
constexpr size_t kMemory = 0x800000;

/** \brief An operation of random numbers, without places in memory */
class RandomSdp
{
public:
	explicit RandomSdp(uint32_t seed) : random_(seed)
	{
		op_.width = 1 + random_() % (random_() % 8 ? 20 : 300);
		op_.height = 1 + random_() % 4;
		op_.in = op_.proc = op_.out = random_() % 4 ? Precision::Int8 : Precision::Int16;
		/* Whole atoms of all sizes, so that counters are the same. */
		op_.channels = 96;
		stage(op_.x1, 0);
		stage(op_.x2, 1);
		stage(op_.y, 2);
		if (!op_.y.bypass && random_() % 2) {
			op_.y.lutBypass = false;
			op_.lut.le = { .indexSelect = 1, .start = -100, .end = 28 };
			op_.lut.lo = { .indexSelect = 0, .start = -128, .end = 128 };
			for (int16_t &entry : tables_.le)
				entry = static_cast<int16_t>(random_());
			for (int16_t &entry : tables_.lo)
				entry = static_cast<int16_t>(random_());
			op_.countsLut = random_() % 2;
		}
		op_.converter = { .offset = static_cast<int32_t>(random_() % 64) - 32,
				  .scale = static_cast<int16_t>(1 + random_() % 200),
				  .shift = static_cast<uint8_t>(random_() % 9) };
		op_.countsSaturation = true;
		gap_ = random_() % 2;
		numbers_ = random_();
	}

	/** \brief What one core makes of it */
	struct Made {
		std::vector<int32_t> elements; /**< line by line, channel fastest */
		uint32_t saturated;
		uint32_t hits;

		bool operator==(const Made &) const = default;
	};

	Made on(uint32_t atom) const;

private:
	/** Where elements of \a bytes bytes are, if an atom has those of \a lanes channels */
	struct Places {
		uint32_t lanes;
		uint32_t bytes;
		uint32_t width;
		uint32_t height;
		FeatureCube cube;

		uint64_t of(uint32_t c, uint32_t y, uint32_t x) const
		{
			return cube.address + uint64_t{ c / lanes } * cube.surfaceStride +
			       uint64_t{ y } * cube.lineStride +
			       (uint64_t{ x } * lanes + c % lanes) * bytes;
		}
	};

	void stage(SdpStage &stage, uint32_t index);
	Places placesAt(uint64_t address, uint32_t lanes, uint32_t bytes) const;
	void fill(RamMemory &memory, const Places &places, uint32_t number) const;

	std::mt19937 random_;
	SdpOp op_;
	LutTables tables_;
	bool gap_;
	uint32_t numbers_;
};

void RandomSdp::stage(SdpStage &stage, uint32_t index)
{
	stage.bypass = random_() % 3 == 0;
	stage.algorithm = static_cast<SdpAlu>(random_() % 3);
	stage.prelu = index < 2 && random_() % 4 == 0;
	stage.reluBypass = random_() % 2;
	stage.aluShift = static_cast<uint8_t>(index < 2 ? random_() % 4 : 0);
	stage.mulShift = static_cast<uint16_t>(random_() % 12);
	for (SdpOperand *operand : { &stage.alu, &stage.mul }) {
		operand->bypass = random_() % 2;
		operand->fromMemory = random_() % 2;
		operand->value = static_cast<int32_t>(random_() % 4000) - 2000;
		operand->converterBypass = random_() % 2;
		operand->converter = { .offset = 3, .scale = 5, .shift = 1 };
	}
	stage.read.alu = stage.readsAlu();
	stage.read.mul = stage.readsMul();
	stage.read.enabled = stage.read.alu || stage.read.mul;
	stage.read.twoBytes = op_.proc != Precision::Int8 || random_() % 2;
	stage.read.perElement = random_() % 2;
	stage.read.cube.address = kOperandsOfAtoms + index * kStage;
}

RandomSdp::Places RandomSdp::placesAt(uint64_t address, uint32_t lanes, uint32_t bytes) const
{
	const uint32_t line = (op_.width + gap_) * lanes * bytes;

	return { lanes,
		 bytes,
		 op_.width,
		 op_.height,
		 { RamType::Mc, address, line, line * op_.height } };
}

void RandomSdp::fill(RamMemory &memory, const Places &places, uint32_t number) const
{
	for (uint32_t y = 0; y < places.height; y++) {
		for (uint32_t x = 0; x < places.width; x++) {
			for (uint32_t c = 0; c < op_.channels; c++) {
				number = number * 1664525 + 1013904223;
				const uint32_t high = number >> 8;
				memory.write(
					places.of(c, y, x),
					std::as_bytes(std::span(&high, 1)).first(places.bytes));
			}
		}
	}
}

RandomSdp::Made RandomSdp::on(uint32_t atom) const
{
	Geometry geometry = nvFull;
	SdpOp op = op_;
	RamMemory memory(0, kMemory), cvsram(0, 32);
	MemoryPort port(memory, cvsram);
	uint32_t numbers = numbers_;

	geometry.atomBytes = atom;
	op.geometry = &geometry;
	const uint32_t size = elementBytes(op.proc);
	const Places source = placesAt(kSourceOfAtoms, op.lanes(), size);
	const Places out = placesAt(kOutOfAtoms, op.lanes(), size);
	op.source = source.cube;
	op.destination = out.cube;
	fill(memory, source, numbers);
	for (SdpStage *stage : { &op.x1, &op.x2, &op.y }) {
		SdpOperandRead &read = stage->read;
		Places places = placesAt(read.cube.address, op.lanes(), read.elementBytes());
		if (!read.perElement) {
			places.cube.surfaceStride = op.lanes() * read.elementBytes();
			places.width = places.height = 1;
		}
		numbers++;
		read.cube = places.cube;
		fill(memory, places, numbers);
	}

	const OperationResult result = runSdp(op, tables_, port);
	EXPECT_EQ(result.guestError, "");
	Made made = { {},
		      updateOf(result, NVDLA_SDP_D_PERF_OUT_SATURATION),
		      updateOf(result, NVDLA_SDP_D_PERF_LUT_LE_HIT) };
	for (uint32_t y = 0; y < op.height; y++) {
		for (uint32_t x = 0; x < op.width; x++) {
			for (uint32_t c = 0; c < op.channels; c++) {
				int16_t element = 0;
				memory.read(
					out.of(c, y, x),
					std::as_writable_bytes(std::span(&element, 1)).first(size));
				made.elements.push_back(element);
			}
		}
	}
	return made;
}

} /* namespace */

TEST(SdpAtoms, OfAnySizeGiveTheSameElements)
{
	constexpr uint32_t cases = 10;

	forEachTarget([&] {
		for (uint32_t seed = 0; seed < cases && !testing::Test::HasFailure(); seed++) {
			SCOPED_TRACE(testing::Message() << "seed " << seed);
			const RandomSdp sdp(seed);
			const auto expected = sdp.on(atomBytes);
			for (const uint32_t atom : { 8, 16, 24 })
				EXPECT_TRUE(sdp.on(atom) == expected) << "atoms of " << atom;
		}
	});
}

} /* namespace nvdla::sim::test */
