/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>
#include <nvdla/task.h>

#include "loadable/cubes.h"
#include "loadable/operation_list.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

using test::DlaDescriptors;
using test::graphNode;
using test::LoadableBuilder;

/* CONV feeding SDP feeding PDP, as compilers number and connect them. */
DlaDescriptors chain()
{
	DlaDescriptors task;

	task.graph = { graphNode(NVDLA_OP_CONV), graphNode(NVDLA_OP_SDP), graphNode(NVDLA_OP_PDP) };
	task.graph[0].consumers[NVDLA_OP_SDP] = { 1, NVDLA_EVENT_OP_PROGRAMMED, 0 };
	task.graph[0].dependency_count = 1;
	task.graph[1].consumers[NVDLA_OP_PDP] = { 2, NVDLA_EVENT_OP_COMPLETED, 0 };
	task.graph[1].dependency_count = 1;
	task.graph[1].fused_parent = { 0, NVDLA_EVENT_OP_ENABLED, 0 };
	task.graph[2].dependency_count = 1;
	task.operations.resize(3);
	task.surfaces.resize(3);
	for (size_t i = 0; i < 3; i++) {
		std::memset(&task.operations[i], static_cast<int>(0x10 + i),
			    sizeof(task.operations[i]));
		std::memset(&task.surfaces[i], static_cast<int>(0x20 + i),
			    sizeof(task.surfaces[i]));
	}
	return task;
}

bool sameBytes(const auto &a, const auto &b)
{
	return sizeof(a) == sizeof(b) && !std::memcmp(&a, &b, sizeof(a));
}

nvdla_data_cube numberedCube(unsigned n)
{
	nvdla_data_cube cube = {};

	cube.type = NVDLA_MEM_MC;
	cube.address = static_cast<__s16>(n);
	cube.size = 1000 + n;
	cube.width = static_cast<__u16>(10 + n);
	cube.height = static_cast<__u16>(20 + n);
	cube.channel = static_cast<__u16>(30 + n);
	cube.line_stride = 2000 + n;
	cube.surf_stride = 3000 + n;
	cube.plane_stride = 4000 + n;
	return cube;
}

/* The cube as older files have it: the same members in the same order, without the offset. */
void appendLegacy(std::vector<std::byte> &bytes, const nvdla_data_cube &cube)
{
	const auto *raw = reinterpret_cast<const std::byte *>(&cube);
	bytes.insert(bytes.end(), raw, raw + offsetof(nvdla_data_cube, offset));
	bytes.insert(bytes.end(), raw + offsetof(nvdla_data_cube, size), raw + sizeof(cube));
}

} /* namespace */

TEST(DlaTask, ArraysAreThoseOfTheFile)
{
	LoadableBuilder builder;
	DlaDescriptors written = chain();
	written.luts.resize(2);
	std::memset(written.luts.data(), 0x33, 2 * sizeof(nvdla_lut_desc));
	const uint16_t data = builder.memory(4096);
	const uint16_t id = written.addTo(builder, { data });
	ASSERT_TRUE(builder.loadable.check());

	auto task = dlaTask(builder.loadable, id);
	ASSERT_TRUE(task) << task.error().message();
	ASSERT_EQ(task->graph.size(), 3u);
	ASSERT_EQ(task->luts.size(), 2u);
	for (size_t i = 0; i < 3; i++) {
		EXPECT_EQ(task->graph[i].index, static_cast<int>(i));
		EXPECT_EQ(task->graph[i].dependency_count, 1);
		EXPECT_TRUE(sameBytes(task->operations[i].sdp, written.operations[i].sdp));
		EXPECT_TRUE(sameBytes(task->surfaces[i], written.surfaces[i]));
	}
	EXPECT_TRUE(sameBytes(task->luts[1], written.luts[1]));
	EXPECT_EQ(task->graph[0].consumers[NVDLA_OP_SDP].index, 1);
	ASSERT_EQ(task->addresses.size(), 6u);
	EXPECT_EQ(task->addresses[1].memory, data);
	EXPECT_EQ(task->addresses[1].size, 4096u);
}

/* Lists of other compilers end where their largest engine's descriptor does. */
TEST(DlaTask, OperationsAreExtendedByVersion)
{
	const Version onnc{ 1, 2, 0 };

	for (const Version version : { Version{ 0, 12, 5 }, firstWithExtendedOperations, onnc }) {
		LoadableBuilder builder;
		DlaDescriptors written = chain();
		written.version = version;
		const uint16_t id = written.addTo(builder, {});
		const bool extended = version == firstWithExtendedOperations;
		EXPECT_EQ(operationBytes(version), extended ? 120u : 116u);
		const auto list =
			std::ranges::find(builder.loadable.blobs, "task-0-op_list", &Blob::name);
		ASSERT_NE(list, builder.loadable.blobs.end());
		EXPECT_EQ(list->data.size(), 3 * operationBytes(version));
		auto task = dlaTask(builder.loadable, id);
		ASSERT_TRUE(task) << task.error().message();
		for (size_t i = 0; i < 3; i++) {
			const nvdla_operation_desc &read = task->operations[i];
			EXPECT_TRUE(sameBytes(read.sdp, written.operations[i].sdp));
			EXPECT_EQ(read.extended.nan_to_zero, extended ? 0x10 + i : 0);
			EXPECT_EQ(read.extended.reserved, extended ? 0x1010 + 0x101 * i : 0);
		}
	}
}

TEST(DlaTask, LegacyCubesAreConvertedByVersion)
{
	const struct {
		nvdla_op_type type;
		unsigned cubes;
	} cases[] = {
		{ NVDLA_OP_CONV, 5 }, { NVDLA_OP_SDP, 5 },   { NVDLA_OP_PDP, 2 },
		{ NVDLA_OP_CDP, 2 },  { NVDLA_OP_RUBIK, 2 },
	};

	for (const auto &one : cases) {
		std::vector<std::byte> legacy;
		nvdla_surface_desc expected = {};
		for (unsigned i = 0; i < one.cubes; i++) {
			const nvdla_data_cube cube = numberedCube(i + 1);
			appendLegacy(legacy, cube);
			std::memcpy(reinterpret_cast<std::byte *>(&expected) + i * sizeof(cube),
				    &cube, sizeof(cube));
		}
		if (one.type == NVDLA_OP_CONV) {
			expected.conv.offset_u = -77;
			expected.conv.in_line_uv_stride = 99;
			const auto tail = std::span(
				reinterpret_cast<const std::byte *>(&expected.conv) + 160, 12);
			legacy.insert(legacy.end(), tail.begin(), tail.end());
		}
		legacy.resize(sizeof(nvdla_surface_desc));

		LoadableBuilder builder;
		DlaDescriptors written;
		written.graph = { graphNode(one.type) };
		written.operations.resize(1);
		written.surfaces.resize(1);
		std::memcpy(&written.surfaces[0], legacy.data(), legacy.size());
		written.version = { 0, 11, 0 };
		const uint16_t id = written.addTo(builder, { builder.memory(64) });
		ASSERT_TRUE(builder.loadable.check());
		/* ONNC's are the last two. */
		for (const Version version : { Version{ 0, 11, 0 }, Version{ 0, 12, 0 },
					       Version{ 1, 2, 0 }, Version{ 1, 3, 0 } }) {
			const bool current = version == Version{ 0, 12, 0 };
			for (Blob &blob : builder.loadable.blobs)
				blob.version = version;
			auto task = dlaTask(builder.loadable, id);
			ASSERT_TRUE(task) << task.error().message();
			EXPECT_TRUE(sameBytes(task->surfaces[0],
					      current ? written.surfaces[0] : expected))
				<< one.type << " " << toString(version);
		}
	}
}

TEST(DlaTask, EdgesToAnotherTaskAreDropped)
{
	LoadableBuilder builder;
	DlaDescriptors written = chain();
	/* SDP node 0 of a later task; here node 0 is the convolution. */
	written.graph[1].consumers[NVDLA_OP_SDP] = { 0, NVDLA_EVENT_OP_PROGRAMMED, 0 };
	written.graph[2].consumers[NVDLA_OP_PDP] = { 17, NVDLA_EVENT_OP_PROGRAMMED, 0 };
	/* And one that waits for something nobody in its task says. */
	written.graph[2].dependency_count = 2;
	const uint16_t id = written.addTo(builder, { builder.memory(64) });
	ASSERT_TRUE(builder.loadable.check());

	auto task = dlaTask(builder.loadable, id);
	ASSERT_TRUE(task);
	EXPECT_EQ(task->graph[1].consumers[NVDLA_OP_SDP].index, -1);
	EXPECT_EQ(task->graph[2].consumers[NVDLA_OP_PDP].index, -1);
	EXPECT_EQ(task->graph[0].dependency_count, 1);
	EXPECT_EQ(task->graph[2].dependency_count, 1);
}

TEST(DlaTask, UsedAddressesAreThoseOfTheCubes)
{
	auto task = dlaTask(test::copyLoadable(std::vector<std::byte>(64)), 0);
	ASSERT_TRUE(task);
	std::vector<bool> used;
	for (const TaskAddress &address : task->addresses)
		used.push_back(address.used);
	EXPECT_EQ(used, (std::vector<bool>{ false, true, true, false, false, false }));
}

TEST(DlaTask, ShortListsAreNamed)
{
	const struct {
		const char *blob;
		const char *where;
	} cases[] = {
		{ "task-0-addr0", "task 0 network descriptor" },
		{ "task-0-dep_graph", "task 0 dependency graph" },
		{ "task-0-op_list", "task 0 operation list" },
		{ "task-0-surf_list", "task 0 surface list" },
		{ "task-0-lut_list", "task 0 LUT list" },
	};

	for (const auto &one : cases) {
		LoadableBuilder builder;
		DlaDescriptors written = chain();
		written.luts.resize(1);
		const uint16_t id = written.addTo(builder, { builder.memory(64) });
		for (Blob &blob : builder.loadable.blobs) {
			if (blob.name == one.blob)
				blob.data.pop_back();
		}
		ASSERT_TRUE(builder.loadable.check());
		auto task = dlaTask(builder.loadable, id);
		ASSERT_FALSE(task) << one.blob;
		EXPECT_EQ(task.error().code, ErrorCode::InvalidFile);
		EXPECT_EQ(task.error().where, one.where);
	}
}

TEST(DlaTask, RefusesWhatIsNoTaskForTheCore)
{
	LoadableBuilder builder;
	DlaDescriptors written = chain();
	written.graph[1].op_type = 6;
	const uint16_t id = written.addTo(builder, { builder.memory(64) });
	auto task = dlaTask(builder.loadable, id);
	ASSERT_FALSE(task);
	EXPECT_EQ(task.error().where, "task 0 graph[1].op_type");

	EXPECT_FALSE(dlaTask(builder.loadable, 9));
	builder.loadable.tasks[0].interface = Interface::Emu1;
	EXPECT_FALSE(dlaTask(builder.loadable, id));

	LoadableBuilder newer;
	DlaDescriptors future = chain();
	future.version = { 0, 14, 0 };
	const uint16_t futureId = future.addTo(newer, { newer.memory(64) });
	auto refused = dlaTask(newer.loadable, futureId);
	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
}

} /* namespace nvdla */
