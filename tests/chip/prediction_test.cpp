/* SPDX-License-Identifier: MIT */
/*
 * Predictions of networks, beside what the device model counts when it runs them.
 */
#include <chrono>
#include <filesystem>

#include <gtest/gtest.h>
#include <nvdla/graph.h>
#include <nvdla/loadable_json.h>
#include <nvdla/network.h>

#include "edge_network.h"
#include "graph/prediction/task_work.h"
#include "reference_data.h"
#include "tools/prof/prediction_profile.h"
#include "tools/prof/prediction_table.h"
#include "tools/prof/timeline_svg.h"

using namespace nvdla;

namespace
{

Loadable edges()
{
	auto loadable = examples::edgeNetwork({ .width = 256, .height = 128 });
	EXPECT_TRUE(loadable) << (loadable ? "" : loadable.error().message());
	return loadable ? *std::move(loadable) : Loadable();
}

chip::Prediction predicted(const Loadable &loadable, const sim::Chip &chip = {})
{
	auto prediction = chip::predict(loadable, chip, "net");
	EXPECT_TRUE(prediction) << (prediction ? "" : prediction.error().message());
	return prediction ? *std::move(prediction) : chip::Prediction();
}

TEST(Prediction, CountsEachOperationOnce)
{
	const Loadable loadable = edges();
	const auto tasks = tasksInOrder(loadable);
	ASSERT_TRUE(tasks);
	size_t operations = 0;
	for (const AnyTask &task : *tasks)
		if (const auto *dla = std::get_if<DlaTask>(&task))
			operations += dla->graph.size();
	size_t members = 0;
	for (const auto &operation : predicted(loadable).operations) {
		members += operation.members.size();
		EXPECT_GT(operation.endNs, operation.startNs);
	}
	EXPECT_EQ(members, operations);
}

TEST(Prediction, SlowMemoryMakesItSlower)
{
	const Loadable loadable = edges();
	sim::Chip slow;
	slow.dram = 0.2e9;
	sim::Chip far;
	far.dramLatency = 10e-6;
	const uint64_t usual = predicted(loadable).durationNs;

	EXPECT_GT(predicted(loadable, slow).durationNs, 2 * usual);
	EXPECT_EQ(predicted(loadable, far).durationNs, usual + 9900);
	bool dram = false;
	for (const auto &operation : predicted(loadable, slow).operations)
		dram = dram || operation.timing.bound == sim::Bound::Dram;
	EXPECT_TRUE(dram);
}

TEST(Prediction, TableHasALineForEachAndTheSum)
{
	const chip::Prediction prediction = predicted(edges());
	const std::string table = chip::predictionTable(prediction);

	EXPECT_EQ(static_cast<size_t>(std::ranges::count(table, '\n')),
		  prediction.operations.size() + 2 + (prediction.cpuOperations ? 1 : 0))
		<< table;
	EXPECT_NE(table.find("net on 1 GHz, DRAM 10 GB/s after 100 ns"), std::string::npos)
		<< table;
	EXPECT_NE(table.find("runs/s"), std::string::npos);
	EXPECT_NE(table.find("CONV+SDP"), std::string::npos);
}

TEST(Prediction, ScheduleIsAPicture)
{
	const prof::Profile profile = chip::predictionProfile(predicted(edges()));

	EXPECT_NE(prof::timelineSvg(profile).find("CONV"), std::string::npos);
	EXPECT_EQ(profile.durationNs, predicted(edges()).durationNs);
}

TEST(Prediction, WhatTheDriverRefusesIsRefused)
{
	const Loadable loadable = edges();
	auto tasks = tasksInOrder(loadable);
	ASSERT_TRUE(tasks);
	DlaTask task;
	for (const AnyTask &any : *tasks)
		if (const auto *dla = std::get_if<DlaTask>(&any))
			task = *dla;
	ASSERT_FALSE(task.graph.empty());
	task.surfaces[0].conv.src_data.width = 0;
	const auto works = chip::taskWork(loadable, task);
	ASSERT_FALSE(works);
	EXPECT_NE(works.error().message().find("width"), std::string::npos)
		<< works.error().message();
}

/* Other compilers give a memory the bytes of what is in it, and the core reads whole atoms. */
TEST(Prediction, MemoriesAreAsLargeAsTheirBuffers)
{
	Loadable loadable = edges();
	for (Memory &memory : loadable.memories) {
		if (!memory.contents.empty())
			continue; /* descriptors of tasks, and constants */
		for (Address &address : loadable.addresses) {
			if (address.memId == memory.id &&
			    address.offset + address.size >= memory.size)
				address.size = memory.size - 16 - address.offset;
		}
		memory.size -= 16;
	}
	EXPECT_EQ(predicted(loadable).durationNs, predicted(edges()).durationNs);
}

/* The counters are what the device's timing of the same operations says. */
void expectDeviceAgrees(const Loadable &loadable, const std::string &name,
			const std::string &path = "embedded",
			const sim::TimingParameters &parameters = {})
{
	auto device = Device::open(path);
	ASSERT_TRUE(device);
	auto network = Network::load(*device, loadable);
	ASSERT_TRUE(network) << name << " " << network.error().message();
	RunOptions options;
	options.statistics = true;
	const auto report = network->run(options);
	ASSERT_TRUE(report) << name << " " << report.error().message();

	/* Without a chip, the embedded device's memory is that of the reference vectors. */
	const auto tasks = tasksInOrder(loadable);
	ASSERT_TRUE(tasks);
	std::vector<OperationReport> results;
	for (const RunReport::Step &step : report->steps)
		results.insert(results.end(), step.results.begin(), step.results.end());
	size_t first = 0;
	size_t convolutions = 0;
	for (const AnyTask &any : *tasks) {
		const auto *task = std::get_if<DlaTask>(&any);
		if (!task)
			continue;
		const auto works = chip::taskWork(loadable, *task);
		ASSERT_TRUE(works) << name << " " << works.error().message();
		for (const chip::FusedWork &fused : *works) {
			if (!fused.work.conv)
				continue;
			const auto timing = sim::timeOperation(fused.work, parameters);
			const auto &result = results.at(first + fused.members.front());
			EXPECT_EQ(result.readLatency, timing.dataCycles)
				<< name << " operation " << fused.members.front();
			EXPECT_EQ(result.weightReadLatency, timing.weightCycles)
				<< name << " operation " << fused.members.front();
			EXPECT_EQ(result.readStall, timing.readStall);
			EXPECT_EQ(result.weightReadStall, timing.weightStall);
			convolutions++;
		}
		first += task->graph.size();
	}
	EXPECT_GT(convolutions, 0U) << name;
}

TEST(Prediction, IsWhatTheDeviceSays)
{
	expectDeviceAgrees(edges(), "edges");
}

TEST(Prediction, IsWhatTheDeviceSaysOfAChip)
{
	sim::Chip chip;
	chip.clock = 500e6;
	chip.dram = 1e9;
	chip.dramLatency = 300e-9;
	expectDeviceAgrees(edges(), "edges", "embedded:clock=500MHz,dram=1GB/s,dram-latency=300ns",
			   chip.parameters());
}

/* 32 channels of 16 x 16 to as many, 3 x 3. */
Loadable layerFor(const CoreGeometry &core)
{
	constexpr uint32_t channels = 32;
	Graph graph;

	graph.input({ .name = "x", .type = DataType::Int8, .c = channels, .h = 16, .w = 16 });
	graph.weights({ "w", channels, channels, 3, 3,
			Elements::of(std::vector<int8_t>(channels * channels * 9, 1)) });
	graph.add(op::Convolution{ .name = "conv", .input = "x", .weights = "w", .output = "s" });
	graph.add(op::Sdp{ .name = "relu",
			   .input = "s",
			   .output = "y",
			   .x1 = op::SdpUnit{ .activation = op::Activation::Relu } });
	graph.output("y");
	auto loadable = graph.assemble({ .core = core });
	EXPECT_TRUE(loadable) << (loadable ? "" : loadable.error().message());
	return loadable ? *std::move(loadable) : Loadable();
}

TEST(Prediction, IsThatOfTheCore)
{
	const auto small = findCoreVariant("nv_small").value();
	const uint64_t usual = predicted(layerFor(nvFull)).durationNs;
	const uint64_t smaller = predicted(layerFor(small)).durationNs;

	/* 14 x 14 positions, 9 taps; per tap 4 x 4 blocks of 8 x 8, or half of one of 64 x 32. */
	EXPECT_GE(smaller, 14U * 14 * 9 * 16);
	EXPECT_LT(4 * usual, smaller) << "which waits for memory for half of the time";
	expectDeviceAgrees(layerFor(small), "layer", "embedded:nv_small", {});
}

TEST(Realtime, TakesAsLongAsTheChip)
{
	/* At 1 MHz the network takes some tenths of a second. */
	const Loadable loadable = edges();
	sim::Chip chip;
	chip.clock = 1e6;
	const auto expected = std::chrono::nanoseconds(predicted(loadable, chip).durationNs);
	auto device = Device::open("embedded:clock=1MHz,realtime");
	ASSERT_TRUE(device) << device.error().message();
	auto network = Network::load(*device, loadable);
	ASSERT_TRUE(network) << network.error().message();
	const auto begin = std::chrono::steady_clock::now();
	ASSERT_TRUE(network->run({}));
	EXPECT_GE(std::chrono::steady_clock::now() - begin, expected * 9 / 10);
}

TEST(Prediction, IsWhatTheDeviceSaysOfReferenceNetworks)
{
	const auto folder = nvdla::test::referenceData() / "loadables" / "compiled";
	if (!std::filesystem::is_directory(folder))
		GTEST_SKIP() << "no reference data in " << folder
			     << " (set NVDLA_REFERENCE_DATA to its folder)";
	for (const char *name : { "lenet_trained", "inception", "resnet18_32" }) {
		const auto loadable =
			readLoadable((folder / name / "nv_full_int8_fast-math.nvdla").string());
		ASSERT_TRUE(loadable) << loadable.error().message();
		expectDeviceAgrees(*loadable, name);
	}
}

} /* namespace */
