/* SPDX-License-Identifier: MIT */
/*
 * ONNX files: what the importer makes of them as a whole, and what it refuses.
 */
#include <gtest/gtest.h>

#include <nvdla/compiler.h>

#include "onnx_builder.h"
#include "onnx_on_core.h"
#include "refused_file.h"

namespace nvdla::test
{

namespace
{

/* What a partitioner asks for: one that is not known does not hide the others. */
TEST(Onnx, SaysWhichOperatorsAreSupported)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.node("Relu", { "x" }, "positive");
	builder.node("DeformConv", { "positive" }, "mixed");
	builder.inside("mixed", { 1, 2, 2, 3 });
	OnnxBuilder::set(builder.node("Softmax", { "mixed" }, "y"), "axis", { 1 });
	builder.output("y");
	auto all = supportedOperators(builder.file());
	ASSERT_TRUE(all) << all.error().message();
	ASSERT_EQ(all->size(), 3U);
	EXPECT_EQ((*all)[0].reason, "");
	EXPECT_EQ((*all)[0].cpu, "");
	EXPECT_EQ((*all)[1].index, 1U);
	EXPECT_NE((*all)[1].reason.find("DeformConv 'mixed'"), std::string::npos)
		<< (*all)[1].reason;
	EXPECT_EQ((*all)[2].type, "Softmax");
	EXPECT_EQ((*all)[2].reason, "");
	EXPECT_NE((*all)[2].cpu, "");
	expectRefusedFile(builder.file(), { "DeformConv 'mixed'", "replace it in the model" });
}

TEST(Onnx, WhatNothingReadsMayBeUnknown)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.node("DeformConv", { "x" }, "mixed");
	builder.inside("mixed", { 1, 2, 2, 3 });
	builder.node("Add", { "x", "x" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { picture });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0][11], 120);
}

TEST(Onnx, AllThatIsUnknownIsSaidAtOnce)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.node("DeformConv", { "x" }, "mixed");
	builder.inside("mixed", { 1, 2, 2, 3 });
	builder.node("Det", { "mixed" }, "y");
	builder.inside("y", { 1, 2, 2, 3 });
	builder.output("y");
	expectRefusedFile(builder.file(), { "DeformConv 'mixed'", "Det 'y'" });
}

/* One behind the other, beside each other, and what reads an unknown one. */
TEST(Onnx, AllThatCannotBeLoweredIsSaidAtOnce)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 120, 110 });
	OnnxBuilder::set(builder.node("AveragePool", { "x" }, "mean33"), "kernel_shape",
			 { 33, 33 });
	builder.node("Relu", { "mean33" }, "above");
	OnnxBuilder::set(builder.node("AveragePool", { "above" }, "mean34"), "kernel_shape",
			 { 34, 34 });
	builder.node("DeformConv", { "mean34" }, "mixed");
	builder.inside("mixed", { 1, 2, 55, 45 });
	OnnxBuilder::set(builder.node("AveragePool", { "mixed" }, "mean35"), "kernel_shape",
			 { 35, 35 });
	builder.output("mean35");
	auto compiled = compileModel(builder.file());
	ASSERT_FALSE(compiled);
	const std::string message = compiled.error().message();
	for (const char *part : { "DeformConv 'mixed'", "AveragePool 'mean33'", "of 33 x 33",
				  "AveragePool 'mean34'", "of 34 x 34", "AveragePool 'mean35'" })
		EXPECT_NE(message.find(part), std::string::npos) << message;
	EXPECT_EQ(message.find("Relu"), std::string::npos) << message;
}

/* A model of many layers is refused in a message that can be read. */
TEST(Onnx, OneReasonIsSaidOnce)
{
	OnnxBuilder builder;
	std::string input = "x";

	builder.input("x", { 1, 2, 2, 3 });
	for (const std::string name : { "a", "b", "c", "d", "e", "f", "g" }) {
		builder.node("Det", { input }, name);
		builder.inside(name, { 1, 2, 2, 3 });
		input = name;
	}
	builder.output(input);
	auto compiled = compileModel(builder.file(), { .host = HostUse::Never });
	ASSERT_FALSE(compiled);
	EXPECT_NE(compiled.error().message().find("; the same of Det 'b', operator; "
						  "of Det 'c', operator; and of 4 more"),
		  std::string::npos)
		<< compiled.error().message();
}

/* Converters name a fused layer after all operators in it, in hundreds of characters. */
TEST(Onnx, LongNamesAreShortened)
{
	OnnxBuilder builder;
	const std::string fused = "block/relu;block/add;" + std::string(200, 'x');
	const std::string deep = std::string(200, 'x') + "/the end";

	builder.input("x", { 1, 2, 2, 3 });
	builder.node("Det", { "x" }, fused);
	builder.inside(fused, { 1, 2, 2, 3 });
	builder.node("Det", { fused }, deep);
	builder.output(deep);
	auto compiled = compileModel(builder.file(), { .host = HostUse::Never });
	ASSERT_FALSE(compiled);
	const std::string message = compiled.error().message();
	EXPECT_NE(message.find("Det 'block/relu;...', operator"), std::string::npos) << message;
	EXPECT_NE(message.find("x/the end', operator"), std::string::npos) << message;
	EXPECT_EQ(message.find(std::string(60, 'x')), std::string::npos) << message;
}

/* What is chosen is told with what else there was; what cannot be forced is an error. */
TEST(Onnx, StrategyIsChosenOrForced)
{
	OnnxBuilder builder;
	const std::vector<float> kernels(32 * 32 * 9, 0.25f);
	CompileOptions options;

	builder.input("x", { 1, 32, 10, 10 });
	builder.floats("w", { 32, 32, 3, 3 }, kernels);
	builder.node("Conv", { "x", "w" }, "y");
	builder.output("y");
	for (const Choice choice : { Choice::Always, Choice::Never }) {
		options.strategy = Strategy::all(Choice::Never);
		options.strategy->winograd = choice;
		auto compiled = compileModel(builder.file(), options);
		ASSERT_TRUE(compiled) << compiled.error().message();
		const auto &choices = compiled->report.layers.at(0).choices;
		ASSERT_EQ(choices.size(), choice == Choice::Always ? 1U : 0U);
		if (choice == Choice::Always) {
			EXPECT_EQ(choices[0].candidates.at(choices[0].chosen).what, "Winograd");
		}
	}
	options.strategy->fusedPooling = Choice::Always;
	auto refused = compileModel(builder.file(), options);
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().message().find("strategy, fused-pooling"), std::string::npos)
		<< refused.error().message();
}

TEST(Onnx, SaysWhatItCannotDo)
{
	OnnxBuilder unknown;
	unknown.input("x", { 1, 2, 2, 3 });
	unknown.node("DeformConv", { "x" }, "y");
	unknown.output("y");
	expectRefusedFile(unknown.file(), { "DeformConv 'y'", "replace it in the model" });

	OnnxBuilder ofOthers;
	ofOthers.input("x", { 1, 2, 2, 3 });
	ofOthers.node("Relu", { "x" }, "y")->set_domain("org.example");
	ofOthers.output("y");
	expectRefusedFile(ofOthers.file(), { "Relu 'y'", "is not known to this compiler" });

	OnnxBuilder open;
	open.input("x", { 1, 2, -1, 3 });
	open.node("Relu", { "x" }, "y");
	open.output("y");
	expectRefusedFile(open.file(), { "input 'x'", "--shape x=1x2x?x3" });

	OnnxBuilder missing;
	missing.input("x", { 1, 2, 2, 3 });
	missing.node("Relu", { "z" }, "y");
	missing.output("y");
	expectRefusedFile(missing.file(), { "Relu 'y'", "is 'z', which nothing before it writes" });

	/* A number of inputs that ONNX leaves open is not none. */
	OnnxBuilder nothing;
	nothing.input("x", { 1, 2, 2, 3 });
	nothing.node("Concat", {}, "y");
	nothing.output("y");
	expectRefusedFile(nothing.file(), { "Concat 'y'", "input 0: is missing" });

	/* A few bytes that stand for more than there is memory. */
	OnnxBuilder large;
	large.input("x", { 1, 2, 2, 3 });
	large.list("shape", { 1 << 14, 1 << 14, 1 << 14 });
	large.node("ConstantOfShape", { "shape" }, "zeros");
	large.output("zeros");
	expectRefusedFile(large.file(), { "ConstantOfShape 'zeros'", "more elements than can be" });
}

} /* namespace */

} /* namespace nvdla::test */
