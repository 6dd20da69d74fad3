/* SPDX-License-Identifier: MIT */
/*
 * What the modelled core touches, against what the engine has allowed.
 *
 * Each task is given the least memory with which it is accepted. Whatever the core then reads or
 * writes beyond it would be somebody else's.
 */
#include <atomic>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "core/ram_memory.h"
#include "device/refusal.h"
#include "modelled_core.h"
#include "task_builder.h"

namespace nvdla::test
{

namespace
{

/* Memory that counts accesses outside a task's extents. Engines call it from their threads. */
class GuardedMemory : public sim::Memory
{
public:
	GuardedMemory(const TaskBuilder &builder, const nvdla_task *task)
	{
		for (uint32_t i = 0; i < builder.extents.size(); i++)
			ranges_.push_back({ builder.extents[i].dma_addr, builder.extents[i].size,
					    nvdla_task_access(task, i) });
	}

	bool read(uint64_t address, std::span<std::byte> out) override
	{
		reads_++;
		badReads_ += !allowed(address, out.size(), NVDLA_ACCESS_READ);
		return memory_.read(address, out);
	}

	bool write(uint64_t address, std::span<const std::byte> data) override
	{
		writes_++;
		badWrites_ += !allowed(address, data.size(), NVDLA_ACCESS_WRITE);
		return memory_.write(address, data);
	}

	unsigned int reads() const { return reads_; }
	unsigned int writes() const { return writes_; }
	unsigned int badReads() const { return badReads_; }
	unsigned int badWrites() const { return badWrites_; }

private:
	struct Range {
		uint64_t base;
		uint64_t size;
		uint32_t access;
	};

	bool allowed(uint64_t address, uint64_t bytes, uint32_t access) const
	{
		for (const Range &range : ranges_)
			if ((range.access & access) && address >= range.base &&
			    address + bytes <= range.base + range.size)
				return true;
		return false;
	}

	sim::SparseMemory memory_;
	std::vector<Range> ranges_;
	std::atomic<unsigned int> reads_ = 0;
	std::atomic<unsigned int> writes_ = 0;
	std::atomic<unsigned int> badReads_ = 0;
	std::atomic<unsigned int> badWrites_ = 0;
};

/* Shrinks each extent to the least with which the task is accepted. */
void shrink(TaskBuilder &builder)
{
	for (nvdla_task_extent &extent : builder.extents) {
		uint64_t enough = extent.size;
		uint64_t tooSmall = 0;

		extent.size = 0;
		if (builder.create().result == 0)
			continue;
		while (enough - tooSmall > 1) {
			extent.size = tooSmall + (enough - tooSmall) / 2;
			if (builder.create().result == 0)
				enough = extent.size;
			else
				tooSmall = extent.size;
		}
		extent.size = enough;
	}
}

struct FootprintCase {
	const char *name;
	unsigned int rounds;
	std::function<void(TaskBuilder &, std::mt19937 &)> build;
};

/* A cube with gaps between lines and surfaces. */
nvdla_data_cube gappedCube(std::mt19937 &random, int16_t address, unsigned int width,
			   unsigned int height, unsigned int channels, unsigned int bytes)
{
	nvdla_data_cube cube =
		featureCube(address, 32 * (random() % 9), width, height, channels, bytes);
	if (width > 1 || height > 1) {
		cube.line_stride += 32 * (random() % 4);
		cube.surf_stride = cube.line_stride * height + 32 * (random() % 4);
	}
	return cube;
}

void buildCdp(TaskBuilder &b, std::mt19937 &random)
{
	const unsigned int w = 1 + random() % 9, h = 1 + random() % 5, c = 1 + random() % 70;
	const uint8_t precision = random() % 3;
	const unsigned int bytes = precision == NVDLA_PRECISION_INT8 ? 1 : 2;
	b.addCdp();
	b.cdp(0).in_precision = b.cdp(0).out_precision = precision;
	b.cdpCubes(0).src_data = gappedCube(random, 2, w, h, c, bytes);
	b.cdpCubes(0).dst_data = gappedCube(random, 3, w, h, c, bytes);
}

void buildPdp(TaskBuilder &b, std::mt19937 &random)
{
	const unsigned int w = 1 + random() % 9, h = 1 + random() % 5, c = 1 + random() % 70;
	b.addPdp();
	b.pdp(0).pool_width = random() % 4;
	b.pdp(0).pool_height = random() % 4;
	b.pdp(0).stride_x = 1 + random() % 3;
	b.pdp(0).stride_y = 1 + random() % 3;
	b.pdp(0).precision = random() % 3;
	const unsigned int bytes = b.pdp(0).precision == NVDLA_PRECISION_INT8 ? 1 : 2;
	b.pdpCubes(0).src_data =
		gappedCube(random, 2, (w - 1) * b.pdp(0).stride_x + b.pdp(0).pool_width + 1,
			   (h - 1) * b.pdp(0).stride_y + b.pdp(0).pool_height + 1, c, bytes);
	b.pdpCubes(0).dst_data = gappedCube(random, 3, w, h, c, bytes);
}

void buildSdp(TaskBuilder &b, std::mt19937 &random)
{
	static const struct {
		uint8_t src;
		uint8_t dst;
	} precisions[] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 }, { 1, 2 }, { 2, 1 }, { 2, 2 } };
	const auto &pair = precisions[random() % std::size(precisions)];
	const unsigned int w = 1 + random() % 9, h = 1 + random() % 5, c = 1 + random() % 70;
	const bool int8 = pair.src == 0 || (pair.src == 1 && pair.dst == 0);

	b.addSdp();
	nvdla_sdp_op &x1 = b.sdp(0).x1_op;
	b.sdp(0).src_precision = pair.src;
	b.sdp(0).dst_precision = pair.dst;
	x1.type = static_cast<uint8_t>(1 + random() % 3);
	x1.mode = static_cast<uint8_t>(1 + random() % 2);
	x1.precision = int8 ? random() % 2 : pair.src;
	b.sdpCubes(0).src_data = gappedCube(random, 0, w, h, c, pair.src ? 2 : 1);
	b.sdpCubes(0).dst_data = gappedCube(random, 2, w, h, c, pair.dst ? 2 : 1);
	b.sdpCubes(0).x1_data = featureCube(1, 64, 1, 1, c);
	if (x1.mode == NVDLA_SDP_PER_POINT) {
		const unsigned int atom = (int8 ? 32 : 16) * (x1.precision ? 2 : 1) *
					  (x1.type == NVDLA_SDP_OP_BOTH ? 2 : 1);
		nvdla_data_cube &cube = b.sdpCubes(0).x1_data;
		cube = featureCube(1, 64, w, h, c);
		cube.line_stride = w * atom;
		cube.surf_stride = h * cube.line_stride;
	}
}

void buildRubik(TaskBuilder &b, std::mt19937 &random)
{
	const auto mode = static_cast<nvdla_rubik_mode>(random() % 3);
	const unsigned int w = 1 + random() % 9, h = 1 + random() % 5;
	b.addRubik(mode);
	const uint8_t precision = random() % 3;
	const unsigned int bytes = precision == NVDLA_PRECISION_INT8 ? 1 : 2;
	nvdla_data_cube &src = b.rubikCubes(0).src_data;
	nvdla_data_cube &dst = b.rubikCubes(0).dst_data;
	b.rubik(0).precision = precision;
	if (mode == NVDLA_RUBIK_CONTRACT) {
		/* Whole atoms per phase, as deconvolutions produce them. */
		const unsigned int c = 32 / bytes * (1 + random() % 2);
		b.rubik(0).stride_x = 1 + random() % 3;
		b.rubik(0).stride_y = 1 + random() % 3;
		const unsigned int sx = b.rubik(0).stride_x, sy = b.rubik(0).stride_y;
		src = gappedCube(random, 0, w, h, c * sx * sy, bytes);
		dst = gappedCube(random, 2, w * sx, h * sy, c, bytes);
		return;
	}
	const unsigned int c = 1 + random() % 70;
	nvdla_data_cube planar = featureCube(0, 64, w, h, c);
	planar.line_stride = 64 * (1 + random() % 2);
	planar.plane_stride = planar.line_stride * h + 64 * (random() % 3);
	src = gappedCube(random, 0, w, h, c, bytes);
	dst = gappedCube(random, 2, w, h, c, bytes);
	nvdla_data_cube &cube = mode == NVDLA_RUBIK_SPLIT ? dst : src;
	planar.address = cube.address;
	cube = planar;
}

/* A region of an image: any first pixel of those that one atom holds. */
void buildRegion(TaskBuilder &b, std::mt19937 &random)
{
	const bool planes = random() % 2;

	b.addImage(planes ? 28 : 12);
	b.operations[0].extended.pixel_x_offset = random() % (planes ? 32 : 8);
	b.convCubes(0).src_data.line_stride = 96;
	b.convCubes(0).in_line_uv_stride = planes ? 96 : 0;
}

const FootprintCase cases[] = {
	{ "Cdp", 12, buildCdp },
	{ "Pdp", 20, buildPdp },
	{ "Sdp", 40, buildSdp },
	{ "Rubik", 30, buildRubik },
	{ "Bdma", 2, [](TaskBuilder &b, std::mt19937 &) { b.addBdma(5); } },
	{ "SplitPdp", 1, [](TaskBuilder &b, std::mt19937 &) { b.addSplitPdp(); } },
	{ "SdpPdp", 1, [](TaskBuilder &b, std::mt19937 &) { b.addSdpPdp(); } },
	{ "Conv", 1, [](TaskBuilder &b, std::mt19937 &) { b.addConv(); } },
	{ "Winograd", 1, [](TaskBuilder &b, std::mt19937 &) { b.addWinograd(); } },
	{ "Image", 1, [](TaskBuilder &b, std::mt19937 &) { b.addImage(12); } },
	{ "SemiPlanarImage", 1, [](TaskBuilder &b, std::mt19937 &) { b.addImage(28); } },
	{ "Region", 8, buildRegion },
	{ "Batch", 1,
	  [](TaskBuilder &b, std::mt19937 &) {
		  b.addConv();
		  b.conv(0).batch = b.sdp(1).batch_num = 3;
		  b.conv(0).batch_stride = 4096;
		  b.sdp(1).batch_stride = 8192;
	  } },
};

} /* namespace */

class Footprint : public testing::TestWithParam<FootprintCase>
{
};

TEST_P(Footprint, StaysInsideTheLeastMemory)
{
	std::mt19937 random(3);

	for (unsigned int round = 0; round < GetParam().rounds; round++) {
		TaskBuilder builder;
		GetParam().build(builder, random);
		Created created = builder.create();
		ASSERT_EQ(created.result, 0) << round << " " << describeRefusal(created.error);
		shrink(builder);
		created = builder.create();
		ASSERT_EQ(created.result, 0);

		GuardedMemory memory(builder, created.task.get());
		ModelledCore core(memory);
		ASSERT_TRUE(core.run(created.task.get())) << round;
		EXPECT_GT(memory.reads(), 0u);
		EXPECT_GT(memory.writes(), 0u);
		EXPECT_EQ(memory.badReads(), 0u) << "round " << round;
		EXPECT_EQ(memory.badWrites(), 0u) << "round " << round;
	}
}

INSTANTIATE_TEST_SUITE_P(All, Footprint, testing::ValuesIn(cases),
			 [](const auto &info) { return info.param.name; });

} /* namespace nvdla::test */
