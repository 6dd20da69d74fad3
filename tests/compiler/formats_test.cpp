/* SPDX-License-Identifier: MIT */
/*
 * The same operator in an ONNX and in a TensorFlow Lite file: the core makes the same of both.
 */
#include <functional>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "onnx_on_core.h"
#include "tflite_on_core.h"

namespace nvdla::test::formats
{

namespace
{

using Operators = fb::BuiltinOperator;

/* 2 lines of 4 pixels with 4 channels: N, H, W, C. */
const Shape wholeShape = { 1, 2, 4, 4 };

Numbers wholePicture()
{
	Numbers numbers;

	for (int i = 0; i < 32; i++)
		numbers.push_back((i * 7 % 32 - 13) * 0.25);
	return numbers;
}

/* Elements of a picture, N, H, W, C, with channels first. */
Numbers channelsFirst(const Numbers &numbers, const Shape &shape)
{
	const auto pixels = static_cast<size_t>(shape[1] * shape[2]);
	const auto channels = static_cast<size_t>(shape[3]);
	Numbers turned;

	for (size_t n = 0; n < static_cast<size_t>(shape[0]); n++)
		for (size_t c = 0; c < channels; c++)
			for (size_t i = 0; i < pixels; i++)
				turned.push_back(numbers[(n * pixels + i) * channels + c]);
	return turned;
}

std::vector<int64_t> channelsFirst(const Shape &shape)
{
	if (shape.size() != 4)
		return { shape.begin(), shape.end() };
	return { shape[0], shape[3], shape[1], shape[2] };
}

/* An axis of N, H, W, C in a file with channels first. */
int64_t axisOf(int32_t axis)
{
	return axis == 0 ? 0 : axis == 3 ? 1 : axis + 1;
}

/* The operator that computes y from x, in both files. */
struct Case {
	Shape out;
	std::function<void(OnnxBuilder &)> onnx;
	std::function<void(TfliteBuilder &, int32_t x, int32_t y)> tflite;
	double within = 0;
};

template<typename Options>
auto tflite(Operators code, fb::BuiltinOptions kind,
	    std::function<flatbuffers::Offset<Options>(TfliteBuilder &)> options,
	    std::function<Shape(TfliteBuilder &)> others = {})
{
	return [=](TfliteBuilder &builder, int32_t x, int32_t y) {
		Shape inputs{ x };
		for (const int32_t other : others ? others(builder) : Shape{})
			inputs.push_back(other);
		builder.node(static_cast<int32_t>(code), inputs, { y }, kind, options(builder));
	};
}

/* Without options. */
auto tflite(Operators code, std::function<Shape(TfliteBuilder &)> others = {})
{
	return [=](TfliteBuilder &builder, int32_t x, int32_t y) {
		Shape inputs{ x };
		for (const int32_t other : others ? others(builder) : Shape{})
			inputs.push_back(other);
		builder.node(static_cast<int32_t>(code), inputs, { y });
	};
}

auto onnx(const std::string &type, std::function<void(onnx::Node *)> attributes = {},
	  std::function<std::vector<std::string>(OnnxBuilder &)> others = {})
{
	return [=](OnnxBuilder &builder) {
		std::vector<std::string> inputs{ "x" };
		for (const std::string &other :
		     others ? others(builder) : std::vector<std::string>{})
			inputs.push_back(other);
		onnx::Node *node = builder.node(type, inputs, "y");
		if (attributes)
			attributes(node);
	};
}

/* A list of whole numbers as a second input. */
auto listed(const std::vector<int32_t> &numbers)
{
	return [=](TfliteBuilder &builder) { return Shape{ builder.list(numbers) }; };
}

auto onnxListed(const std::vector<int64_t> &numbers)
{
	return [=](OnnxBuilder &builder) {
		builder.list("list", numbers);
		return std::vector<std::string>{ "list" };
	};
}

/* A reduction of axes of N, H, W, C, which stay if the output has four. */
Case reduction(const std::string &type, Operators code, const std::vector<int32_t> &axes,
	       const Shape &out)
{
	std::vector<int64_t> turned;

	for (const int32_t axis : axes)
		turned.push_back(axisOf(axis));
	const bool keeps = out.size() == 4;
	const auto attributes = [=](onnx::Node *node) {
		OnnxBuilder::setList(node, "axes", turned);
		OnnxBuilder::setInteger(node, "keepdims", keeps);
	};
	return { out, onnx(type, attributes), tflite(code, listed(axes)), 0.01 };
}

Case extremeOfAxis(const std::string &type, Operators code, int32_t axis, const Shape &out)
{
	const bool keeps = out.size() == 4;
	const auto attributes = [=](onnx::Node *node) {
		OnnxBuilder::setInteger(node, "axis", axisOf(axis));
		OnnxBuilder::setInteger(node, "keepdims", keeps);
	};
	return { out, onnx(type, attributes), tflite(code, listed({ axis })) };
}

Case unary(const std::string &type, Operators code)
{
	return { wholeShape, onnx(type), tflite(code), 0.01 };
}

/* A function of x and a constant of one number for each of some axes. */
Case withConstant(const std::string &type, Operators code, const Shape &shape)
{
	std::vector<float> numbers;

	for (int32_t i = 0; i < shape[1] * shape[2] * shape[3]; i++)
		numbers.push_back(static_cast<float>(i % 5) * 0.5f + 0.5f);
	const auto first = channelsFirst({ numbers.begin(), numbers.end() }, shape);
	return { wholeShape,
		 onnx(type, {},
		      [=](OnnxBuilder &builder) {
			      builder.floats("c", channelsFirst(shape),
					     { first.begin(), first.end() });
			      return std::vector<std::string>{ "c" };
		      }),
		 tflite(code,
			[=](TfliteBuilder &builder) {
				return Shape{ builder.constant<float>(shape, numbers) };
			}),
		 0.01 };
}

/* Larger or smaller by sizes. */
template<typename Options>
Case resized(Operators code, fb::BuiltinOptions kind, const Shape &out, bool corners, bool centers,
	     flatbuffers::Offset<Options> (*make)(flatbuffers::FlatBufferBuilder &, bool, bool))
{
	const bool isNearest = code == Operators::RESIZE_NEAREST_NEIGHBOR;
	const auto attributes = [=](onnx::Node *node) {
		OnnxBuilder::setText(node, "mode", isNearest ? "nearest" : "linear");
		OnnxBuilder::setText(node, "nearest_mode",
				     corners || centers ? "round_prefer_ceil" : "floor");
		OnnxBuilder::setText(node, "coordinate_transformation_mode",
				     corners   ? "align_corners"
				     : centers ? "half_pixel"
					       : "asymmetric");
	};
	const auto sizes = [=](OnnxBuilder &builder) {
		builder.list("sizes", channelsFirst(out));
		return std::vector<std::string>{ "", "", "sizes" };
	};
	return { out, onnx("Resize", attributes, sizes),
		 tflite<Options>(
			 code, kind,
			 [=](TfliteBuilder &builder) {
				 return make(builder.flat, corners, centers);
			 },
			 listed({ out[1], out[2] })),
		 0.01 };
}

void addResizes(std::map<std::string, Case> &cases)
{
	for (const auto &[name, corners, centers] :
	     { std::tuple{ "Corners", true, false }, std::tuple{ "Centers", false, true },
	       std::tuple{ "Firsts", false, false } }) {
		for (const Shape &out : { Shape{ 1, 4, 8, 4 }, Shape{ 1, 3, 7, 4 },
					  Shape{ 1, 2, 2, 4 }, Shape{ 1, 5, 9, 4 } }) {
			const std::string what = std::string(name) + "To" + std::to_string(out[1]) +
						 "x" + std::to_string(out[2]);
			cases.emplace("Nearest" + what,
				      resized(Operators::RESIZE_NEAREST_NEIGHBOR,
					      fb::BuiltinOptions::ResizeNearestNeighborOptions, out,
					      corners, centers,
					      fb::CreateResizeNearestNeighborOptions));
		}
		cases.emplace(std::string("Linear") + name,
			      resized(Operators::RESIZE_BILINEAR,
				      fb::BuiltinOptions::ResizeBilinearOptions,
				      corners ? Shape{ 1, 3, 7, 4 } : Shape{ 1, 4, 8, 4 }, corners,
				      centers, fb::CreateResizeBilinearOptions));
	}
}

void addMoves(std::map<std::string, Case> &cases)
{
	const auto perm = [](onnx::Node *node) {
		OnnxBuilder::setList(node, "perm", { 0, 1, 3, 2 });
	};
	const auto block = [](onnx::Node *node) { OnnxBuilder::setInteger(node, "blocksize", 2); };
	const auto reflect = [](onnx::Node *node) {
		OnnxBuilder::setText(node, "mode", "reflect");
	};
	const auto ofColumns = [](onnx::Node *node) { OnnxBuilder::setInteger(node, "axis", 3); };

	cases["Transpose"] = { { 1, 4, 2, 4 },
			       onnx("Transpose", perm),
			       tflite(Operators::TRANSPOSE, listed({ 0, 2, 1, 3 })) };
	cases["DepthToSpace"] = { { 1, 4, 8, 1 },
				  onnx("DepthToSpace", block),
				  tflite(Operators::DEPTH_TO_SPACE) };
	cases["SpaceToDepth"] = { { 1, 1, 2, 16 },
				  onnx("SpaceToDepth", block),
				  tflite(Operators::SPACE_TO_DEPTH) };
	cases["Pad"] = { { 1, 3, 7, 4 },
			 onnx("Pad", {}, onnxListed({ 0, 0, 1, 2, 0, 0, 0, 1 })),
			 tflite(Operators::PAD, [](TfliteBuilder &builder) {
				 return Shape{ builder.constant<int32_t>(
					 { 4, 2 }, { 0, 0, 1, 0, 2, 1, 0, 0 }) };
			 }) };
	cases["PadReflect"] = { { 1, 2, 7, 4 },
				onnx("Pad", reflect, onnxListed({ 0, 0, 0, 2, 0, 0, 0, 1 })),
				tflite<fb::MirrorPadOptions>(
					Operators::MIRROR_PAD, fb::BuiltinOptions::MirrorPadOptions,
					[](TfliteBuilder &b) {
						return fb::CreateMirrorPadOptions(
							b.flat, fb::MirrorPadMode::REFLECT);
					},
					[](TfliteBuilder &builder) {
						return Shape{ builder.constant<int32_t>(
							{ 4, 2 }, { 0, 0, 0, 0, 2, 1, 0, 0 }) };
					}) };
	cases["Tile"] = { { 1, 4, 4, 8 },
			  onnx("Tile", {}, onnxListed({ 1, 2, 2, 1 })),
			  tflite(Operators::TILE, listed({ 1, 2, 1, 2 })) };
	cases["Gather"] = { { 1, 2, 3, 4 },
			    onnx("Gather", ofColumns, onnxListed({ 3, 0, 1 })),
			    tflite<fb::GatherOptions>(
				    Operators::GATHER, fb::BuiltinOptions::GatherOptions,
				    [](TfliteBuilder &b) {
					    return fb::CreateGatherOptions(b.flat, 2);
				    },
				    listed({ 3, 0, 1 })) };
}

std::map<std::string, Case> cases()
{
	std::map<std::string, Case> all{
		{ "Abs", unary("Abs", Operators::ABS) },
		{ "Exp", unary("Exp", Operators::EXP) },
		{ "HardSwish", unary("HardSwish", Operators::HARD_SWISH) },
		{ "Neg", unary("Neg", Operators::NEG) },
		{ "Relu", unary("Relu", Operators::RELU) },
		{ "Tanh", unary("Tanh", Operators::TANH) },
		{ "MaxOfConstant", withConstant("Max", Operators::MAXIMUM, { 1, 2, 4, 4 }) },
		{ "MinOfChannels", withConstant("Min", Operators::MINIMUM, { 1, 1, 1, 4 }) },
		{ "PReluOfChannels", withConstant("PRelu", Operators::PRELU, { 1, 1, 1, 4 }) },
		{ "PReluOfElements", withConstant("PRelu", Operators::PRELU, { 1, 2, 4, 4 }) },
		{ "MeanOfPlanes", reduction("ReduceMean", Operators::MEAN, { 1, 2 }, { 1, 4 }) },
		{ "MeanOfLines", reduction("ReduceMean", Operators::MEAN, { 1 }, { 1, 1, 4, 4 }) },
		{ "MeanOfChannels", reduction("ReduceMean", Operators::MEAN, { 3 }, { 1, 2, 4 }) },
		{ "MeanOfAll", reduction("ReduceMean", Operators::MEAN, { 1, 2, 3 }, { 1 }) },
		{ "LargestOfChannelsAndColumns",
		  reduction("ReduceMax", Operators::REDUCE_MAX, { 2, 3 }, { 1, 2 }) },
		{ "SmallestOfColumns",
		  reduction("ReduceMin", Operators::REDUCE_MIN, { 2 }, { 1, 2, 1, 4 }) },
		{ "LargestIndexOfChannels",
		  extremeOfAxis("ArgMax", Operators::ARG_MAX, 3, { 1, 2, 4 }) },
		{ "LargestIndexOfColumns",
		  extremeOfAxis("ArgMax", Operators::ARG_MAX, 2, { 1, 2, 1, 4 }) },
		{ "SmallestIndexOfLines",
		  extremeOfAxis("ArgMin", Operators::ARG_MIN, 1, { 1, 1, 4, 4 }) },
	};

	addMoves(all);
	addResizes(all);
	return all;
}

std::vector<Numbers> ofOnnx(const Case &one)
{
	OnnxBuilder builder(11);

	builder.input("x", channelsFirst(wholeShape));
	one.onnx(builder);
	builder.output("y");
	return onCore(builder, { channelsFirst(wholePicture(), wholeShape) });
}

std::vector<Numbers> ofTflite(const Case &one, bool isIndex)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats(wholeShape);
	const int32_t y = isIndex ? builder.wholeNumbers(one.out) : builder.floats(one.out);

	one.tflite(builder, x, y);
	return ofFile(builder.file({ x }, { y }), { wholePicture() });
}

TEST(Formats, SameOperatorSameAnswer)
{
	for (const auto &[name, one] : cases()) {
		SCOPED_TRACE(name);
		const bool isIndex = name.find("Index") != std::string::npos;
		const auto first = ofOnnx(one), second = ofTflite(one, isIndex);
		if (first.size() != 1 || second.size() != 1) {
			ADD_FAILURE() << "is not known to both";
			continue;
		}
		const Numbers wanted = one.out.size() == 4 ? channelsFirst(second.front(), one.out)
							   : second.front();
		ASSERT_EQ(first.front().size(), wanted.size());
		for (size_t i = 0; i < wanted.size(); i++)
			EXPECT_NEAR(first.front()[i], wanted[i], one.within) << i;
	}
}

} /* namespace */

} /* namespace nvdla::test::formats */
