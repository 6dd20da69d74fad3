/* SPDX-License-Identifier: MIT */
/*
 * The fuzz target on a fixed set of damaged files, with any compiler.
 */
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <nvdla/task.h>

#include "edge_network.h"
#include "loadable_read.h"

namespace nvdla
{

namespace
{

void readDamaged(const Loadable &loadable)
{
	auto written = loadable.write();
	ASSERT_TRUE(written) << written.error().message();
	const auto *first = reinterpret_cast<const uint8_t *>(written->data());
	const std::vector<uint8_t> good(first, first + written->size());
	std::mt19937 random(25);

	fuzz::readLoadable(good.data(), good.size());
	for (int round = 0; round < 3000; round++) {
		std::vector<uint8_t> bytes = good;
		for (unsigned hits = 1 + random() % 3; hits; hits--)
			bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
		if (round % 4 == 0)
			bytes.resize(random() % bytes.size());
		fuzz::readLoadable(bytes.data(), bytes.size());
	}
}

} /* namespace */

TEST(LoadableRead, DamagedExampleNetwork)
{
	auto loadable = examples::edgeNetwork({ 16, 16 });
	ASSERT_TRUE(loadable);
	readDamaged(*loadable);
}

/* Small, so that what is particular to such tasks is hit. */
TEST(LoadableRead, DamagedTasksOfTheHost)
{
	Loadable loadable;
	for (uint16_t id = 0; id < 2; id++) {
		Memory memory{ .id = id, .flags = MemoryAlloc, .size = 64, .alignment = 32 };
		memory.flags |= id ? MemoryOutput : MemoryInput;
		memory.tensorDescId = id;
		loadable.memories.push_back(std::move(memory));
		TensorEntry entry{ .id = id, .memId = id, .size = 8, .dataType = 33 };
		entry.pixelFormat = static_cast<uint8_t>(PixelFormat::Plain);
		entry.name = id ? "y" : "x";
		entry.n = entry.c = entry.h = entry.w = 1;
		entry.stride[1] = entry.stride[2] = 8;
		entry.signature = { { 1, 1 }, ElementOrder::Nchw };
		loadable.tensors.push_back(std::move(entry));
		Task task{ .id = id, .interface = Interface::Host1 };
		task.inputs = { 0 };
		task.outputs = { 1 };
		task.model = id ? "model" : "";
		task.layers = { "CumSum 'y'" };
		task.reasons = { "is not known" };
		loadable.tasks.push_back(std::move(task));
		loadable.submits.push_back({ id, { id } });
	}
	/* A state, so that damage meets its tensors, too */
	loadable.tensors[1].name = "s";
	loadable.states = { { 0, 1 } };
	loadable.blobs.push_back({ .name = "model", .interface = Interface::Host1, .data = {} });
	loadable.blobs.back().data.resize(5);
	ASSERT_TRUE(tasksInOrder(loadable));
	readDamaged(loadable);
}

} /* namespace nvdla */
