/* SPDX-License-Identifier: MIT */
/*
 * What nvdla-run says about saturated values, NaNs and look-up tables, without being asked.
 */
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <nvdla/graph.h>

#include "run_program.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

constexpr uint32_t channels = 32;

/* Two operations, each of which multiplies by \a factor. */
Loadable scaleTwice(DataType type, int16_t factor)
{
	Graph graph;

	graph.input({ .name = "x", .type = type, .c = channels, .h = 1, .w = 1 });
	for (const auto &[input, output] : { std::pair{ "x", "y" }, std::pair{ "y", "z" } }) {
		op::Sdp sdp{ .name = output, .input = input, .output = output };
		sdp.x1 = op::SdpUnit{ .activation = op::Activation::Relu };
		if (type != DataType::Half)
			sdp.converter = Converter{ .scale = factor };
		graph.add(sdp);
	}
	graph.output("z");
	return graph.assemble().value();
}

/* Tables that cover -8 to 8. */
Loadable sigmoidNetwork()
{
	Graph graph;

	graph.input({ .name = "x", .type = DataType::Half, .c = channels, .h = 1, .w = 1 });
	graph.lut("sigmoid",
		  makeLut({ .type = DataType::Half, .function = sigmoid, .low = -8, .high = 8 })
			  .value()
			  .lut);
	graph.add(op::Sdp{ .name = "y",
			   .input = "x",
			   .output = "y",
			   .y = op::SdpUnit{ .activation = op::Activation::LookUp },
			   .lut = "sigmoid" });
	graph.output("y");
	return graph.assemble().value();
}

class RunCounts : public testing::Test
{
protected:
	/* The first elements are \a values, the others 0. */
	test::ProgramResult run(const Loadable &loadable, std::vector<float> values,
				const std::string &option = "--verbose")
	{
		const TensorDesc desc = loadable.inputs().value().at(0);
		std::vector<std::byte> tensor(desc.size);

		values.resize(channels);
		EXPECT_TRUE(packFloat(desc, values, tensor));
		const auto result = folder_.run(
			{ "--loadable", folder_.write("net.nvdla", loadable.write().value()),
			  "--input", folder_.write("in.raw", tensor), option });
		EXPECT_EQ(result.status, 0) << result.errors;
		EXPECT_EQ(result.errors, "");
		return result;
	}

	const test::WorkFolder folder_;
};

} /* namespace */

TEST_F(RunCounts, SaturatedValues)
{
	/* SDP counts what exceeds 17 bits: 17 and more the first time, then what is not 0. */
	const Loadable loadable = scaleTwice(DataType::Int8, 4096);
	const std::vector<float> values{ 40, 50, 60, 10, 15 };
	const std::string line = "8 values saturated in 2 operations: see nvdla-run --perf\n";

	EXPECT_NE(run(loadable, values).printed.find(line), std::string::npos);
	EXPECT_EQ(run(loadable, values, "--perf").printed.find("see nvdla-run --perf"),
		  std::string::npos);
	const auto json = nlohmann::json::parse(run(loadable, values, "--json").printed);
	EXPECT_EQ(json["saturated"],
		  (nlohmann::json{ { "above", 0 }, { "numbers", 8 }, { "operations", 2 } }));
	EXPECT_EQ(json["nan"],
		  (nlohmann::json{ { "above", 0 }, { "numbers", 0 }, { "operations", 0 } }));

	EXPECT_NE(run(loadable, { 10 }).printed.find("1 value saturated in 1 operation:"),
		  std::string::npos);
	EXPECT_EQ(run(loadable, { 0 }).printed.find("--perf"), std::string::npos);
}

/* Three values in the first operation, five in the second. */
TEST_F(RunCounts, OnlyWhatIsAboveTheThreshold)
{
	const Loadable loadable = scaleTwice(DataType::Int8, 4096);
	const std::vector<float> values{ 40, 50, 60, 10, 15 };

	EXPECT_NE(run(loadable, values, "--saturated-above=2")
			  .printed.find("8 values saturated in 2"),
		  std::string::npos);
	EXPECT_NE(run(loadable, values, "--saturated-above=3")
			  .printed.find("5 values saturated in 1"),
		  std::string::npos);
	EXPECT_EQ(run(loadable, values, "--saturated-above=5").printed.find("saturated"),
		  std::string::npos);
	EXPECT_NE(run(loadable, values, "--nan-above=5").printed.find("8 values saturated in 2"),
		  std::string::npos);

	constexpr float nan = std::numeric_limits<float>::quiet_NaN();
	const Loadable half = scaleTwice(DataType::Half, 1);
	EXPECT_NE(run(half, { nan }, "--nan-above=1").printed.find(" NaNs in "), std::string::npos);
	EXPECT_EQ(run(half, { nan }, "--nan-above=100").printed.find("NaN"), std::string::npos);
}

TEST_F(RunCounts, ValuesOutsideLookUpTables)
{
	const Loadable loadable = sigmoidNetwork();
	const std::vector<float> values{ -1000, 1, 2000, 3000, -7 };

	EXPECT_NE(run(loadable, values)
			  .printed.find("3 values outside the look-up tables in 1 operation: see "
					"nvdla-run --perf\n"),
		  std::string::npos);
	EXPECT_EQ(
		run(loadable, values, "--lut-misses-above=3").printed.find("see nvdla-run --perf"),
		std::string::npos);
	const auto json = nlohmann::json::parse(run(loadable, values, "--json").printed);
	EXPECT_EQ(json["lut_misses"],
		  (nlohmann::json{ { "above", 0 }, { "numbers", 3 }, { "operations", 1 } }));
}

TEST_F(RunCounts, NaNs)
{
	const Loadable loadable = scaleTwice(DataType::Half, 1);
	constexpr float nan = std::numeric_limits<float>::quiet_NaN();

	const auto json = nlohmann::json::parse(run(loadable, { 1, nan, nan }, "--json").printed);
	EXPECT_GE(json["nan"]["numbers"], 2);
	EXPECT_NE(run(loadable, { 1, nan, nan }).printed.find(" NaNs in "), std::string::npos);
	EXPECT_EQ(run(loadable, { 1 }).printed.find("NaN"), std::string::npos);
}

} /* namespace nvdla */
