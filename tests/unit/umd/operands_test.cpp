/* SPDX-License-Identifier: MIT */
/*
 * SDP operands, read back by the device model's operand reader.
 */
#include <bit>

#include <gtest/gtest.h>
#include <nvdla/operands.h>

#include "core/ram_memory.h"
#include "model_convolution.h"
#include "random.h"
#include "sdp/sdp_operands.h"

namespace nvdla
{

namespace
{

using test::Random;

/* Whole numbers that every type holds. */
constexpr int32_t limit = 100;

struct Reader {
	Reader(const OperandDesc &desc, const std::vector<std::byte> &packed)
		: dram(0, 1 << 20), cvsram(0x50000000, 4096), port(dram, cvsram)
	{
		EXPECT_TRUE(dram.write(0, packed));
		op.proc = op.in = op.out = test::precisionOf(desc.processing);
		op.width = desc.width;
		op.height = desc.height;
		op.channels = desc.channels;
		stage.bypass = false;
		stage.alu.bypass = false;
		stage.alu.fromMemory = true;
		stage.mul.bypass = desc.components == 1;
		stage.mul.fromMemory = desc.components == 2;
		stage.read.enabled = true;
		stage.read.alu = true;
		stage.read.mul = desc.components == 2;
		stage.read.twoBytes = desc.type != DataType::Int8;
		stage.read.perElement = desc.height * desc.width > 1;
		stage.read.cube.lineStride = desc.lineStride;
		stage.read.cube.surfaceStride = desc.surfaceStride;
	}

	sim::RamMemory dram;
	sim::RamMemory cvsram;
	sim::MemoryPort port;
	sim::SdpOp op;
	sim::SdpStage stage;
};

/* FP16 operands become FP32 numbers in SDP. */
float valueOf(DataType processing, const sim::SdpOperandRun &run, uint32_t atom, uint32_t lane)
{
	const int32_t operand = run.data[atom * run.atomStride + lane];

	return processing == DataType::Half ? std::bit_cast<float>(operand)
					    : static_cast<float>(operand);
}

} /* namespace */

TEST(Operands, TheModelReadsWhatWasPacked)
{
	Random random(201);

	for (int round = 0; round < 100; round++) {
		const DataType processing = random.type();
		const DataType type =
			processing == DataType::Half
				? DataType::Half
				: random.oneOf<DataType>({ DataType::Int8, DataType::Int16 });
		const bool perChannel = random(0, 1);
		OperandDesc desc = OperandDesc::perElement(
			nvFull, processing, type, random.size(1, 2), random.size(1, 70),
			perChannel ? 1 : random.size(1, 5), perChannel ? 1 : random.size(2, 9));
		if (!perChannel) {
			desc.lineStride += 32 * random.size(0, 2);
			desc.surfaceStride = desc.lineStride * desc.height + 32 * random.size(0, 2);
		}
		const auto alu = random.numbers(desc.elements(), limit);
		const auto mul = random.numbers(desc.components == 2 ? desc.elements() : 0, limit);
		const auto first = elementsFromFloat(type, alu);
		const auto second = elementsFromFloat(type, mul);
		auto packed = packOperands(nvFull, desc, first, second);
		ASSERT_TRUE(packed) << packed.error().message();
		ASSERT_EQ(packed->size(), desc.bytes(nvFull));

		auto back = unpackOperands(nvFull, desc, *packed);
		ASSERT_TRUE(back) << back.error().message();
		EXPECT_EQ(back->first, first);
		EXPECT_EQ(back->second, second);

		Reader reader(desc, *packed);
		sim::SdpOperands operands(reader.op, reader.stage, false, reader.port);
		const uint32_t lanes = nvFull.atomChannels(processing);
		for (uint32_t c = 0; c < desc.channels; c++) {
			for (uint32_t h = 0; h < desc.height; h++) {
				operands.load(c / lanes, h, 0, desc.width);
				for (uint32_t w = 0; w < desc.width; w++) {
					const size_t plain =
						(size_t{ c } * desc.height + h) * desc.width + w;
					const uint32_t lane = c % lanes;
					ASSERT_EQ(valueOf(processing, operands.alu(), w, lane),
						  alu[plain])
						<< desc.describe();
					if (desc.components == 2) {
						ASSERT_EQ(valueOf(processing, operands.mul(), w,
								  lane),
							  mul[plain])
							<< desc.describe();
					}
				}
			}
		}
		EXPECT_FALSE(reader.port.faulted());
	}
}

TEST(Operands, AtomsAreAsLongAsTheFormatDocumentSays)
{
	auto atom = [](DataType processing, DataType type, uint32_t components) {
		return OperandDesc::perChannel(nvFull, processing, type, components, 1)
			.atomBytes(nvFull);
	};

	EXPECT_EQ(atom(DataType::Int8, DataType::Int8, 1), 32u);
	EXPECT_EQ(atom(DataType::Int8, DataType::Int16, 1), 64u);
	EXPECT_EQ(atom(DataType::Int8, DataType::Int16, 2), 128u);
	EXPECT_EQ(atom(DataType::Int16, DataType::Int8, 1), 16u);
	EXPECT_EQ(atom(DataType::Half, DataType::Half, 2), 64u);
}

TEST(Operands, RefusesWhatCannotBe)
{
	OperandDesc desc =
		OperandDesc::perElement(nvFull, DataType::Int8, DataType::Int16, 2, 40, 2, 3);
	const std::vector<std::byte> numbers(desc.elements() * 2);

	EXPECT_TRUE(packOperands(nvFull, desc, numbers, numbers));
	EXPECT_FALSE(packOperands(nvFull, desc, numbers)) << "the second component is missing";
	desc.lineStride -= 32;
	EXPECT_FALSE(packOperands(nvFull, desc, numbers, numbers));
	desc.lineStride += 32;
	desc.surfaceStride -= 32;
	EXPECT_FALSE(packOperands(nvFull, desc, numbers, numbers));
	desc.surfaceStride += 32;
	desc.type = DataType::Half;
	EXPECT_FALSE(packOperands(nvFull, desc, numbers, numbers))
		<< "fp16 for an integer pipeline";
}

} /* namespace nvdla */
