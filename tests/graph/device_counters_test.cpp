/* SPDX-License-Identifier: MIT */
/*
 * What the core counts, in the guest: in results of jobs and in sysfs. The embedded device
 * runs the same model, so it has to count the same.
 */
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <drm/nvdla_descriptors.h>
#include <gtest/gtest.h>

#include "driver_files.h"
#include "graph_check.h"

namespace nvdla::test
{

namespace
{

using Counts = OperationReport;

/* In the order of enum nvdla_op_type. */
constexpr const char *engines[] = { "bdma", "conv", "sdp", "pdp", "cdp", "rubik" };

/* Files in sysfs, and the member of a result that each adds up. */
const std::map<std::string, std::function<uint64_t(const Counts &)>> &counters()
{
	static const std::map<std::string, std::function<uint64_t(const Counts &)>> table = {
		{ "operations", [](const Counts &) { return 1; } },
		{ "counted_operations", [](const Counts &) { return 1; } },
		{ "read_stall_cycles", [](const Counts &c) { return c.readStall; } },
		{ "write_stall_cycles", [](const Counts &c) { return c.writeStall; } },
		{ "weight_read_stall_cycles", [](const Counts &c) { return c.weightReadStall; } },
		{ "read_latency_cycles", [](const Counts &c) { return c.readLatency; } },
		{ "weight_read_latency_cycles",
		  [](const Counts &c) { return c.weightReadLatency; } },
		{ "x1_read_stall_cycles", [](const Counts &c) { return c.operandReadStall[0]; } },
		{ "x2_read_stall_cycles", [](const Counts &c) { return c.operandReadStall[1]; } },
		{ "y_read_stall_cycles", [](const Counts &c) { return c.operandReadStall[2]; } },
		{ "saturation", [](const Counts &c) { return c.saturation; } },
		{ "nan_input", [](const Counts &c) { return c.nanInput; } },
		{ "inf_input", [](const Counts &c) { return c.infInput; } },
		{ "nan_output", [](const Counts &c) { return c.nanOutput; } },
		{ "nan_weight", [](const Counts &c) { return c.nanWeight; } },
		{ "inf_weight", [](const Counts &c) { return c.infWeight; } },
		{ "lut_underflow", [](const Counts &c) { return c.lut.underflow; } },
		{ "lut_overflow", [](const Counts &c) { return c.lut.overflow; } },
		{ "lut_le_hit", [](const Counts &c) { return c.lut.leHit; } },
		{ "lut_lo_hit", [](const Counts &c) { return c.lut.loHit; } },
		{ "lut_hybrid", [](const Counts &c) { return c.lut.hybrid; } },
	};
	return table;
}

/* The chip that the device under test counts the time of. */
std::string embeddedPath()
{
	const char *chip = std::getenv("NVDLA_CHIP");
	return chip ? std::string(Device::embeddedPath) + ":" + chip : Device::embeddedPath;
}

/* PDP and CDP do not count what they read, as the hardware. */
const std::set<std::string> neverCount = { "pdp nan_input", "pdp inf_input", "cdp nan_input",
					   "cdp inf_input" };

std::string devicePath()
{
	const char *path = std::getenv("NVDLA_DEVICE");
	return path ? path : "/dev/accel/accel0";
}

/* Runs a case; the results of all its operations. */
Result<std::vector<Counts>> countsOf(const std::string &path, const RandomCase &made)
{
	auto device = Device::open(path);
	if (!device)
		return tl::unexpected(device.error());
	auto network = loadCase(*device, made);
	if (!network)
		return tl::unexpected(network.error());
	RunOptions options;
	options.statistics = true;
	auto report = network->run(options);
	if (!report)
		return tl::unexpected(report.error());

	std::vector<Counts> counts;
	for (const RunReport::Step &step : report->steps)
		counts.insert(counts.end(), step.results.begin(), step.results.end());
	return counts;
}

/* The driver clears on-chip memory with BDMA before it gives it out. */
uint64_t clearedBuffers(const RandomCase &made)
{
	const auto loadable = made.graph.assemble(made.options);

	return loadable ? static_cast<uint64_t>(std::count_if(
				  loadable->memories.begin(), loadable->memories.end(),
				  [](const Memory &memory) {
					  return memory.domain == MemoryDomain::Sram;
				  }))
			: 0;
}

/* 16 channels of 4x4 FP16 elements: three NaNs and two infinities among them. */
RandomCase specialNumbers()
{
	RandomCase made;
	Cube input{ .type = DataType::Half, .n = 1, .c = 16, .h = 4, .w = 4 };

	input.values.assign(256, 1);
	for (const size_t i : { 0u, 100u, 255u })
		input.values[i] = std::numeric_limits<float>::quiet_NaN();
	for (const size_t i : { 17u, 200u })
		input.values[i] = std::numeric_limits<float>::infinity();
	made.graph.input({ .name = "x", .type = DataType::Half, .c = 16, .h = 4, .w = 4 });
	made.graph.add(op::Sdp{ .name = "copy",
				.input = "x",
				.output = "y",
				.x1 = op::SdpUnit{ .activation = op::Activation::Relu } });
	made.graph.output("y");
	made.inputs["x"] = input;
	made.inputNames = { "x" };
	made.outputNames = { "y" };
	return made;
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

/*
 * A network in which each engine waits for its memory, and FP16 numbers that are none reach all
 * that count them.
 */
RandomCase slowAndSpecial()
{
	RandomCase made;
	Dice dice(5);
	constexpr uint32_t c = 64, side = 16;
	std::vector<float> weights(size_t{ c } * c * 3 * 3, 0.25f);

	weights[1] = nan;
	weights[2] = inf;
	for (const char *name : { "x", "z" }) {
		Cube cube = dice.cube(DataType::Half, 1, c, side, side);
		cube.values[3] = nan;
		cube.values[5] = inf;
		made.graph.input(
			{ .name = name, .type = DataType::Half, .c = c, .h = side, .w = side });
		made.inputs[name] = std::move(cube);
		made.inputNames.push_back(name);
	}
	made.graph.weights({ "w", c, c, 3, 3, Elements::half(weights) });
	made.graph.lut("lut", dice.lut(true, 4));
	made.graph.add(op::Convolution{ .name = "conv",
					.input = "x",
					.weights = "w",
					.output = "sums",
					.padding = { 1, 1, 1, 1 } });
	const op::SdpUnit add{ .alu = op::Alu::Sum, .operands = "z" };
	made.graph.add(op::Sdp{ .name = "fused",
				.input = "sums",
				.output = "y",
				.x1 = add,
				.x2 = add,
				.y = op::SdpUnit{ .multiply = true, .operands = "z" } });
	made.graph.add(op::Sdp{ .name = "sdp", .input = "x", .output = "a", .x1 = add });
	made.graph.add(op::Pooling{ .name = "pdp", .input = "x", .output = "p" });
	made.graph.add(
		op::Normalization{ .name = "cdp", .input = "x", .output = "n", .lut = "lut" });
	made.graph.surface({ .name = "planes", .planar = true });
	made.graph.add(op::SplitPlanes{ .name = "rubik", .input = "x", .output = "planes" });
	made.graph.add(op::Copy{ .name = "bdma", .transfers = { { "x", "copy" } } });
	for (const char *name : { "y", "a", "p", "n", "planes", "copy" })
		made.graph.output(name);
	return made;
}

/* INT16 sums of more than 32 bits, and numbers far below and above a look-up table. */
RandomCase largeNumbers()
{
	RandomCase made;
	Dice dice(6);
	constexpr uint32_t c = 64, side = 8;
	const std::vector<int16_t> weights(size_t{ c } * c, INT16_MAX);

	made.graph.input({ .name = "x", .type = DataType::Int16, .c = c, .h = side, .w = side });
	made.inputs["x"] = dice.cube(DataType::Int16, 1, c, side, side);
	std::vector<double> &values = made.inputs["x"].values;
	for (size_t i = 0; i < values.size(); i++)
		values[i] = i % 2 ? INT16_MAX : INT16_MIN;
	made.inputNames = { "x" };
	made.graph.weights({ "w", c, c, 1, 1, Elements::of(weights) });
	made.graph.add(
		op::Convolution{ .name = "conv", .input = "x", .weights = "w", .output = "sums" });
	made.graph.add(op::Sdp{ .name = "sdp", .input = "sums", .output = "y" });
	Lut lut;
	lut.le.end = 64;
	lut.lo.end = 256;
	made.graph.lut("lut", lut);
	made.graph.add(op::Sdp{ .name = "far",
				.input = "x",
				.output = "z",
				.y = op::SdpUnit{ .activation = op::Activation::LookUp },
				.lut = "lut" });
	made.graph.output("y");
	made.graph.output("z");
	return made;
}

class DeviceCounters : public testing::Test
{
protected:
	void SetUp() override
	{
		folder_ = deviceFolder();
		ASSERT_FALSE(folder_.empty()) << devicePath() << " is not in /sys/class/accel";
		ASSERT_EQ(writeFile(folder_ / "counters/enable", "1"), 0);
		ASSERT_EQ(writeFile(folder_ / "counters/reset", "1"), 0);
	}

	void TearDown() override { writeFile(folder_ / "counters/enable", "0"); }

	/* Each file in sysfs is the sum over the operations of its engine, and the driver's own. */
	void expectInSysfs(const std::vector<Counts> &counts, uint64_t cleared = 0) const
	{
		for (size_t type = 0; type < std::size(engines); type++) {
			const auto folder = folder_ / (std::string("counters_") + engines[type]);
			for (const auto &entry : std::filesystem::directory_iterator(folder)) {
				const std::string name = entry.path().filename();
				if (name == "busy_time_us")
					continue;
				uint64_t sum =
					type == NVDLA_OP_BDMA && name == "operations" ? cleared : 0;
				for (const Counts &count : counts) {
					if (count.engine == type)
						sum += counters().at(name)(count);
				}
				EXPECT_EQ(readFile(entry.path()), std::to_string(sum) + "\n")
					<< entry.path();
			}
		}
	}

	std::filesystem::path folder_;
};

} /* namespace */

TEST_F(DeviceCounters, EqualThoseOfTheEmbeddedDevice)
{
	constexpr uint32_t lastSeed = 30;
	std::map<std::string, uint64_t> totals;
	std::vector<Counts> all;
	uint64_t cleared = 0;

	for (uint32_t seed = 0; seed <= lastSeed + 1; seed++) {
		const RandomCase made = seed == 0	  ? slowAndSpecial()
					: seed > lastSeed ? largeNumbers()
							  : randomCase(seed);
		const auto here = countsOf(devicePath(), made);
		const auto there = countsOf(embeddedPath(), made);
		ASSERT_TRUE(here) << here.error().message();
		ASSERT_TRUE(there) << there.error().message();
		ASSERT_EQ(here->size(), there->size());
		cleared += clearedBuffers(made);
		for (size_t i = 0; i < here->size(); i++) {
			const Counts &count = (*here)[i];
			EXPECT_TRUE(count.counted);
			EXPECT_TRUE((*there)[i].counted);
			ASSERT_EQ(count.engine, (*there)[i].engine);
			EXPECT_EQ(count.unequal, (*there)[i].unequal);
			for (const auto &[name, value] : counters()) {
				EXPECT_EQ(value(count), value((*there)[i]))
					<< "seed " << seed << ", operation " << i << " ("
					<< engines[count.engine] << "): " << name;
				totals[engines[count.engine] + (" " + name)] += value(count);
			}
			all.push_back(count);
		}
	}
	expectInSysfs(all, cleared);

	/* Else it was the equality of nothing. Without a chip the memory is never waited for. */
	ASSERT_NE(std::getenv("NVDLA_CHIP"), nullptr);
	for (const char *engine : engines) {
		const auto folder = folder_ / (std::string("counters_") + engine);
		for (const auto &entry : std::filesystem::directory_iterator(folder)) {
			const std::string name = entry.path().filename();
			const std::string counter = std::string(engine) + " " + name;
			if (name != "busy_time_us" && !neverCount.contains(counter)) {
				EXPECT_GT(totals[counter], 0u) << counter;
			}
		}
	}
}

TEST_F(DeviceCounters, KnowNumbersThatAreNone)
{
	const auto counts = countsOf(devicePath(), specialNumbers());

	ASSERT_TRUE(counts) << counts.error().message();
	ASSERT_EQ(counts->size(), 1u);
	EXPECT_EQ(counts->front().nanInput, 3u);
	EXPECT_EQ(counts->front().infInput, 2u);
	EXPECT_EQ(counts->front().nanOutput, 3u);
	/* Infinity becomes the largest number, which counts as saturated. */
	EXPECT_EQ(counts->front().saturation, 2u);
	EXPECT_EQ(counts->front().unequal, 0u);
	expectInSysfs(*counts);
}

} /* namespace nvdla::test */
