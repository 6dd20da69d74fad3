/* SPDX-License-Identifier: MIT */
/*
 * Models some of whose operators ONNX Runtime computes: as one network, compiled and run.
 */
#include "compiler/partition/node_graph.h"
#include "host_run.h"
#include "onnx_builder.h"
#include "test_support.h"

namespace nvdla::test
{

namespace
{

using compiler::GraphNode;
using compiler::NodeGraph;

/* y = CumSum(x * 2) + 1, whose convolutions are the core's */
OnnxBuilder between()
{
	OnnxBuilder model;

	model.input("x", { 1, 1, 2, 2 });
	model.floats("two", { 1, 1, 1, 1 }, { 2 });
	model.floats("one", { 1 }, { 1 });
	model.floats("same", { 1, 1, 1, 1 }, { 1 });
	model.integers("axis", {}, { 3 }, onnx::INT32);
	model.node("Conv", { "x", "two" }, "a");
	model.node("CumSum", { "a", "axis" }, "b");
	model.node("Conv", { "b", "same", "one" }, "y");
	model.output("y");
	return model;
}

} /* namespace */

/* a -> b -> c, a -> c: b alone cannot be computed elsewhere if a and c are one. */
TEST(NodeGraph, NoWayLeadsOutAndBack)
{
	const NodeGraph graph({ { "", { "x" }, { "a" } },
				{ "", { "a" }, { "b" } },
				{ "", { "a", "b" }, { "c" } },
				{ "", { "x" }, { "d" } } });
	const auto groups = [&](const std::vector<bool> &possible) {
		std::vector<std::vector<size_t>> all;
		for (const compiler::NodeGroup &group : graph.groupsOf(possible))
			all.push_back(group.nodes);
		return all;
	};
	using Groups = std::vector<std::vector<size_t>>;

	EXPECT_EQ(groups({ true, true, true, true }), (Groups{ { 0, 1, 2, 3 } }));
	EXPECT_EQ(groups({ true, false, true, true }), (Groups{ { 0, 3 }, { 2 } }));
	EXPECT_EQ(groups({ false, true, true, false }), (Groups{ { 1, 2 } }));
	EXPECT_EQ(groups({ false, false, false, false }), Groups{});
}

TEST(Host, HasWhatIsBetweenPartsOfTheCore)
{
	testing::internal::CaptureStderr();
	const CompiledModel made = compiledFile(between().file());

	/* The library complains of itself when it is used first. */
	EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
	EXPECT_EQ(placesOf(made),
		  (std::vector<std::string>{ "core Conv", "host CumSum", "core Conv" }));
	EXPECT_EQ(made.report.coreMacs, 8u);
	EXPECT_EQ(made.report.hostMacs, 0u);
	EXPECT_TRUE(has(made.report.layers.at(1).host, "CumSum 'b', operator: is not known"));
	EXPECT_EQ(runOnce(made, { { 1, 2, 3, 4 } }), (std::vector<Numbers>{ { 3, 7, 7, 15 } }));
}

TEST(Host, NeverIsNotAsked)
{
	auto made = compileModel(between().file(), { .host = HostUse::Never });

	ASSERT_FALSE(made);
	EXPECT_TRUE(has(made.error().message(), "CumSum 'b', operator: is not known"));
	EXPECT_FALSE(has(made.error().message(), "ONNX Runtime"));
}

/* A model that the core computes as a whole has no step of the host. */
TEST(Host, HasNothingOfTheCores)
{
	OnnxBuilder model;
	model.input("x", { 1, 1, 2, 2 });
	model.floats("two", { 1, 1, 1, 1 }, { 2 });
	model.node("Conv", { "x", "two" }, "y");
	model.output("y");

	EXPECT_EQ(placesOf(compiledFile(model.file())), std::vector<std::string>{ "core Conv" });
}

/* ids of int64 lead to rows of a table, which the core multiplies. */
TEST(Host, TakesWholeNumbers)
{
	OnnxBuilder model;
	model.input("ids", { 1, 3 }, onnx::INT64);
	model.floats("table", { 4, 2 }, { 0, 1, 10, 11, 20, 21, 30, 31 });
	model.floats("w", { 2, 2 }, { 1, 1, 1, -1 });
	model.node("Gather", { "table", "ids" }, "rows");
	model.node("MatMul", { "rows", "w" }, "y");
	model.output("y");
	const CompiledModel made = compiledFile(model.file());

	EXPECT_EQ(placesOf(made), (std::vector<std::string>{ "host Gather", "core MatMul" }));
	EXPECT_EQ(made.loadable.inputs()->at(0).type, DataType::Int64);
	EXPECT_EQ(runOnce(made, { { 3, 0, 2 } }),
		  (std::vector<Numbers>{ { 61, -1, 1, -1, 41, -1 } }));
}

/* With a rate other than 3 it has no row to take, and cannot run; constants are computed all the
 * same. */
TEST(Host, RunsWithNumbersThatAModelComparesWith)
{
	OnnxBuilder model;
	model.input("x", { 1, 2 });
	model.input("rate", { 1 }, onnx::INT64);
	model.list("three", { 3 });
	model.floats("ones", { 1, 2 }, { 1, 1 });
	model.integers("axis", {}, { 1 }, onnx::INT32);
	model.node("CumSum", { "ones", "axis" }, "sums");
	model.node("Equal", { "rate", "three" }, "is");
	model.node("Sub", { "rate", "three" }, "row");
	model.node("Gather", { "x", "row" }, "taken");
	model.node("Add", { "taken", "sums" }, "y");
	model.output("y");
	model.output("is", onnx::BOOL);
	const CompiledModel made = compiledFile(model.file());

	EXPECT_EQ(made.report.operators.size(), 4U);
	EXPECT_EQ(runOnce(made, { { 10, 20 }, { 3 } }),
		  (std::vector<Numbers>{ { 11, 22 }, { 1 } }));
}

/* The core does not know CumSum, and the division of the model makes a constant of it. */
TEST(Host, ComputesConstantsOfCalibratedModels)
{
	OnnxBuilder model;
	model.input("x", { 1, 1, 1, 4 });
	model.floats("two", { 1, 1, 1, 1 }, { 2 });
	model.floats("ones", { 1, 1, 1, 4 }, { 1, 1, 1, 1 });
	model.integers("axis", {}, { 3 }, onnx::INT32);
	model.node("CumSum", { "ones", "axis" }, "sums");
	model.node("Conv", { "x", "two" }, "a");
	model.node("Add", { "a", "sums" }, "y");
	model.output("y");
	CompileOptions options;
	options.calibration = Calibration{ .samples = { { { 1, 2, -3, 4 } } } };
	const CompiledModel made = compiledFile(model.file(), options);

	EXPECT_EQ(placesOf(made), (std::vector<std::string>{ "core Conv", "core Add" }));
	const auto outputs = runOnce(made, { { 1, 2, -3, 4 } });
	const Numbers wanted = { 3, 6, -3, 12 };
	for (size_t i = 0; i < wanted.size(); i++)
		EXPECT_NEAR(outputs.at(0).at(i), wanted[i], 0.2);
	options.host = HostUse::Never;
	EXPECT_FALSE(compileModel(model.file(), options));
}

/* The core has no mean as a further output of a normalization. */
TEST(Host, HasMeansOfNormalizations)
{
	OnnxBuilder model(17);
	model.input("x", { 1, 2, 2, 2 });
	model.floats("scale", { 2 }, { 1, 1 });
	model.node("LayerNormalization", { "x", "scale" }, "y")->add_output("mean");
	model.node("Mul", { "y", "mean" }, "z");
	model.output("z");
	const auto outputs = runOnce(compiledFile(model.file()), { { 1, 3, 0, 4, 2, 2, -1, 1 } });
	const Numbers wanted = { -2, 2, -2, 2, 0, 0, 0, 0 };

	ASSERT_EQ(outputs.size(), 1U);
	for (size_t i = 0; i < wanted.size(); i++)
		EXPECT_NEAR(outputs[0][i], wanted[i], 1e-3) << i;
}

/* Two results, one of them whole numbers; both are outputs under their names. */
TEST(Host, HasSeveralOutputs)
{
	OnnxBuilder model;
	model.input("x", { 1, 4 });
	model.floats("w", { 4, 4 }, { 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0 });
	model.list("k", { 2 });
	model.node("MatMul", { "x", "w" }, "turned");
	model.node("TopK", { "turned", "k" }, "values")->add_output("places");
	model.output("turned");
	model.output("values");
	model.output("places", onnx::INT64);
	const CompiledModel made = compiledFile(model.file());

	ASSERT_EQ(made.loadable.outputs()->size(), 3u);
	EXPECT_EQ(made.loadable.outputs()->at(2).name, "places");
	EXPECT_EQ(made.loadable.outputs()->at(2).type, DataType::Int64);
	EXPECT_EQ(runOnce(made, { { 5, 9, 1, 7 } }),
		  (std::vector<Numbers>{ { 9, 5, 7, 1 }, { 9, 7 }, { 0, 2 } }));
}

/* All numbers that the compiler tries are above -0.5; the count is not a constant for that. */
TEST(Host, CountsTheInputsOwnNumbers)
{
	OnnxBuilder model;
	model.input("x", { 1, 8 });
	model.floats("least", { 1 }, { -0.5F });
	model.list("last", { 1 });
	model.node("Greater", { "x", "least" }, "above");
	model.node("NonZero", { "above" }, "places");
	model.node("Shape", { "places" }, "shape");
	model.node("Gather", { "shape", "last" }, "count");
	model.output("count", onnx::INT64);

	EXPECT_EQ(runOnce(compiledFile(model.file()), { { 1, -1, 2, -2, -3, 0, -4, -5 } }),
		  (std::vector<Numbers>{ { 3 } }));
}

/* Results that the compiler does not know, and integers without a scale, are no damage of a file.
 */
TEST(Host, HasWhatIsCorrectAndUnknown)
{
	OnnxBuilder mask, sum(14), power, enlarged;

	mask.input("x", { 1, 4 });
	mask.node("Dropout", { "x" }, "y")->add_output("mask");
	mask.output("y");
	mask.output("mask", onnx::BOOL);
	EXPECT_EQ(runOnce(compiledFile(mask.file()), { { 1, 2, 3, 4 } }),
		  (std::vector<Numbers>{ { 1, 2, 3, 4 }, { 1, 1, 1, 1 } }));

	sum.input("x", { 1, 3 }, onnx::UINT8);
	sum.input("z", { 1, 3 }, onnx::UINT8);
	sum.node("Add", { "x", "z" }, "y");
	sum.output("y", onnx::UINT8);
	EXPECT_EQ(runOnce(compiledFile(sum.file()), { { 1, 2, 3 }, { 4, 5, 200 } }),
		  (std::vector<Numbers>{ { 5, 7, 203 } }));

	power.input("x", { 1, 2 });
	power.floats("n", { 2 }, { 2, 3 });
	power.node("Pow", { "x", "n" }, "y");
	power.output("y");
	EXPECT_EQ(runOnce(compiledFile(power.file()), { { 3, 2 } }),
		  (std::vector<Numbers>{ { 9, 8 } }));

	enlarged.input("x", { 1, 1, 1, 2 });
	enlarged.input("scales", { 4 });
	enlarged.floats("roi", { 0 }, {});
	enlarged.node("Resize", { "x", "roi", "scales" }, "y");
	enlarged.output("y");
	EXPECT_EQ(runOnce(compiledFile(enlarged.file()), { { 3, 5 }, { 1, 1, 1, 2 } }),
		  (std::vector<Numbers>{ { 3, 3, 5, 5 } }));
}

/* Outputs that passes turn into copies, constants or inputs: names and numbers stay the model's. */
TEST(Host, KeepsNamesOfInputsAndOutputs)
{
	OnnxBuilder model;
	model.input("x", { 1, 2, 1, 2 });
	model.floats("scale", {}, { 0.5F });
	model.integers("zero", {}, { 0 }, onnx::INT8);
	model.node("QuantizeLinear", { "x", "scale", "zero" }, "q");
	model.node("DequantizeLinear", { "q", "scale", "zero" }, "d");
	model.node("Identity", { "d" }, "same");
	model.node("Flatten", { "d" }, "flat");
	model.output("same");
	model.output("flat");
	auto made = compileModel(model.file(), { .host = HostUse::Never });

	ASSERT_TRUE(made) << made.error().message();
	EXPECT_EQ(made->loadable.inputs()->at(0).name, "x");
	EXPECT_EQ(made->loadable.outputs()->at(0).name, "same");
	EXPECT_EQ(made->loadable.outputs()->at(1).name, "flat");
}

} /* namespace nvdla::test */
