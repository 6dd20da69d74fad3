/* SPDX-License-Identifier: MIT */
/*
 * As canary_test.cpp, for what takes an operation to its memory and is no part of a cube.
 */
#include <cerrno>
#include <string>

#include "canary_fixture.h"
#include "device/refusal.h"

namespace nvdla::test
{

using CanaryFieldTest = CanaryFixture;

TEST_F(CanaryFieldTest, Batches)
{
	TaskBuilder batches = sized();
	const size_t sdp = batches.addConv();
	batches.conv(sdp - 1).batch = batches.sdp(sdp).batch_num = 2;
	batches.conv(sdp - 1).batch_stride = batches.sdp(sdp).batch_stride = 8 * 8 * 32;
	ASSERT_EQ(run(batches), 0) << refusedField(client_->error(), NVDLA_OP_SDP);
	for (const uint32_t stride : { bufferBytes - 8 * 8 * 32 + atom, bufferBytes, -atom }) {
		TaskBuilder changed = batches;
		changed.conv(sdp - 1).batch_stride = stride;
		expectRefused(changed, sdp - 1, "src_data", "batch stride");
		changed = batches;
		changed.sdp(sdp).batch_stride = stride;
		expectRefused(changed, sdp, "dst_data", "batch stride");
	}
}

TEST_F(CanaryFieldTest, SecondPlanes)
{
	TaskBuilder planes = sized();
	const size_t conv = planes.addImage(28) - 1;
	const int64_t lastPlane = bufferBytes - 8 * 32;
	planes.convCubes(conv).offset_u = lastPlane;
	ASSERT_EQ(run(planes), 0) << refusedField(client_->error(), NVDLA_OP_SDP);
	for (const int64_t offset : { lastPlane + atom, int64_t{ bufferBytes }, INT64_MAX - 31 }) {
		TaskBuilder changed = planes;
		changed.convCubes(conv).offset_u = offset;
		expectRefused(changed, conv, "src_data", "second plane");
	}
	TaskBuilder before = planes;
	before.convCubes(conv).offset_u = -32;
	expectRefused(before, conv, "offset_u", "second plane");
	TaskBuilder longer = planes;
	longer.convCubes(conv).in_line_uv_stride += atom;
	expectRefused(longer, conv, "src_data", "second plane's stride");
}

TEST_F(CanaryFieldTest, Copies)
{
	/* Two surfaces of two lines that end with their buffers, from 0 to 1. */
	TaskBuilder builder = sized();
	builder.addBdma();
	nvdla_bdma_transfer &transfer = builder.bdma(0).transfers[0];
	transfer = { .src_address = 0,
		     .dst_address = 1,
		     .line_size = 64,
		     .line_repeat = 2,
		     .src_line = 128,
		     .dst_line = 128,
		     .surf_repeat = 2,
		     .src_surf = bufferBytes - 192,
		     .dst_surf = bufferBytes - 192 };
	ASSERT_EQ(run(builder), 0) << refusedField(client_->error(), NVDLA_OP_SDP);

	using Member = uint32_t nvdla_bdma_transfer::*;
	const auto refused = [&](Member member, uint32_t value, const char *name) {
		TaskBuilder changed = builder;
		changed.bdma(0).transfers[0].*member = value;
		expectRefused(changed, 0, name, std::to_string(value));
	};
	for (const Member member :
	     { &nvdla_bdma_transfer::line_size, &nvdla_bdma_transfer::src_line,
	       &nvdla_bdma_transfer::src_surf }) {
		refused(member, transfer.*member + atom, "transfers[0].src");
	}
	for (const Member member :
	     { &nvdla_bdma_transfer::line_repeat, &nvdla_bdma_transfer::surf_repeat })
		refused(member, transfer.*member + 1, "transfers[0].src");
	for (const Member member :
	     { &nvdla_bdma_transfer::dst_line, &nvdla_bdma_transfer::dst_surf })
		refused(member, transfer.*member + atom, "transfers[0].dst_address");
	for (const Member member :
	     { &nvdla_bdma_transfer::src_line, &nvdla_bdma_transfer::src_surf })
		refused(member, -atom, "transfers[0].src");
	for (const Member member :
	     { &nvdla_bdma_transfer::dst_line, &nvdla_bdma_transfer::dst_surf })
		refused(member, -atom, "transfers[0].dst_address");

	for (const int address : { bufferCount + 0, bufferCount + 1, -1, INT16_MIN, INT16_MAX }) {
		TaskBuilder changed = builder;
		changed.bdma(0).transfers[0].src_address = static_cast<int16_t>(address);
		expectRefused(changed, 0, "transfers[0].src", std::to_string(address));
		changed = builder;
		changed.bdma(0).transfers[0].dst_address = static_cast<int16_t>(address);
		expectRefused(changed, 0, "transfers[0].dst", std::to_string(address));
	}
}

TEST_F(CanaryFieldTest, AddressTables)
{
	const auto refused = [&](const drm_nvdla_address &address, const std::string &name) {
		SCOPED_TRACE(name);
		CopyTask task;
		task.addAddress(client_->buffer(0).handle());
		task.addresses.push_back(address);
		task.addCopy(0, 1, 64, 1);
		EXPECT_EQ(run(task), -EINVAL);
		EXPECT_EQ(refusedField(client_->error(), NVDLA_OP_BDMA), name);
	};
	const uint32_t own = client_->buffer(1).handle();
	/* Handles of the other process, which mean nothing here. */
	refused({ owner_.handle(), 0, 0, 0 }, "addresses[1].handle");
	refused({ UINT32_MAX, 0, 0, 0 }, "addresses[1].handle");
	refused({ own, 0, bufferBytes + atom, 0 }, "addresses[1].offset");
	refused({ own, 0, UINT64_MAX - 31, 0 }, "addresses[1].offset");
	refused({ own, 0, atom, bufferBytes }, "addresses[1].size");
	refused({ own, 0, bufferBytes - atom, UINT64_MAX - 31 }, "addresses[1].size");
	refused({ own, 0, bufferBytes - atom, 0 }, "transfers[0].dst_address");
	refused({ own, 0, 0, atom }, "transfers[0].dst_address");
	refused({ own, 0, bufferBytes, 0 }, "transfers[0].dst_address");
}

} /* namespace nvdla::test */
