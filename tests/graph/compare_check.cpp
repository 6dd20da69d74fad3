/* SPDX-License-Identifier: MIT */
#include "compare_check.h"

#include <gtest/gtest.h>

#include "graph_check.h"

namespace nvdla::test
{

namespace
{

/* What the operations of a case's first step counted, in their order; empty after a failure. */
std::vector<uint32_t> countUnequal(const Device &device, const RandomCase &made)
{
	auto network = loadCase(device, made);
	EXPECT_TRUE(network) << network.error().message();
	RunOptions options;
	options.statistics = true;
	auto report = network ? network->run(options) : Result<RunReport>(RunReport());
	EXPECT_TRUE(report) << report.error().message();
	std::vector<uint32_t> unequal;
	if (report && !report->steps.empty()) {
		for (const OperationReport &result : report->steps[0].results)
			unequal.push_back(result.unequal);
	}
	return unequal;
}

/*
 * x is computed twice; the second time one element is different, if there is to
 * be a difference. Returns what each comparison says.
 */
std::vector<uint32_t> compare(const Device &device, DataType type, uint32_t channels,
			      bool different)
{
	constexpr uint32_t h = 5;
	constexpr uint32_t w = 3;
	const size_t count = size_t{ channels } * h * w;
	Dice dice(7);
	RandomCase made;
	GraphOperands change{ .name = "change", .c = channels, .h = h, .w = w };
	std::vector<float> changes(count);

	changes[count - 1] = different ? 1.0f : 0.0f;
	change.alu = { type, elementsFromFloat(type, changes) };
	made.graph.input({ .name = "x", .type = type, .c = channels, .h = h, .w = w });
	made.inputs["x"] = dice.cube(type, 1, channels, h, w);
	/* No element is next to saturation. */
	for (double &value : made.inputs["x"].values)
		value = static_cast<int>(value) / 2;
	made.inputNames = { "x" };
	made.graph.operands(std::move(change));
	for (const char *output : { "y", "z" })
		made.graph.add(
			op::Sdp{ .name = std::string("to ") + output,
				 .input = "x",
				 .output = output,
				 .x1 = op::SdpUnit{ .alu = op::Alu::Sum,
						    .operands = *output == 'z' ? "change" : "" } });
	made.graph.add(op::Compare{ .name = "same", .input = "y", .with = "y" });
	made.graph.add(op::Compare{ .name = "twice", .input = "y", .with = "z" });
	made.graph.output("z");

	return countUnequal(device, made);
}

/* Two batches, of whose last cubes one element may be different. */
uint32_t compareBatches(const Device &device, DataType type, bool different)
{
	Dice dice(8);
	RandomCase made;

	for (const char *name : { "a", "b" }) {
		made.graph.input({ .name = name, .type = type, .c = 40, .h = 3, .w = 2, .n = 3 });
		made.inputNames.push_back(name);
	}
	made.inputs["a"] = dice.cube(type, 3, 40, 3, 2);
	made.inputs["b"] = made.inputs["a"];
	if (different) {
		double &last = made.inputs["b"].values.back();
		last = last == 0 ? 1 : 0;
	}
	made.graph.add(op::Compare{ .name = "compare", .input = "a", .with = "b" });
	/* A loadable has an output. */
	made.graph.input({ .name = "c", .type = type, .c = 32, .h = 1, .w = 1 });
	made.inputs["c"] = dice.cube(type, 1, 32, 1, 1);
	made.inputNames.push_back("c");
	made.graph.add(op::Copy{ .name = "copy", .transfers = { { "c", "y" } } });
	made.graph.output("y");

	const std::vector<uint32_t> unequal = countUnequal(device, made);
	return unequal.empty() ? ~0U : unequal[0];
}

} /* namespace */

void checkComparisons(const std::string &path)
{
	auto device = Device::open(path);
	ASSERT_TRUE(device) << device.error().message();

	for (const DataType type : { DataType::Int8, DataType::Int16, DataType::Half }) {
		for (const bool different : { false, true })
			EXPECT_EQ(compareBatches(*device, type, different), different)
				<< "batches of " << dataTypeName(type);
		for (const uint32_t channels : { 32u, 40u, 100u }) {
			for (const bool different : { false, true }) {
				EXPECT_EQ(compare(*device, type, channels, different),
					  (std::vector<uint32_t>{ 0, 0, 0, different }))
					<< dataTypeName(type) << ", " << channels << " channels";
			}
		}
	}
}

} /* namespace nvdla::test */
