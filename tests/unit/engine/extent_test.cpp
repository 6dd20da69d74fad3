/* SPDX-License-Identifier: MIT */
/*
 * What a cube covers, against every byte that its dimensions reach.
 */
#include <algorithm>
#include <cerrno>
#include <random>

#include <gtest/gtest.h>

#include "device/refusal.h"
#include "task_builder.h"

namespace nvdla::test
{

namespace
{

/* One past the last byte of a feature cube, found atom by atom. */
uint64_t endByWalking(const nvdla_data_cube &cube, unsigned int bytesPerElement)
{
	const unsigned int atomElements = 32 / bytesPerElement;
	uint64_t end = 0;

	for (unsigned int c = 0; c < cube.channel; c += atomElements)
		for (unsigned int y = 0; y < cube.height; y++)
			for (unsigned int x = 0; x < cube.width; x++) {
				const uint64_t atom =
					cube.offset +
					uint64_t{ c / atomElements } * cube.surf_stride +
					uint64_t{ y } * cube.line_stride + x * 32;
				end = std::max(end, atom + 32);
			}
	return end;
}

nvdla_data_cube randomCube(std::mt19937 &random, int16_t address)
{
	nvdla_data_cube cube = featureCube(address, 32 * (random() % 100), 1 + random() % 12,
					   1 + random() % 12, 1 + random() % 100);
	if (cube.width > 1 || cube.height > 1) {
		cube.line_stride += 32 * (random() % 5);
		/* Surfaces may lie anywhere, even inside each other. */
		cube.surf_stride = 32 * (random() % 1000);
	}
	return cube;
}

} /* namespace */

TEST(Extent, FeatureCubesNeedExactlyWhatTheyReach)
{
	std::mt19937 random(7);

	for (int round = 0; round < 2000; round++) {
		const unsigned int bytes = 1 + random() % 2;
		TaskBuilder builder;
		builder.addCdp();
		builder.cdp(0).in_precision = builder.cdp(0).out_precision =
			bytes == 1 ? NVDLA_PRECISION_INT8 : NVDLA_PRECISION_INT16;
		nvdla_data_cube &src = builder.cdpCubes(0).src_data;
		nvdla_data_cube &dst = builder.cdpCubes(0).dst_data;
		src = randomCube(random, 2);
		dst = featureCube(3, 0, src.width, src.height, src.channel, bytes);

		const uint64_t end = endByWalking(src, bytes);
		builder.extents[2].size = end;
		ASSERT_EQ(builder.create().result, 0)
			<< round << describeRefusal(builder.create().error);
		builder.extents[2].size = end - 1;
		const Created created = builder.create();
		ASSERT_EQ(created.result, -EINVAL) << round;
		EXPECT_EQ(refusedField(created.error), "src_data");
		EXPECT_EQ(static_cast<uint64_t>(created.error.value), end);
		EXPECT_EQ(static_cast<uint64_t>(created.error.limit), end - 1);
	}
}

TEST(Extent, CopiesNeedExactlyWhatTheyReach)
{
	std::mt19937 random(8);

	for (int round = 0; round < 1000; round++) {
		TaskBuilder builder;
		builder.addBdma(1);
		nvdla_bdma_transfer &transfer = builder.bdma(0).transfers[0];
		transfer.line_size = 32 * (1 + random() % 8);
		transfer.line_repeat = 1 + random() % 6;
		transfer.surf_repeat = 1 + random() % 6;
		transfer.src_line = transfer.line_size + 32 * (random() % 4);
		transfer.dst_line = transfer.line_size + 32 * (random() % 4);
		transfer.src_surf = 32 * (random() % 200);
		transfer.dst_surf = 32 * (random() % 200);

		uint64_t end = 0;
		for (unsigned int s = 0; s < transfer.surf_repeat; s++)
			for (unsigned int l = 0; l < transfer.line_repeat; l++)
				end = std::max<uint64_t>(end, s * transfer.dst_surf +
								      l * transfer.dst_line +
								      transfer.line_size);
		builder.extents[2].size = end;
		ASSERT_EQ(builder.create().result, 0) << round;
		builder.extents[2].size = end - 1;
		ASSERT_EQ(builder.create().result, -EINVAL) << round;
	}
}

/* Operands are packed by what the pipeline takes at once. */
TEST(Extent, OperandsCountComponents)
{
	struct {
		unsigned int channels;
		uint8_t type;
		uint8_t precision;
		uint64_t bytes;
	} const rows[] = {
		{ 32, NVDLA_SDP_OP_ADD, NVDLA_PRECISION_INT8, 32 },
		{ 32, NVDLA_SDP_OP_ADD, NVDLA_PRECISION_INT16, 64 },
		{ 32, NVDLA_SDP_OP_BOTH, NVDLA_PRECISION_INT16, 128 },
		{ 33, NVDLA_SDP_OP_BOTH, NVDLA_PRECISION_INT16, 256 },
		{ 20, NVDLA_SDP_OP_MUL, NVDLA_PRECISION_INT16, 64 },
	};
	for (const auto &row : rows) {
		TaskBuilder builder;
		builder.addSdp();
		builder.sdp(0).x1_op.type = row.type;
		builder.sdp(0).x1_op.precision = row.precision;
		builder.sdpCubes(0).src_data = featureCube(0, 0, 8, 8, row.channels);
		builder.sdpCubes(0).dst_data = featureCube(2, 0, 8, 8, row.channels);
		builder.sdpCubes(0).x1_data = featureCube(1, 0, 1, 1, row.channels);
		builder.extents[1].size = row.bytes;
		EXPECT_EQ(builder.create().result, 0) << row.bytes;
		builder.extents[1].size = row.bytes - 1;
		EXPECT_EQ(builder.create().result, -EINVAL) << row.bytes;
	}
}

TEST(Extent, OnlyCubesInUseAreChecked)
{
	TaskBuilder builder;
	builder.addSdp();
	builder.sdpCubes(0).y_data.address = 1000;
	builder.sdpCubes(0).x2_data.type = 99;
	EXPECT_EQ(builder.create().result, 0);
}

TEST(Extent, HugeStridesDoNotWrapAround)
{
	TaskBuilder builder;
	builder.addCdp();
	for (nvdla_data_cube *cube :
	     { &builder.cdpCubes(0).src_data, &builder.cdpCubes(0).dst_data }) {
		cube->width = 8192;
		cube->height = 8192;
		cube->channel = 8192;
		cube->line_stride = 0xffffffe0;
		cube->surf_stride = 0xffffffe0;
	}
	const Created created = builder.create();
	EXPECT_EQ(created.result, -EINVAL);
	EXPECT_EQ(refusedField(created.error), "src_data");
	EXPECT_EQ(static_cast<uint64_t>(created.error.value), (8191 + 255) * 0xffffffe0ULL + 8192 * 32);
}

} /* namespace nvdla::test */
