/* SPDX-License-Identifier: MIT */
/*
 * Files that existing compilers emitted.
 */
#include <cstring>

#include <gtest/gtest.h>
#include <nvdla/task.h>

#include "loadable/network_descriptor.h"
#include "loadable/task_lists.h"
#include "test_support.h"

namespace nvdla
{

TEST(ReferenceLoadable, AllAreReadAndWrittenBack)
{
	NVDLA_NEED_REFERENCE(reference);
	const auto paths = test::referenceLoadables(reference);
	ASSERT_GT(paths.size(), 50u);

	for (const auto &path : paths) {
		auto loadable = Loadable::readFile(path);
		ASSERT_TRUE(loadable) << path << ": " << loadable.error().message();
		auto bytes = loadable->write();
		ASSERT_TRUE(bytes) << path;
		auto again = Loadable::read(*bytes);
		ASSERT_TRUE(again) << path;
		EXPECT_TRUE(*again == *loadable) << path;

		auto tasks = tasksInOrder(*loadable);
		EXPECT_TRUE(tasks) << path << ": " << tasks.error().message();
		auto outputs = loadable->outputs();
		ASSERT_TRUE(outputs) << path << ": " << outputs.error().message();
		EXPECT_FALSE(outputs->empty()) << path;
		auto inputs = loadable->inputs();
		EXPECT_TRUE(inputs) << path << ": " << inputs.error().message();
	}
}

/* Only two networks have edges that were not counted within the task. */
TEST(ReferenceLoadable, DependenciesAreCountedAsCompilersDo)
{
	NVDLA_NEED_REFERENCE(reference);

	for (const auto &path : test::referenceLoadables(reference)) {
		const std::string network = path.parent_path().filename().string();
		if (network == "power_identity" || network == "inception_misaligned")
			continue;
		auto loadable = Loadable::readFile(path);
		ASSERT_TRUE(loadable);
		const LoadableIndex index(*loadable);
		for (const Task &entry : loadable->tasks) {
			if (entry.interface != Interface::Dla1)
				continue;
			auto task = dlaTask(index, entry.id);
			ASSERT_TRUE(task) << path;
			const TaskLists lists(index, entry);
			const auto network = element<nvdla_network_desc>(
				lists.find("network", 0, sizeof(nvdla_network_desc))->bytes, 0);
			const auto graph =
				lists.find("graph", network.dependency_graph_index,
					   task->graph.size() * sizeof(nvdla_graph_node));
			ASSERT_TRUE(graph);
			for (size_t i = 0; i < task->graph.size(); i++) {
				auto node = element<nvdla_graph_node>(graph->bytes, i);
				node.index = static_cast<__s16>(i);
				EXPECT_EQ(std::memcmp(&node, &task->graph[i], sizeof(node)), 0)
					<< path << " operation " << i;
			}
		}
	}
}

TEST(ReferenceLoadable, CrossTaskEdgesOfPowerIdentityAreGone)
{
	NVDLA_NEED_REFERENCE(reference);
	auto loadable = Loadable::readFile(
		reference / "loadables/compiled/power_identity/nv_full_fp16_default.nvdla");
	ASSERT_TRUE(loadable);
	auto tasks = tasksInOrder(*loadable);
	ASSERT_TRUE(tasks);
	ASSERT_EQ(tasks->size(), 3u);

	const auto &first = std::get<DlaTask>((*tasks)[0]);
	EXPECT_EQ(first.graph.at(1).consumers[NVDLA_OP_SDP].index, -1);
	EXPECT_EQ(std::get<EmuTask>((*tasks)[1]).operations.at(0).type, EmuOpType::Power);
	EXPECT_EQ(std::get<DlaTask>((*tasks)[2]).graph.at(0).dependency_count, 0);
}

TEST(ReferenceLoadable, LegacyConvolutionHasItsCubes)
{
	NVDLA_NEED_REFERENCE(reference);
	auto loadable = Loadable::readFile(reference / "loadables/CONV_D_L0_0_fbuf");
	ASSERT_TRUE(loadable);
	auto task = dlaTask(*loadable, 0);
	ASSERT_TRUE(task);
	ASSERT_EQ(task->surfaces.size(), 2u);

	const nvdla_conv_surface_desc &conv = task->surfaces[0].conv;
	EXPECT_EQ(conv.weight_data.address, 4);
	EXPECT_EQ(conv.weight_data.size, 73728u);
	EXPECT_EQ(conv.src_data.address, 5);
	EXPECT_EQ(conv.src_data.width, 8);
	EXPECT_EQ(conv.src_data.channel, 128);
	EXPECT_EQ(conv.src_data.line_stride, 256u);
	EXPECT_EQ(conv.dst_data.type, NVDLA_MEM_HW);
	EXPECT_EQ(task->surfaces[1].sdp.dst_data.address, 6);
	EXPECT_EQ(task->surfaces[1].sdp.dst_data.surf_stride, 2048u);
}

} /* namespace nvdla */
