/* SPDX-License-Identifier: MIT */
/*
 * ONNX files that break what is read by axes, and any number of values in a model.
 *
 * tests/onnxruntime has the same random files against ONNX Runtime.
 */
#include <cmath>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "compiler/import/import.h"
#include "onnx_on_core.h"
#include "random_onnx.h"

namespace nvdla::test
{

namespace
{

/* Under AddressSanitizer this finds what is read after the list of values has grown. */
TEST(RandomOnnx, CompilesOrIsRefusedByName)
{
	unsigned compiled = 0;

	for (uint32_t seed = 1; seed <= 400; seed++) {
		std::mt19937_64 random(seed);
		const RandomOnnx made = randomOnnx(random);
		SCOPED_TRACE(fmt::format("seed {}: {}", seed, made.description));
		EXPECT_TRUE(supportedOperators(made.file));
		const auto model = compileModel(made.file);
		compiled += model.has_value();
		if (model)
			continue;
		EXPECT_EQ(model.error().code, ErrorCode::Unsupported) << model.error().message();
	}
	EXPECT_GT(compiled, 280u);
}

/* Vectors of values grew at 1, 2, 4, 8 and 16: each reader of a constant meets that. */
TEST(ValueCounts, AnyNumberOfValuesMayStandBesideAConstant)
{
	const std::pair<std::string, std::vector<std::string>> readers[] = {
		{ "MatMul", { "t", "unit" } },
		{ "Gemm", { "t", "unit", "zero" } },
		{ "PRelu", { "t", "one" } },
		{ "Add", { "t", "zero" } },
		{ "Div", { "t", "one" } },
		{ "Max", { "t", "one" } },
		{ "Where", { "all", "t", "one" } },
		{ "BatchNormalization", { "t", "one", "zero", "zero", "one" } },
	};

	for (const auto &[type, inputs] : readers) {
		for (uint32_t unused = 0; unused <= 17; unused++) {
			OnnxBuilder builder(17);
			SCOPED_TRACE(fmt::format("{} beside {} values", type, unused));
			for (uint32_t i = 0; i < unused; i++)
				builder.floats(fmt::format("unused{}", i), { 1 }, { 1 });
			builder.input("x", { 2, 2 });
			builder.floats("one", { 2 }, { 1, 1 });
			builder.floats("zero", { 2 }, { 0, 0 });
			builder.floats("unit", { 2, 2 }, { 1, 0, 0, 1 });
			builder.integers("all", { 2 }, { 1, 1 }, onnx::BOOL);
			OnnxBuilder::set(builder.node("Transpose", { "x" }, "t"), "perm", { 1, 0 });
			onnx::Node *node = builder.node(type, inputs, "y");
			if (type == "BatchNormalization")
				OnnxBuilder::setReal(node, "epsilon", 0);
			builder.output("y");
			EXPECT_EQ(onCore(builder, { { 3, 4, 5, 6 } }),
				  std::vector<Numbers>{ (Numbers{ 3, 5, 4, 6 }) });
		}
	}
}

Result<CompiledModel> compiledFile(const OnnxBuilder &builder)
{
	return compileModel(builder.file());
}

/* Before version 7 the second operand lies along the axes from `axis` on. */
TEST(LegacyBroadcast, TheAxisIsTheAttributes)
{
	for (const std::string type : { "Add", "Mul", "Sub", "Div" }) {
		OnnxBuilder builder(6);
		builder.input("x", { 1, 2, 2, 2 });
		builder.floats("c", { 2 }, { 2, 4 });
		onnx::Node *node = builder.node(type, { "x", "c" }, "y");
		OnnxBuilder::set(node, "broadcast", { 1 });
		OnnxBuilder::set(node, "axis", { 1 });
		builder.output("y");
		const Numbers x{ 4, 8, 12, 16, 4, 8, 12, 16 };
		Numbers wanted;
		for (size_t i = 0; i < x.size(); i++) {
			const double c = i < 4 ? 2 : 4;
			wanted.push_back(type == "Add"	 ? x[i] + c
					 : type == "Mul" ? x[i] * c
					 : type == "Sub" ? x[i] - c
							 : x[i] / c);
		}
		EXPECT_EQ(onCore(builder, { x }), std::vector<Numbers>{ wanted }) << type;
	}
}

TEST(LegacyBroadcast, ShapesThatDifferNeedTheAttribute)
{
	OnnxBuilder builder(6);
	builder.input("x", { 1, 2, 2, 2 });
	builder.floats("c", { 2 }, { 2, 4 });
	builder.node("Add", { "x", "c" }, "y");
	builder.output("y");
	const auto model = compiledFile(builder);
	ASSERT_FALSE(model);
	EXPECT_NE(model.error().why.find("without broadcast"), std::string::npos);
}

TEST(LegacyBroadcast, SlopesAreOfChannels)
{
	OnnxBuilder builder(6);
	builder.input("x", { 1, 2, 1, 2 });
	builder.floats("c", { 2 }, { 0.5, 0.25 });
	builder.node("PRelu", { "x", "c" }, "y");
	builder.output("y");
	EXPECT_EQ(onCore(builder, { { -4, 4, -4, -8 } }),
		  std::vector<Numbers>{ (Numbers{ -2, 4, -1, -2 }) });
}

TEST(Slopes, LieAlongTrailingAxes)
{
	OnnxBuilder builder;
	builder.input("x", { 1, 2, 1, 2 });
	builder.floats("c", { 2 }, { 0.5, 0.25 });
	builder.node("PRelu", { "x", "c" }, "y");
	builder.output("y");
	EXPECT_EQ(onCore(builder, { { -4, -4, -8, -8 } }),
		  std::vector<Numbers>{ (Numbers{ -2, -1, -4, -2 }) });
}

TEST(Slopes, OfChannelsThatDoNotGoWithTheLastAxisAreRefused)
{
	OnnxBuilder builder;
	builder.input("x", { 1, 2, 1, 3 });
	builder.floats("c", { 2 }, { 0.5, 0.25 });
	builder.node("PRelu", { "x", "c" }, "y");
	builder.output("y");
	const auto model = compiledFile(builder);
	ASSERT_FALSE(model);
	EXPECT_NE(model.error().why.find("trailing axes"), std::string::npos);
}

TEST(Inputs, AnAxisWithoutElementsIsNoBatch)
{
	OnnxBuilder builder;
	builder.input("x", { 0, 4 });
	builder.node("Relu", { "x" }, "y");
	builder.output("y");
	const auto model = compiledFile(builder);
	ASSERT_FALSE(model);
	EXPECT_NE(model.error().why.find("no elements along axis 0"), std::string::npos);
}

TEST(ConstantOutputs, AreReturnedBesideComputedOnes)
{
	OnnxBuilder builder;
	builder.input("x", { 1, 2, 3, 3 });
	builder.floats("c", { 2, 3 }, { 1, -2, 3, 0.5, 100, 0 });
	builder.node("Relu", { "x" }, "y");
	builder.node("Shape", { "y" }, "s");
	builder.output("c");
	builder.output("y");
	builder.output("s", onnx::INT64);
	builder.output("c");
	const Numbers x(18, 3), c{ 1, -2, 3, 0.5, 100, 0 };
	const std::vector<Numbers> got = onCore(builder, { x });
	ASSERT_EQ(got.size(), 4u);
	EXPECT_EQ(got[0], c);
	EXPECT_EQ(got[1], x);
	EXPECT_EQ(got[2], (Numbers{ 1, 2, 3, 3 }));
	EXPECT_EQ(got[3], c);
}

/* What an input holds does not show in a constant. */
TEST(ConstantOutputs, TakeNoInfinityFromTheInput)
{
	OnnxBuilder builder;
	builder.input("x", { 1, 1, 1, 2 });
	builder.floats("c", { 2 }, { 1, 2 });
	builder.node("Neg", { "x" }, "y");
	builder.output("y");
	builder.output("c");
	for (const double number : { HUGE_VAL, -HUGE_VAL }) {
		const std::vector<Numbers> got = onCore(builder, { { number, 0 } });
		ASSERT_EQ(got.size(), 2u);
		EXPECT_EQ(got[1], (Numbers{ 1, 2 }));
	}
}

TEST(Signatures, HaveTheShapesOfTheModel)
{
	const std::vector<std::vector<int64_t>> shapes = {
		{ 1, 1, 6, 8 }, { 1, 2, 6, 8 }, { 4, 16, 12 }, { 1, 1, 1, 1 }, { 3, 4 }
	};

	for (const auto &shape : shapes) {
		OnnxBuilder builder;
		builder.input("x", shape);
		builder.node("Relu", { "x" }, "y");
		builder.output("y");
		const auto model = compiledFile(builder);
		ASSERT_TRUE(model) << model.error().message();
		for (const auto &tensors :
		     { model->loadable.inputs(), model->loadable.outputs() }) {
			ASSERT_EQ(tensors.value().size(), 1u);
			EXPECT_EQ(tensors->front().signature.value().shape,
				  std::vector<uint32_t>(shape.begin(), shape.end()));
		}
	}
}

/* Of these the first axis is no batch: what lies as a picture does is none. */
TEST(OutputOrders, OfTransposedFirstAxesAreTheModels)
{
	OnnxBuilder builder;
	builder.input("x", { 1, 2, 3, 2 });
	OnnxBuilder::set(builder.node("Transpose", { "x" }, "t"), "perm", { 3, 2, 1, 0 });
	builder.node("Relu", { "t" }, "y");
	builder.output("y");
	EXPECT_EQ(onCore(builder, { { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } }),
		  std::vector<Numbers>{ (Numbers{ 1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12 }) });
}

/* What computes with a flattened picture may have it in a surface of its own. */
TEST(OutputOrders, OfFlattenedPicturesAreTheModels)
{
	for (const std::vector<int64_t> &shape :
	     std::vector<std::vector<int64_t>>{ { 1 }, { 12 }, { 3, 1 }, { 3, 12 } }) {
		OnnxBuilder builder;
		std::vector<float> numbers;
		int64_t rows = 1, count = 1;
		for (const int64_t extent : shape)
			count *= extent;
		if (shape.size() > 1)
			rows = shape[0];
		for (int64_t i = 0; i < count; i++)
			numbers.push_back(static_cast<float>(i));
		builder.input("x", { 1, 2, 2, 3 });
		builder.floats("c", shape, numbers);
		builder.node("Flatten", { "x" }, "f");
		builder.node("Add", { "f", "c" }, "y");
		builder.output("y");
		builder.output("f");
		Numbers wanted;
		for (int64_t row = 0; row < rows; row++)
			for (int64_t i = 0; i < 12; i++)
				wanted.push_back(picture[static_cast<size_t>(i)] +
						 static_cast<double>(
							 shape.back() == 1 ? row : row * 12 + i));
		const std::vector<Numbers> got = onCore(builder, { picture });
		ASSERT_EQ(got.size(), 2u);
		EXPECT_EQ(got[0], wanted) << count;
		EXPECT_EQ(got[1], picture);
	}
}

/* One bad node is one refusal: of the others it is said what can be done with them. */
TEST(SupportedOperators, AnswerNodeByNodeWhateverOneDoes)
{
	OnnxBuilder builder;
	builder.input("x", { 1, 4, 4, 4 });
	builder.input("ids", { 1, 4 }, onnx::INT64);
	builder.floats("wrong", { 3 }, { 1, 2, 3 });
	builder.node("Relu", { "x" }, "fine");
	builder.node("Mystery", { "x" }, "m");
	builder.node("Relu", { "m" }, "behind");
	builder.node("Add", { "x", "wrong" }, "broken");
	builder.node("Neg", { "ids" }, "integers");
	OnnxBuilder::set(builder.node("Softmax", { "x" }, "axis"), "axis", { 9 });
	builder.node("Neg", { "fine" }, "also fine");
	for (const char *name : { "behind", "broken", "integers", "axis", "also fine" })
		builder.output(name);
	const auto support = supportedOperators(builder.file());
	ASSERT_TRUE(support) << support.error().message();
	ASSERT_EQ(support->size(), 7u);
	const char *reasons[] = { "",
				  "is not known to this compiler",
				  "shape is not known",
				  "trailing axes",
				  "int64",
				  "axis 9",
				  "" };
	for (size_t i = 0; i < 7; i++) {
		EXPECT_EQ((*support)[i].index, i);
		EXPECT_EQ((*support)[i].reason.empty(), *reasons[i] == '\0') << i;
		EXPECT_NE((*support)[i].reason.find(reasons[i]), std::string::npos)
			<< i << ": " << (*support)[i].reason;
	}
}

/* C of a product may be repeated from any shape, and be computed. */
TEST(Gemm, AddsCOfAnyShape)
{
	const struct {
		std::vector<int64_t> shape;
		std::vector<float> numbers;
		Numbers wanted;
	} cases[] = {
		{ {}, { 1 }, { 3, 5, 7, 9 } },
		{ { 2 }, { 1, 2 }, { 3, 6, 7, 10 } },
		{ { 1, 2 }, { 1, 2 }, { 3, 6, 7, 10 } },
		{ { 2, 1 }, { 1, 2 }, { 3, 5, 8, 10 } },
		{ { 2, 2 }, { 1, 2, 3, 4 }, { 3, 6, 9, 12 } },
	};

	for (const auto &[shape, numbers, wanted] : cases) {
		OnnxBuilder builder;
		builder.input("x", { 2, 2 });
		builder.floats("w", { 2, 2 }, { 1, 0, 0, 1 });
		builder.floats("c", shape, numbers);
		OnnxBuilder::setReal(builder.node("Gemm", { "x", "w", "c" }, "y"), "alpha", 2);
		builder.output("y");
		EXPECT_EQ(onCore(builder, { { 1, 2, 3, 4 } }), std::vector<Numbers>{ wanted });
	}
	OnnxBuilder builder;
	builder.input("x", { 2, 2 });
	builder.input("c", { 2 });
	builder.floats("w", { 2, 2 }, { 1, 0, 0, 1 });
	OnnxBuilder::setReal(builder.node("Gemm", { "x", "w", "c" }, "y"), "beta", 3);
	builder.output("y");
	EXPECT_EQ(onCore(builder, { { 1, 2, 3, 4 }, { 1, 2 } }),
		  std::vector<Numbers>{ (Numbers{ 4, 8, 6, 10 }) });
}

} /* namespace */

} /* namespace nvdla::test */
