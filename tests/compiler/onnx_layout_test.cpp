/* SPDX-License-Identifier: MIT */
/*
 * ONNX files: operators that move elements.
 */
#include <gtest/gtest.h>

#include "onnx_builder.h"
#include "onnx_on_core.h"
#include "refused_file.h"

namespace nvdla::test
{

namespace
{

TEST(OnnxLayout, FlattenedPictureMeetsItsWeights)
{
	OnnxBuilder builder;
	std::vector<float> weights(12, 0);

	/* One output takes element 4 of channel 0, twice element 3 of channel 1. */
	weights[4] = 1;
	weights[6 + 3] = 2;
	builder.input("x", { 1, 2, 2, 3 });
	builder.floats("w", { 12, 1 }, weights);
	builder.floats("b", { 1 }, { 0.5f });
	builder.node("Flatten", { "x" }, "flat");
	builder.node("Relu", { "flat" }, "positive");
	builder.node("Gemm", { "positive", "w", "b" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { picture });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], (Numbers{ 5 + 2 * 40 + 0.5 }));
}

/* Batches: what only counts elements takes them, a picture of more than one does not go. */
TEST(OnnxLayout, InputsHaveAllTheirElements)
{
	OnnxBuilder builder;
	Numbers numbers(3 * 4 * 2 * 5);

	for (size_t i = 0; i < numbers.size(); i++)
		numbers[i] = static_cast<double>(i);
	builder.input("x", { 3, 4, 2, 5, 1 });
	builder.list("shape", { 1, 2, 60 });
	builder.node("Reshape", { "x", "shape" }, "rows");
	builder.node("Relu", { "rows" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { numbers });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], numbers);

	OnnxBuilder batch;
	batch.input("x", { 2, 3, 4, 5 });
	batch.node("Flatten", { "x" }, "flat");
	batch.node("Relu", { "flat" }, "y");
	batch.output("y");
	expectRefusedFile(batch.file(), { "input 'x'", "batches of 1" });
}

/* The core computes sample by sample, so only the first axis can be the one of the samples. */
TEST(OnnxLayout, SamplesBecomeAnotherAxis)
{
	const auto file = [](const std::vector<int64_t> &perm) {
		OnnxBuilder builder;
		builder.input("x", { 3, 5, 6, 1 });
		OnnxBuilder::set(builder.node("Transpose", { "x" }, "turned"), "perm", perm);
		builder.node("Relu", { "turned" }, "y");
		builder.output("y");
		return builder;
	};
	Numbers x, wanted;

	for (int i = 0; i < 3 * 5 * 6; i++)
		x.push_back(i);
	for (int n = 0; n < 3; n++)
		for (int column = 0; column < 6; column++)
			for (int line = 0; line < 5; line++)
				wanted.push_back((n * 5 + line) * 6 + column);
	EXPECT_EQ(onCore(file({ 3, 0, 2, 1 }), { x }), std::vector<Numbers>{ wanted });
	expectRefusedFile(file({ 3, 1, 0, 2 }).file(), { "the first axis has to stay the batch" });
}

TEST(OnnxLayout, TransposedPictureIsReshapedAsTheFileSays)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	OnnxBuilder::set(builder.node("Transpose", { "x" }, "last"), "perm", { 0, 2, 3, 1 });
	builder.list("shape", { 1, -1, 4 });
	builder.node("Reshape", { "last", "shape" }, "rows");
	builder.node("Add", { "rows", "rows" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { picture });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], (Numbers{ 2, 20, 4, 40, 6, 60, 8, 80, 10, 100, 12, 120 }));
}

/* A vector that becomes a picture keeps its surface, which has no lines, until axes matter. */
TEST(OnnxLayout, VectorsBecomeTransposedPictures)
{
	for (const bool isFlat : { false, true }) {
		OnnxBuilder builder;
		Numbers numbers(24), wanted(24);

		SCOPED_TRACE(isFlat);
		for (size_t i = 0; i < numbers.size(); i++) {
			numbers[i] = static_cast<double>(i);
			wanted[i % 4 * 6 + i / 4] = 2 * numbers[i];
		}
		builder.input("x", { 1, 24 });
		builder.list("shape", { 1, 2, 3, 4 });
		builder.list("all", { 1, 24 });
		builder.node("Relu", { "x" }, "vector");
		builder.node("Reshape", { "vector", "shape" }, "last");
		OnnxBuilder::set(builder.node("Transpose", { "last" }, "picture"), "perm",
				 { 0, 3, 1, 2 });
		builder.node("Add", { "picture", "picture" }, "twice");
		if (isFlat)
			builder.node("Reshape", { "twice", "all" }, "flat");
		builder.output(isFlat ? "flat" : "twice");
		EXPECT_EQ(onCore(builder, { numbers }), std::vector<Numbers>{ wanted });
	}
}

/* The axes in memory are those of the input, which no operator changes. */
TEST(OnnxLayout, InputsBecomeTransposedPictures)
{
	for (const bool isLine : { false, true }) {
		OnnxBuilder builder;
		Numbers numbers(24), wanted(24);

		SCOPED_TRACE(isLine);
		for (size_t i = 0; i < numbers.size(); i++) {
			numbers[i] = static_cast<double>(i);
			wanted[isLine ? i / 12 * 12 + i % 4 * 3 + i % 12 / 4 : i % 4 * 6 + i / 4] =
				numbers[i];
		}
		if (isLine) {
			builder.input("x", { 2, 3, 4 });
			builder.list("axes", { 1 });
			builder.node("Unsqueeze", { "x", "axes" }, "last");
		} else {
			builder.input("last", { 1, 2, 3, 4 });
		}
		OnnxBuilder::set(builder.node("Transpose", { "last" }, "picture"), "perm",
				 { 0, 3, 1, 2 });
		builder.node("Flatten", { "picture" }, "flat");
		builder.output("flat");
		builder.output("picture");
		EXPECT_EQ(onCore(builder, { numbers }), (std::vector<Numbers>{ wanted, wanted }));
	}
}

/* A detector's head: the positions of three pictures become one axis, longer than a surface. */
TEST(OnnxLayout, LongAxesAreDivided)
{
	constexpr size_t channels = 4, all = 8400;
	constexpr size_t extents[] = { 6400, 1600, 400 };
	OnnxBuilder builder;
	std::vector<Numbers> inputs;
	std::vector<float> factors(all), shifts(2 * all);
	Numbers wanted(channels * all);
	size_t begin = 0;

	for (size_t i = 0; i < factors.size(); i++)
		factors[i] = static_cast<float>(1 << i % 5);
	for (size_t i = 0; i < shifts.size(); i++)
		shifts[i] = static_cast<float>(i % 23);
	for (const size_t extent : extents) {
		Numbers &numbers = inputs.emplace_back(channels * extent);
		for (size_t i = 0; i < numbers.size(); i++) {
			const size_t channel = i / extent, at = begin + i % extent;
			const double number = numbers[i] = static_cast<double>(i * 7 % 31) - 15;
			wanted[channel * all + at] =
				channel < 2 ? number * factors[at] + shifts[channel * all + at]
					    : std::max(number, 0.0);
		}
		begin += extent;
		builder.input("x" + std::to_string(extent),
			      { 1, channels, static_cast<int64_t>(extent) });
	}
	builder.floats("factors", { all }, factors);
	builder.floats("shifts", { 1, 2, all }, shifts);
	builder.list("halves", { 2, 2 });
	OnnxBuilder::set(builder.node("Concat", { "x6400", "x1600", "x400" }, "positions"), "axis",
			 { 2 });
	onnx::Node *split = builder.node("Split", { "positions", "halves" }, "boxes");
	OnnxBuilder::set(split, "axis", { 1 });
	split->add_output("classes");
	builder.node("Mul", { "boxes", "factors" }, "scaled");
	builder.node("Add", { "scaled", "shifts" }, "shifted");
	builder.node("Relu", { "classes" }, "positive");
	OnnxBuilder::set(builder.node("Concat", { "shifted", "positive" }, "y"), "axis", { 1 });
	builder.output("y");
	EXPECT_EQ(onCore(builder, inputs), std::vector<Numbers>{ wanted });
}

/* Rows of a matrix are positions, too. */
TEST(OnnxLayout, LongMatricesAreDivided)
{
	constexpr size_t rows = 9000, channels = 4;
	OnnxBuilder builder;
	Numbers x(rows * channels), wanted(rows * 2);

	for (size_t i = 0; i < x.size(); i++)
		x[i] = static_cast<double>(i * 5 % 17) - 8;
	for (size_t row = 0; row < rows; row++) {
		for (size_t c = 0; c < channels; c++) {
			const double number = x[row * channels + c];
			wanted[row * 2] += std::max(number, 0.0) + static_cast<double>(c);
			wanted[row * 2 + 1] += number;
		}
	}
	builder.input("x", { 1, rows, channels });
	builder.floats("shifts", { channels }, { 0, 1, 2, 3 });
	builder.floats("sums", { 2 * channels, 2 },
		       { 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1 });
	builder.node("Relu", { "x" }, "positive");
	builder.node("Add", { "positive", "shifts" }, "shifted");
	OnnxBuilder::set(builder.node("Concat", { "shifted", "x" }, "both"), "axis", { 2 });
	builder.node("MatMul", { "both", "sums" }, "y");
	builder.output("y");
	EXPECT_EQ(onCore(builder, { x }), std::vector<Numbers>{ wanted });
}

/* Channels in two groups, of which one is taken in turn: as files have it, in three steps. */
TEST(OnnxLayout, ChannelsAreShuffled)
{
	OnnxBuilder builder;
	Numbers x, wanted;

	for (int i = 0; i < 4 * 6; i++)
		x.push_back(i);
	for (const int channel : { 0, 2, 1, 3 })
		for (int i = 0; i < 6; i++)
			wanted.push_back(2 * (channel * 6 + i));
	builder.input("x", { 1, 4, 2, 3 });
	builder.list("groups", { 1, 2, 2, 2, 3 });
	builder.list("picture", { 1, 4, 2, 3 });
	builder.floats("w", { 4, 4, 1, 1 }, { 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2 });
	builder.node("Reshape", { "x", "groups" }, "five");
	OnnxBuilder::set(builder.node("Transpose", { "five" }, "turned"), "perm",
			 { 0, 2, 1, 3, 4 });
	builder.node("Reshape", { "turned", "picture" }, "shuffled");
	builder.node("Conv", { "shuffled", "w" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { x });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], wanted);
}

TEST(OnnxLayout, DepthBecomesSpaceAndBack)
{
	for (const bool crd : { false, true }) {
		OnnxBuilder builder;
		builder.input("x", { 1, 8, 1, 1 });
		onnx::Node *node = builder.node("DepthToSpace", { "x" }, "large");
		OnnxBuilder::set(node, "blocksize", { 2 });
		OnnxBuilder::setText(node, "mode", crd ? "CRD" : "DCR");
		builder.node("Relu", { "large" }, "y");
		OnnxBuilder::set(builder.node("SpaceToDepth", { "y" }, "z"), "blocksize", { 2 });
		builder.output("y");
		builder.output("z");
		/* DCR: channel (line * 2 + column) * 2 + c; CRD: (c * 2 + line) * 2 + column. */
		const Numbers x = { 0, 1, 2, 3, 4, 5, 6, 7 };
		const auto outputs = onCore(builder, { x });
		ASSERT_EQ(outputs.size(), 2U);
		EXPECT_EQ(outputs[0], crd ? x : (Numbers{ 0, 2, 4, 6, 1, 3, 5, 7 }));
		EXPECT_EQ(outputs[1], crd ? (Numbers{ 0, 4, 1, 5, 2, 6, 3, 7 }) : x);
	}
}

TEST(OnnxLayout, PadsWithElementsThatAreThere)
{
	const struct {
		std::string mode;
		std::vector<int64_t> pads;
		Numbers wanted; /* of the first line */
	} cases[] = {
		{ "edge", { 0, 0, 0, 2, 0, 0, 0, 1 }, { 1, 1, 1, 2, 3, 3 } },
		{ "reflect", { 0, 0, 0, 2, 0, 0, 0, 1 }, { 3, 2, 1, 2, 3, 2 } },
		{ "reflect", { 0, 0, 1, 0, 0, 0, 0, 0 }, { 4, 5, 6, 1, 2, 3, 4, 5, 6 } },
		{ "wrap", { 0, 0, 0, 2, 0, 0, 0, 1 }, { 2, 3, 1, 2, 3, 1 } },
		{ "edge", { 0, 1, 0, 0, 0, 0, 0, 0 }, { 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 10 } },
	};

	for (const auto &[mode, pads, wanted] : cases) {
		SCOPED_TRACE(mode);
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 2, 3 });
		builder.list("pads", pads);
		OnnxBuilder::setText(builder.node("Pad", { "x", "pads" }, "y"), "mode", mode);
		builder.output("y");
		auto outputs = onCore(builder, { picture });
		ASSERT_EQ(outputs.size(), 1U);
		ASSERT_GE(outputs[0].size(), wanted.size());
		outputs[0].resize(wanted.size());
		EXPECT_EQ(outputs[0], wanted);
	}
	OnnxBuilder builder;
	builder.input("x", { 1, 2, 2, 3 });
	builder.list("pads", { 0, 0, 0, 3, 0, 0, 0, 0 });
	OnnxBuilder::setText(builder.node("Pad", { "x", "pads" }, "y"), "mode", "reflect");
	builder.output("y");
	expectRefusedFile(builder.file(), { "Pad 'y', pads", "up to 2 are possible" });
}

TEST(OnnxLayout, TensorsAreRepeated)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 1, 2 });
	builder.list("repeats", { 1, 2, 1, 2 });
	builder.list("shape", { 3, 1 });
	builder.node("Tile", { "x", "repeats" }, "tiles");
	builder.node("Expand", { "x", "shape" }, "lines");
	builder.output("tiles");
	builder.output("lines");
	const auto outputs = onCore(builder, { { 1, 2, 3, 4 } });
	ASSERT_EQ(outputs.size(), 2U);
	EXPECT_EQ(outputs[0], (Numbers{ 1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4 }));
	EXPECT_EQ(outputs[1], (Numbers{ 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4 }));

	OnnxBuilder many;
	many.input("x", { 1, 2, 1, 2 });
	many.list("repeats", { 1, 2, 65, 2 });
	many.node("Tile", { "x", "repeats" }, "y");
	many.output("y");
	expectRefusedFile(many.file(), { "Tile 'y', repeats", "65 times; up to 64" });
}

/* More elements than a surface has channels: nobody needs them as such. */
TEST(OnnxLayout, LongFlattenedPictures)
{
	constexpr int64_t channels = 16, side = 24, all = channels * side * side;
	OnnxBuilder builder;
	std::vector<float> weights(all, 0);
	Numbers x(all, 0);
	double sum = 0;

	for (size_t i = 0; i < all; i++)
		x[i] = static_cast<double>(i * 7 % 32) - 16;
	for (size_t i = 5; i < all; i += 1000) {
		weights[i] = static_cast<float>(i % 3 + 1);
		sum += std::max(x[i], 0.0) * weights[i];
	}
	builder.input("x", { 1, channels, side, side });
	builder.floats("w", { all, 1 }, weights);
	builder.node("Flatten", { "x" }, "flat");
	builder.node("Relu", { "flat" }, "positive");
	builder.node("Gemm", { "positive", "w" }, "y");
	builder.output("y");
	EXPECT_EQ(onCore(builder, { x }), (std::vector<Numbers>{ { sum } }));
}

TEST(OnnxLayout, GatheredAlongAnyAxis)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.list("columns", { -1, 0, 0 });
	builder.list("channels", { 1, 0 });
	builder.integers("line", {}, { -1 }, onnx::INT32);
	OnnxBuilder::set(builder.node("Gather", { "x", "columns" }, "some"), "axis", { 3 });
	OnnxBuilder::set(builder.node("Gather", { "some", "channels" }, "turned"), "axis", { 1 });
	OnnxBuilder::set(builder.node("Gather", { "turned", "line" }, "y"), "axis", { 2 });
	builder.output("turned");
	builder.output("y");
	const auto outputs = onCore(builder, { { 1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60 } });
	ASSERT_EQ(outputs.size(), 2U);
	EXPECT_EQ(outputs[0], (Numbers{ 30, 10, 10, 60, 40, 40, 3, 1, 1, 6, 4, 4 }));
	EXPECT_EQ(outputs[1], (Numbers{ 60, 40, 40, 6, 4, 4 }));
}

/* Real numbers, shapes with a quotient that has a rest, and an integer that no double has. */
TEST(OnnxLayout, OperatorsOnConstantsAreComputed)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.floats("row", { 3 }, { 1, 2, 3 });
	builder.floats("two", { 1 }, { 2 });
	builder.list("minus seven", { -7 });
	builder.list("four", { 4 });
	builder.list("three", { 3 });
	builder.list("zero", { 0 });
	builder.list("huge", { INT64_MAX - 1, 1 });
	builder.node("Mul", { "row", "two" }, "even");
	builder.node("Sub", { "even", "row" }, "same");
	builder.node("Add", { "x", "same" }, "sum");
	builder.node("Shape", { "x" }, "shape");
	OnnxBuilder::set(builder.node("Gather", { "shape", "three" }, "columns"), "axis", { 0 });
	builder.node("Mul", { "columns", "four" }, "all");
	builder.node("Div", { "minus seven", "four" }, "minus one");
	OnnxBuilder::set(builder.node("Concat", { "minus one", "all" }, "flat"), "axis", { 0 });
	builder.node("Reshape", { "sum", "flat" }, "rows");
	OnnxBuilder::set(builder.node("Gather", { "huge", "zero" }, "end"), "axis", { 0 });
	builder.list("two columns", { 2 });
	builder.list("last", { 1 });
	builder.node("Slice", { "rows", "two columns", "end", "last" }, "y");
	builder.output("y");
	EXPECT_EQ(onCore(builder, { { 1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60 } }),
		  (std::vector<Numbers>{ { 6, 5, 7, 9, 11, 22, 33, 41, 52, 63 } }));
}

TEST(OnnxLayout, GatheredByWhatIsNotThere)
{
	OnnxBuilder beyond, computed, table;

	beyond.input("x", { 1, 2, 2, 3 });
	beyond.list("some", { 0, -4 });
	OnnxBuilder::set(beyond.node("Gather", { "x", "some" }, "y"), "axis", { 3 });
	beyond.output("y");
	expectRefusedFile(beyond.file(), { "Gather 'y', indices", "element -4, the tensor has 3" });

	computed.input("x", { 1, 2 });
	computed.input("i", { 1 });
	computed.node("Gather", { "x", "i" }, "y");
	computed.output("y");
	expectRefusedFile(computed.file(), { "Gather 'y', indices", "have to be a constant" });
}

} /* namespace */

} /* namespace nvdla::test */
