/* SPDX-License-Identifier: MIT */
#include <cstring>

#include <gtest/gtest.h>
#include <nvdla/task.h>

#include "loadable/emu_descriptors.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

using test::LoadableBuilder;

template<typename T>
void put(std::vector<std::byte> &bytes, size_t offset, T value)
{
	std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

/* A power or parameter of 2, a scale of 3, a shift of 4. */
void putPower(std::vector<std::byte> &operation, size_t offset)
{
	put<float>(operation, offset, 2.0f);
	put<float>(operation, offset + 4, 3.0f);
	put<float>(operation, offset + 8, 4.0f);
}

/* One operation with its two buffers; offsets as existing compilers write them. */
struct EmuFile {
	std::vector<std::byte> network = std::vector<std::byte>(256);
	std::vector<std::byte> operation;
	std::vector<std::byte> buffers = std::vector<std::byte>(512);

	explicit EmuFile(bool legacy) : operation(legacy ? 16 : 24)
	{
		put<int16_t>(network, 0, 3);
		put<int16_t>(network, 2, 4);
		put<uint16_t>(network, 4, 1);
		for (size_t buffer : { 0, 256 }) {
			const int16_t address = buffer ? 2 : 1;
			size_t at = buffer;
			put<int16_t>(buffers, at, address);
			at += 2;
			if (!legacy) {
				put<uint32_t>(buffers, at, 96 + address);
				at += 4;
			}
			put<uint32_t>(buffers, at, 1000);
			put<uint16_t>(buffers, at + 4, legacy ? 2 : 3);
			put<uint16_t>(buffers, at + 6, 7);
			put<uint16_t>(buffers, at + 8, 5);
			put<uint16_t>(buffers, at + 10, 3);
			put<uint32_t>(buffers, at + 12, 224);
			put<uint32_t>(buffers, at + 16, 1120);
		}
	}

	Loadable loadable() const
	{
		LoadableBuilder builder;
		const Version version{ 0, 0, 1 };
		const uint16_t first = builder.content("addr0", network, Interface::Emu1, version);
		const uint16_t src = builder.memory(4096);
		const uint16_t dst = builder.memory(4096);
		const uint16_t ops = builder.content("ops", operation, Interface::Emu1, version);
		const uint16_t bufs = builder.content("bufs", buffers, Interface::Emu1, version);
		builder.task(Interface::Emu1, { first, src, dst, ops, bufs });
		EXPECT_TRUE(builder.loadable.check());
		return builder.loadable;
	}
};

} /* namespace */

TEST(EmuTask, CurrentLayout)
{
	EmuFile file(false);
	put<uint8_t>(file.operation, 0, 0);
	put<float>(file.operation, 4, 0.5f);
	put<float>(file.operation, 8, 0.25f);
	putPower(file.operation, 12);

	auto task = emuTask(file.loadable(), 0);
	ASSERT_TRUE(task) << task.error().message();
	ASSERT_EQ(task->operations.size(), 1u);
	const EmuOperation &operation = task->operations[0];
	EXPECT_EQ(operation.type, EmuOpType::Power);
	EXPECT_EQ(operation.inScale, 0.5f);
	EXPECT_EQ(operation.outScale, 0.25f);
	EXPECT_EQ(operation.power, 2.0f);
	EXPECT_EQ(operation.scale, 3.0f);
	EXPECT_EQ(operation.shift, 4.0f);
	EXPECT_EQ(operation.src.address, 1);
	EXPECT_EQ(operation.src.offset, 97u);
	EXPECT_EQ(operation.dst.address, 2);
	EXPECT_EQ(operation.dst.type, DataType::Half);
	EXPECT_EQ(operation.dst.w, 7u);
	EXPECT_EQ(operation.dst.h, 5u);
	EXPECT_EQ(operation.dst.c, 3u);
	EXPECT_EQ(operation.dst.lineStride, 224u);
	EXPECT_EQ(operation.dst.surfaceStride, 1120u);
	EXPECT_TRUE(task->addresses[1].used);
	EXPECT_TRUE(task->addresses[2].used);
	EXPECT_FALSE(task->addresses[0].used);
}

/* What other compilers make for nv_small. */
TEST(EmuTask, SmallAtoms)
{
	EmuFile file(false);
	for (const size_t buffer : { size_t{ 0 }, emuSecondBuffer })
		put<uint16_t>(file.buffers, buffer + offsetof(EmuBufferDesc, format),
			      EmuFormatInt8SmallAtoms);
	file.operation[0] = std::byte{ 1 };
	put<float>(file.operation, offsetof(EmuOperationDesc, in_scale), 1.0f);
	put<float>(file.operation, offsetof(EmuOperationDesc, out_scale), 1.0f);
	put<uint8_t>(file.operation, offsetof(EmuOperationDesc, axis), emuAxisChannel);

	auto task = emuTask(file.loadable(), 0);
	ASSERT_TRUE(task) << task.error().message();
	EXPECT_EQ(task->operations[0].src.format, PixelFormat::FeatureX8);
	EXPECT_EQ(task->operations[0].src.type, DataType::Int8);
}

TEST(EmuTask, LegacyLayout)
{
	EmuFile file(true);
	put<uint8_t>(file.operation, 0, 0);
	putPower(file.operation, 1);

	auto task = emuTask(file.loadable(), 0);
	ASSERT_TRUE(task) << task.error().message();
	const EmuOperation &operation = task->operations[0];
	EXPECT_EQ(operation.power, 2.0f);
	EXPECT_EQ(operation.scale, 3.0f);
	EXPECT_EQ(operation.shift, 4.0f);
	EXPECT_EQ(operation.inScale, 1.0f);
	EXPECT_EQ(operation.src.offset, 0u);
	EXPECT_EQ(operation.src.type, DataType::Half);
	EXPECT_EQ(operation.src.c, 3u);
	EXPECT_EQ(operation.src.surfaceStride, 1120u);

	put<uint8_t>(file.operation, 0, 1);
	put<uint8_t>(file.operation, 1, 1);
	task = emuTask(file.loadable(), 0);
	ASSERT_TRUE(task);
	EXPECT_EQ(task->operations[0].type, EmuOpType::Softmax);
}

/* Ours, and so not in the layout of older compilers. */
TEST(EmuTask, Reshape)
{
	EmuFile file(false), legacy(true);
	put<uint8_t>(file.operation, 0, 2);
	put<float>(file.operation, 8, 1.0f);
	auto task = emuTask(file.loadable(), 0);
	ASSERT_TRUE(task) << task.error().message();
	EXPECT_EQ(task->operations[0].type, EmuOpType::Reshape);
	EXPECT_TRUE(task->operations[0].axes.none());
	put<uint16_t>(file.operation, 12, 6);
	put<uint16_t>(file.operation, 14, 4);
	put<uint16_t>(file.operation, 22, 0b001);
	task = emuTask(file.loadable(), 0);
	ASSERT_TRUE(task) << task.error().message();
	EXPECT_EQ(task->operations[0].axes.extents[1], 4);
	EXPECT_EQ(task->operations[0].axes.order[0], 1);

	put<uint8_t>(legacy.operation, 0, 2);
	task = emuTask(legacy.loadable(), 0);
	ASSERT_FALSE(task);
	EXPECT_EQ(task.error().where, "task 0 operation 0 type");
}

/* Its code is the last of the reserved bytes. */
TEST(EmuTask, Function)
{
	EmuFile file(false), legacy(true);
	put<uint8_t>(file.operation, 0, 9);
	put<uint8_t>(file.operation, 3, 16);
	put<float>(file.operation, 8, 1.0f);
	putPower(file.operation, 12);
	auto task = emuTask(file.loadable(), 0);
	ASSERT_TRUE(task) << task.error().message();
	EXPECT_EQ(task->operations[0].type, EmuOpType::Function);
	EXPECT_EQ(task->operations[0].function, ElementFunction::Log);
	EXPECT_EQ(task->operations[0].power, 2.0f);
	EXPECT_EQ(task->operations[0].shift, 4.0f);

	put<uint8_t>(file.operation, 3, 200);
	task = emuTask(file.loadable(), 0);
	ASSERT_FALSE(task);
	EXPECT_EQ(task.error().code, ErrorCode::Unsupported);
	EXPECT_EQ(task.error().where, "task 0 operation 0 function");

	put<uint8_t>(legacy.operation, 0, 9);
	task = emuTask(legacy.loadable(), 0);
	ASSERT_FALSE(task);
	EXPECT_EQ(task.error().where, "task 0 operation 0 type");
}

TEST(EmuTask, RefusesWhatItDoesNotKnow)
{
	EmuFile file(false);
	put<uint8_t>(file.operation, 0, 13);
	put<float>(file.operation, 8, 1.0f);
	auto task = emuTask(file.loadable(), 0);
	ASSERT_FALSE(task);
	EXPECT_EQ(task.error().code, ErrorCode::Unsupported);
	EXPECT_EQ(task.error().where, "task 0 operation 0 type");

	put<uint8_t>(file.operation, 0, 1);
	put<uint8_t>(file.operation, 12, 2);
	task = emuTask(file.loadable(), 0);
	ASSERT_FALSE(task);
	EXPECT_EQ(task.error().where, "task 0 operation 0 axis");

	put<uint8_t>(file.operation, 12, 1);
	put<float>(file.operation, 8, 0.0f);
	task = emuTask(file.loadable(), 0);
	ASSERT_FALSE(task);
	EXPECT_EQ(task.error().where, "task 0 operation 0 scales");

	put<float>(file.operation, 8, 1.0f);
	put<uint16_t>(file.buffers, 10, 99);
	task = emuTask(file.loadable(), 0);
	ASSERT_FALSE(task);
	EXPECT_EQ(task.error().where, "task 0 operation 0 source.format");

	put<uint16_t>(file.buffers, 10, 3);
	put<int16_t>(file.buffers, 256, 5);
	task = emuTask(file.loadable(), 0);
	ASSERT_FALSE(task);
	EXPECT_EQ(task.error().where, "task 0 operation 0 destination.address");
}

} /* namespace nvdla */
