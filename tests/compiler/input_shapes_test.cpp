/* SPDX-License-Identifier: MIT */
/*
 * Inputs whose sizes a model leaves open.
 */
#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "onnx_builder.h"

namespace nvdla
{

namespace
{

using test::OnnxBuilder;

/* A sum of two inputs, whose lines and columns have the same names. */
std::vector<std::byte> sumOfTwo()
{
	OnnxBuilder builder;

	builder.openInput("x", { "batch", "8", "lines", "columns" });
	builder.openInput("y", { "batch", "8", "lines", "columns" });
	builder.node("Add", { "x", "y" }, "sum");
	builder.output("sum");
	return builder.file();
}

CompileOptions with(std::vector<InputShape> shapes)
{
	CompileOptions options;

	options.shapes = std::move(shapes);
	return options;
}

std::string refusal(const std::vector<std::byte> &file, std::vector<InputShape> shapes)
{
	const auto compiled = compileModel(file, with(std::move(shapes)));

	if (!compiled)
		return compiled.error().message();
	ADD_FAILURE() << "is compiled";
	return {};
}

} /* namespace */

TEST(InputShapes, AreReadAndWritten)
{
	for (const char *text : { "x=1x3x480x640", "1x8", "a=b=7", "4294967295" }) {
		const auto shape = parseInputShape(text);
		ASSERT_TRUE(shape) << shape.error().message();
		EXPECT_EQ(toString(*shape), text);
	}
	EXPECT_EQ(parseInputShape("a=b=7x2")->name, "a=b");
	EXPECT_EQ(parseInputShape("a=b=7x2")->sizes, (std::vector<uint32_t>{ 7, 2 }));
	for (const char *text : { "", "x=", "=1x2", "x=1x", "x=x1", "x=1x0", "x=-1", "x=1,2",
				  "x=1x 2", "x=4294967296", "x=?x3" })
		EXPECT_FALSE(parseInputShape(text)) << text;
}

TEST(InputShapes, FillWhatIsOpen)
{
	const auto file = sumOfTwo();
	const std::vector<InputShape> shapes = { { "y", { 2, 8, 4, 6 } } };
	const auto compiled = compileModel(file, with(shapes));
	ASSERT_TRUE(compiled) << compiled.error().message();
	const auto inputs = compiled->loadable.inputs();
	ASSERT_TRUE(inputs);
	/* The names of axes say that x is as large. */
	for (const TensorDesc &input : *inputs)
		EXPECT_EQ(input.signature->shape, shapes.front().sizes) << input.name;
	const auto told = modelInputs(file, shapes);
	ASSERT_TRUE(told);
	EXPECT_EQ(told->front().w, 6u);
	EXPECT_FALSE(modelInputs(file));
}

TEST(InputShapes, OfTheOnlyInputNeedNoName)
{
	OnnxBuilder builder;
	builder.openInput("x", { "n", "8", "h", "w" });
	builder.node("Relu", { "x" }, "y");
	builder.output("y");
	const auto compiled = compileModel(builder.file(), with({ { "", { 1, 8, 5, 7 } } }));
	ASSERT_TRUE(compiled) << compiled.error().message();
	EXPECT_EQ(compiled->loadable.outputs()->front().h, 5u);
}

TEST(InputShapes, OfAnInputWithoutAShape)
{
	OnnxBuilder builder;
	builder.input("x", {});
	builder.node("Relu", { "x" }, "y");
	builder.output("y");
	const auto file = builder.file();
	const auto compiled = compileModel(file, with({ { "x", { 1, 8, 5, 7 } } }));
	ASSERT_TRUE(compiled) << compiled.error().message();
	EXPECT_EQ(compiled->loadable.outputs()->front().w, 7u);
	EXPECT_NE(refusal(file, {}).find("has no shape; give it one: --shape x="),
		  std::string::npos);
	EXPECT_NE(refusal(file, { { "x", { 65536, 65536, 65536 } } }).find("more elements"),
		  std::string::npos);
}

TEST(InputShapes, WhatCannotBeIsNamed)
{
	const auto file = sumOfTwo();
	const auto says = [&](std::vector<InputShape> shapes, const std::string &words) {
		const std::string message = refusal(file, std::move(shapes));
		EXPECT_NE(message.find(words), std::string::npos) << message;
	};

	says({}, "'x': leaves sizes open; give them with --shape x=1x8x?x?, a number for each ?");
	says({ { "", { 1, 8, 4, 6 } } }, "does not say of which input: there are x, y");
	says({ { "z", { 1, 8, 4, 6 } } }, "'z' is no input of the model: there are x, y");
	says({ { "x", { 1, 8, 4, 6 } }, { "x", { 1, 8, 4, 6 } } }, "second shape of this input");
	says({ { "x", { 1, 8, 4 } } }, "has 4 axes (?x8x?x?), 3 sizes are given");
	says({ { "x", { 1, 9, 4, 6 } } }, "has 8 along axis 1 in the file, 9 are given");
	says({ { "x", { 1, 8, 65536, 65536 } } }, "more elements than a tensor can");
	says({ { "x", { 1, 8, 0, 6 } } }, "has a size of 0");
}

} /* namespace nvdla */
