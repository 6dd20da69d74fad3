/* SPDX-License-Identifier: MIT */
/*
 * TFLite files: operators that choose and put together elements, and functions of channels.
 */
#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "refused_file.h"
#include "tflite_on_core.h"

namespace nvdla::test
{

namespace
{

constexpr int32_t convolutionCode = 3, bilinearCode = 23, gatherCode = 36, batchToSpaceCode = 37,
		  spaceToBatchCode = 38, quotientCode = 42, meanOfCode = 40, sliceCode = 45,
		  logSoftmaxCode = 50, selectCode = 64, tileCode = 69, argMinCode = 79,
		  nearestCode = 97, squaredDifferenceCode = 99, mirrorPadCode = 100,
		  productCode = 126;

TEST(TfliteParts, QuotientsOfTensors)
{
	TfliteBuilder builder;
	const int32_t a = builder.floats({ 1, 2, 3, 2 }), b = builder.floats({ 1, 2, 3, 2 });
	const int32_t y = builder.floats({ 1, 2, 3, 2 });

	builder.node(quotientCode, { a, b }, { y }, fb::BuiltinOptions::DivOptions,
		     fb::CreateDivOptions(builder.flat, fb::Activation::RELU6));
	const Numbers by = { 1, -2, 4, 8, 0.5, 16, 1, 10, 100, -100, 3, 7 };
	const auto outputs = ofFile(builder.file({ a, b }, { y }), { pixels, by });
	ASSERT_EQ(outputs.size(), 1U);
	for (size_t i = 0; i < by.size(); i++)
		EXPECT_NEAR(outputs[0][i], std::clamp(pixels[i] / by[i], 0.0, 6.0), 0.01) << i;
}

/* By 0 as by the smallest number: what is left of the type's range. */
TEST(TfliteParts, QuotientsOfIntegers)
{
	TfliteBuilder builder;
	const int32_t a = builder.integers({ 1, 1, 1, 5 }, 0.5f, 3);
	const int32_t b = builder.integers({ 1, 1, 1, 5 }, 0.25f, -1);
	const int32_t y = builder.integers({ 1, 1, 1, 5 }, 0.125f, -20);

	builder.node(quotientCode, { a, b }, { y }, fb::BuiltinOptions::DivOptions,
		     fb::CreateDivOptions(builder.flat, fb::Activation::NONE));
	/* 3.5 / 2, -1.5 / 4, 62 / 0.25, -1.5 / 0.25, 1 / 0 */
	EXPECT_EQ(ofFile(builder.file({ a, b }, { y }),
			 { { 10, 0, 127, 0, 5 }, { 7, 15, 0, 0, -1 } }),
		  (std::vector<Numbers>{ Numbers{ -20 + 14, -20 - 3, 127, -20 - 48, 127 } }));
}

TEST(TfliteParts, MirroredEdges)
{
	for (const auto mode : { fb::MirrorPadMode::REFLECT, fb::MirrorPadMode::SYMMETRIC }) {
		TfliteBuilder builder;
		const int32_t x = builder.floats({ 1, 2, 3, 2 });
		const int32_t pads =
			builder.constant<int32_t>({ 4, 2 }, { 0, 0, 1, 0, 0, 2, 0, 0 });
		const int32_t y = builder.floats({ 1, 3, 5, 2 });
		builder.node(mirrorPadCode, { x, pads }, { y },
			     fb::BuiltinOptions::MirrorPadOptions,
			     fb::CreateMirrorPadOptions(builder.flat, mode));
		const auto outputs = ofFile(builder.file({ x }, { y }), { pixels });
		ASSERT_EQ(outputs.size(), 1U);
		const Numbers reflected = { 4, 5, 6, 5, 4, 1, 2, 3, 2, 1, 4, 5, 6, 5, 4 };
		const Numbers symmetric = { 1, 2, 3, 3, 2, 1, 2, 3, 3, 2, 4, 5, 6, 6, 5 };
		const bool twice = mode == fb::MirrorPadMode::SYMMETRIC;
		for (size_t i = 0; i < reflected.size(); i++)
			EXPECT_EQ(outputs[0][2 * i], (twice ? symmetric : reflected)[i]) << i;
	}
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t pads = builder.constant<int32_t>({ 4, 2 }, { 0, 0, 2, 0, 0, 0, 0, 0 });
	const int32_t y = builder.floats({ 1, 4, 3, 2 });
	builder.node(mirrorPadCode, { x, pads }, { y }, fb::BuiltinOptions::MirrorPadOptions,
		     fb::CreateMirrorPadOptions(builder.flat, fb::MirrorPadMode::REFLECT));
	expectRefusedFile(builder.file({ x }, { y }),
			  { "MIRROR_PAD 't2', paddings", "around 2, in mode reflect; up to 1" });
}

TEST(TfliteParts, GatheredAlongAnyAxis)
{
	TfliteBuilder builder;
	const int32_t x = builder.integers({ 1, 2, 3, 2 }, 0.5f, -3);
	const int32_t one = builder.constant<int32_t>({}, { 1 });
	const int32_t some = builder.list({ 2, 0, 1, 1 }), turned = builder.list({ 1, 0 });
	const int32_t line = builder.integers({ 1, 3, 2 }, 0.5f, -3);
	const int32_t columns = builder.integers({ 1, 4, 2 }, 0.5f, -3);
	const int32_t y = builder.integers({ 1, 4, 2 }, 0.5f, -3);

	builder.node(gatherCode, { x, one }, { line }, fb::BuiltinOptions::GatherOptions,
		     fb::CreateGatherOptions(builder.flat, 1));
	builder.node(gatherCode, { line, some }, { columns }, fb::BuiltinOptions::GatherOptions,
		     fb::CreateGatherOptions(builder.flat, -2));
	builder.node(gatherCode, { columns, turned }, { y }, fb::BuiltinOptions::GatherOptions,
		     fb::CreateGatherOptions(builder.flat, 2));
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { { 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6 } }),
		  (std::vector<Numbers>{ { 6, 5, 2, 1, 4, 3, 4, 3 } }));
}

TEST(TfliteParts, GatheredByWhatIsNotThere)
{
	struct Wrong {
		std::vector<int32_t> indices;
		Shape shape;
		int32_t batchDims;
		std::string said;
	};
	const Wrong wrongs[] = {
		{ { 0, 3 }, { 2 }, 0, "indices: element 3, the tensor has 3" },
		{ { -1 }, { 1 }, 0, "indices: name element -1" },
		{ { 0, 1 }, { 1, 2 }, 0, "indices: are 1 x 2; a list" },
		{ { 0, 1 }, { 2 }, 1, "batch_dims: is 1" },
	};

	for (const Wrong &wrong : wrongs) {
		TfliteBuilder builder;
		const int32_t x = builder.floats({ 1, 2, 3, 2 });
		const int32_t some = builder.constant<int32_t>(wrong.shape, wrong.indices);
		const int32_t y = builder.floats({ 1, 2, 2, 2 });
		builder.node(gatherCode, { x, some }, { y }, fb::BuiltinOptions::GatherOptions,
			     fb::CreateGatherOptions(builder.flat, 2, wrong.batchDims));
		expectRefusedFile(builder.file({ x }, { y }), { "GATHER 't2'", wrong.said });
	}
}

TEST(TfliteParts, Repeated)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 1, 2, 2 });
	const int32_t times = builder.list({ 1, 2, 1, 2 }), y = builder.floats({ 1, 2, 2, 4 });

	builder.node(tileCode, { x, times }, { y });
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { { 1, 2, 3, 4 } }),
		  (std::vector<Numbers>{ { 1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4 } }));
	for (const std::vector<int32_t> &wrong :
	     { std::vector{ 1, 2 }, std::vector{ 1, 0, 1, 1 } }) {
		TfliteBuilder refused;
		const int32_t in = refused.floats({ 1, 1, 2, 2 });
		const int32_t list = refused.list(wrong), out = refused.floats({ 1, 2, 2, 4 });
		refused.node(tileCode, { in, list }, { out });
		expectRefusedFile(refused.file({ in }, { out }), { "TILE 't2', multiples" });
	}
}

TEST(TfliteParts, SmallestOfChannels)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 1, 2, 3 }), axis = builder.list({ -1 });
	const int32_t y = builder.wholeNumbers({ 1, 1, 2 });

	builder.node(argMinCode, { x, axis }, { y });
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { { 4, -1, -1, 0.5, 7, 0.25 } }),
		  (std::vector<Numbers>{ { 1, 2 } }));
}

/* Integers of the result cannot hold the difference that is squared. */
TEST(TfliteParts, SquaredDifferencesAreOfRealNumbers)
{
	TfliteBuilder builder;
	const int32_t x = builder.integers({ 1, 1, 1, 2 }, 1, 0);
	const int32_t z = builder.integers({ 1, 1, 1, 2 }, 1, 0);
	const int32_t y = builder.integers({ 1, 1, 1, 2 }, 1, 0);

	builder.node(squaredDifferenceCode, { x, z }, { y });
	expectRefusedFile(builder.file({ x, z }, { y }),
			  { "SQUARED_DIFFERENCE 't2', type", "is int8; float is known" });
}

TEST(TfliteParts, ProductsWithOneMatrix)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 2, 2, 2 });
	const int32_t matrices = builder.constant<float>({ 2, 2, 1 }, { 1, 2, 3, 4 });
	const int32_t y = builder.floats({ 2, 2, 1 });

	builder.node(productCode, { x, matrices }, { y }, fb::BuiltinOptions::BatchMatMulOptions,
		     fb::CreateBatchMatMulOptions(builder.flat));
	expectRefusedFile(builder.file({ x }, { y }),
			  { "BATCH_MATMUL 't2', weights", "are 2 x 2 x 1; one matrix" });
}

/* x[..., 1, newaxis, 0]; x[:, newaxis, 1] */
TEST(TfliteParts, SlicesAddAxes)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t all = builder.list({ 0, 1, 0, 0 }), four = builder.list({ 0, 2, 0, 1 });
	const int32_t three = builder.list({ 0, 0, 1 }), ends = builder.list({ 1, 0, 2 });
	const int32_t steps = builder.list({ 1, 1, 1, 1 }), step = builder.list({ 1, 1, 1 });
	const int32_t y = builder.floats({ 1, 2, 1 }), z = builder.floats({ 1, 1, 3, 2 });

	builder.node(sliceCode, { x, all, four, steps }, { y },
		     fb::BuiltinOptions::StridedSliceOptions,
		     fb::CreateStridedSliceOptions(builder.flat, 0, 0, 0b0001, 0b0100, 0b1010));
	builder.node(sliceCode, { x, three, ends, step }, { z },
		     fb::BuiltinOptions::StridedSliceOptions,
		     fb::CreateStridedSliceOptions(builder.flat, 0b001, 0b001, 0, 0b010, 0b100));
	EXPECT_EQ(ofFile(builder.file({ x }, { y, z }), { pixels }),
		  (std::vector<Numbers>{ { 2, 5 }, { 4, 40, 5, 50, 6, 60 } }));
}

/* What is not chosen of a constant may be anything. */
TEST(TfliteParts, ChosenByAConstant)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 }), z = builder.floats({ 1, 2, 3, 2 });
	const int32_t even = builder.constant<uint8_t>({ 1, 1, 3, 1 }, { 1, 0, 1 });
	const int32_t large = builder.constant<float>({ 2 }, { HUGE_VALF, 7 });
	const int32_t first = builder.constant<uint8_t>({ 2 }, { 1, 0 });
	const int32_t some = builder.floats({ 1, 2, 3, 2 }), y = builder.floats({ 1, 2, 3, 2 });

	builder.node(selectCode, { even, x, z }, { some });
	builder.node(selectCode, { first, some, large }, { y });
	Numbers negative = pixels;
	for (double &number : negative)
		number = -number;
	EXPECT_EQ(ofFile(builder.file({ x, z }, { y }), { pixels, negative }),
		  (std::vector<Numbers>{ { 1, 7, -2, 7, 3, 7, 4, 7, -5, 7, 6, 7 } }));
}

/* A few bytes that would be a condition for more elements than there is memory. */
TEST(TfliteParts, ChosenOfTooMany)
{
	TfliteBuilder builder;
	const Shape huge = { 1, 1 << 14, 1 << 14, 2 };
	const int32_t x = builder.floats(huge), y = builder.floats(huge);
	const int32_t some = builder.constant<uint8_t>({ 1 }, { 1 });

	builder.node(selectCode, { some, x, x }, { y });
	expectRefusedFile(builder.file({ x }, { y }),
			  { "SELECT 't1', condition", "is 1 for 1 x 16384 x 16384 x 2" });
}

TEST(TfliteParts, IntegersChosenByAConstant)
{
	TfliteBuilder builder;
	const int32_t x = builder.integers({ 1, 1, 3, 2 }, 0.5f, -3);
	const int32_t large = builder.constant<float>({ 1 }, { -1e9f });
	const int32_t some = builder.constant<uint8_t>({ 1, 1, 3, 2 }, { 1, 0, 0, 1, 1, 1 });
	const int32_t y = builder.integers({ 1, 1, 3, 2 }, 0.5f, -3);

	builder.node(selectCode, { some, x, large }, { y });
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { { -128, 2, 3, 4, 127, 6 } }),
		  (std::vector<Numbers>{ { -128, -128, -128, 4, 127, 6 } }));
}

TEST(TfliteParts, LogarithmOfSoftmax)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2 }), y = builder.floats({ 1, 2 });

	builder.node(logSoftmaxCode, { x }, { y });
	const auto outputs = ofFile(builder.file({ x }, { y }), { { 3, 4 } });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_NEAR(outputs[0][0], -1.3133, 2e-3);
	EXPECT_NEAR(outputs[0][1], -0.3133, 2e-3);
}

struct Resize {
	Shape in;
	Shape out;
	bool nearest = false;
	bool centers = false;
	bool corners = false;
	bool integers = false;

	Numbers numbers() const
	{
		Numbers all;
		for (int i = 0; i < in[1] * in[2] * in[3]; i++)
			all.push_back(i * 53 % 251 - 125);
		return all;
	}
	std::vector<Numbers> onCore(const Numbers &input) const
	{
		TfliteBuilder builder;
		const int32_t x = integers ? builder.integers(in, 0.5f, -7) : builder.floats(in);
		const int32_t size = builder.list({ out[1], out[2] });
		const int32_t y = integers ? builder.integers(out, 0.5f, -7) : builder.floats(out);
		if (nearest)
			builder.node(nearestCode, { x, size }, { y },
				     fb::BuiltinOptions::ResizeNearestNeighborOptions,
				     fb::CreateResizeNearestNeighborOptions(builder.flat, corners,
									    centers));
		else
			builder.node(
				bilinearCode, { x, size }, { y },
				fb::BuiltinOptions::ResizeBilinearOptions,
				fb::CreateResizeBilinearOptions(builder.flat, corners, centers));
		return ofFile(builder.file({ x }, { y }), { input });
	}
	/* What the core makes, and what \a wanted says of a line, a column and a channel. */
	void check(const std::function<double(const Numbers &, int, int, int)> &wanted,
		   double allowed) const
	{
		const Numbers input = numbers();
		const auto outputs = onCore(input);
		ASSERT_EQ(outputs.size(), 1U);
		for (int i = 0; i < static_cast<int>(outputs[0].size()); i++)
			ASSERT_NEAR(
				outputs[0][static_cast<size_t>(i)],
				wanted(input, i / out[3] / out[2], i / out[3] % out[2], i % out[3]),
				allowed)
				<< i;
	}
};

/* 4 x 6 elements, of which half as many lines and a third of the columns are left. */
TEST(TfliteParts, SmallerPictures)
{
	const struct {
		bool nearest, centers;
		Numbers wanted;
	} cases[] = {
		{ true, false, { 0, 3, 12, 15 } },
		{ true, true, { 7, 10, 19, 22 } },
		{ false, false, { 0, 3, 12, 15 } },
		{ false, true, { 4, 7, 16, 19 } },
	};
	Numbers numbers;

	for (int i = 0; i < 24; i++)
		numbers.push_back(i);
	for (const auto &[nearest, centers, wanted] : cases) {
		SCOPED_TRACE(testing::Message() << nearest << centers);
		const Resize resize{ { 1, 4, 6, 1 }, { 1, 2, 2, 1 }, nearest, centers };
		EXPECT_EQ(resize.onCore(numbers), (std::vector<Numbers>{ wanted }));
	}
}

/* Where an element of a resized picture lies in the input; elements have middles, or begin there.
 */
double placeOf(int at, int32_t in, int32_t out, bool centers)
{
	const double ratio = static_cast<double>(in) / out;

	return centers ? (at + 0.5) * ratio - 0.5 : at * ratio;
}

double resized(const Numbers &numbers, const Shape &in, const Shape &out, bool nearest,
	       bool centers, int y, int x, int c)
{
	const auto element = [&](int line, int column) {
		line = std::clamp(line, 0, in[1] - 1);
		column = std::clamp(column, 0, in[2] - 1);
		return numbers[static_cast<size_t>((line * in[2] + column) * in[3] + c)];
	};
	double line = placeOf(y, in[1], out[1], centers);
	double column = placeOf(x, in[2], out[2], centers);
	if (nearest) {
		const double half = centers ? 0.5 : 0;
		return element(static_cast<int>(std::floor(line + half + 1e-9)),
			       static_cast<int>(std::floor(column + half + 1e-9)));
	}
	line = std::max(line, 0.0);
	column = std::max(column, 0.0);
	const int top = static_cast<int>(line), left = static_cast<int>(column);
	const double below = line - top, right = column - left;
	return (1 - below) * ((1 - right) * element(top, left) + right * element(top, left + 1)) +
	       below * ((1 - right) * element(top + 1, left) + right * element(top + 1, left + 1));
}

/* Two thirds of a size, three halves, larger in one axis and smaller in the other. */
TEST(TfliteParts, PicturesOfSizesInRatios)
{
	const std::pair<Shape, Shape> shapes[] = {
		{ { 1, 4, 6, 5 }, { 1, 6, 9, 5 } },   { { 1, 7, 6, 3 }, { 1, 13, 4, 3 } },
		{ { 1, 6, 8, 33 }, { 1, 4, 6, 33 } }, { { 1, 5, 4, 2 }, { 1, 8, 7, 2 } },
		{ { 1, 8, 3, 2 }, { 1, 4, 6, 2 } },   { { 1, 8, 8, 2 }, { 1, 5, 3, 2 } },
	};

	for (const auto &[in, out] : shapes) {
		for (int kind = 0; kind < 8; kind++) {
			const bool nearest = kind & 1, centers = kind & 2, integers = kind & 4;
			SCOPED_TRACE(testing::Message() << kind << " " << in[1] << " x " << in[2]
							<< " to " << out[1] << " x " << out[2]);
			const Resize resize{ in, out, nearest, centers, false, integers };
			resize.check(
				[&](const Numbers &numbers, int y, int x, int c) {
					return resized(numbers, in, out, nearest, centers, y, x, c);
				},
				nearest	   ? 0
				: integers ? 1.01
					   : 0.2);
		}
	}
}

/* First and last elements stay at the ends (align_corners). */
double stretched(const Numbers &numbers, const Shape &in, const Shape &out, int y, int x, int c)
{
	const auto place = [&](size_t axis, int at) {
		return out[axis] == 1 ? 0.0 : at * double{ in[axis] - 1.0 } / (out[axis] - 1);
	};
	const double line = place(1, y), column = place(2, x);
	double sum = 0;

	for (int h = 0; h < in[1]; h++) {
		for (int w = 0; w < in[2]; w++) {
			const double part = std::max(0.0, 1 - std::fabs(line - h)) *
					    std::max(0.0, 1 - std::fabs(column - w));
			sum += part * numbers[static_cast<size_t>((h * in[2] + w) * in[3] + c)];
		}
	}
	return sum;
}

TEST(TfliteParts, LargerPicturesWithCornersInPlace)
{
	const std::pair<Shape, Shape> shapes[] = {
		{ { 1, 3, 4, 5 }, { 1, 5, 10, 5 } },  { { 1, 3, 3, 40 }, { 1, 17, 17, 40 } },
		{ { 1, 1, 1, 7 }, { 1, 33, 33, 7 } }, { { 1, 1, 3, 3 }, { 1, 4, 9, 3 } },
		{ { 1, 4, 2, 3 }, { 1, 4, 5, 3 } },   { { 1, 2, 2, 3 }, { 1, 33, 33, 3 } },
		{ { 1, 3, 3, 2 }, { 1, 3, 3, 2 } },
	};

	for (const bool integers : { false, true }) {
		for (const auto &[in, out] : shapes) {
			SCOPED_TRACE(testing::Message()
				     << integers << " " << in[1] << " x " << in[2] << " to "
				     << out[1] << " x " << out[2]);
			const Resize resize{ in, out, false, false, true, integers };
			resize.check([&](const Numbers &numbers, int y, int x,
					 int c) { return stretched(numbers, in, out, y, x, c); },
				     integers ? 1 : 0.2);
		}
	}
}

/* What is no ratio of small numbers takes elements one by one. */
TEST(TfliteParts, NearestOfAnySize)
{
	const std::pair<Shape, Shape> shapes[] = {
		{ { 1, 3, 4, 5 }, { 1, 5, 7, 5 } },
		{ { 1, 2, 3, 33 }, { 1, 37, 5, 33 } },
		{ { 1, 17, 9, 2 }, { 1, 11, 40, 2 } },
		{ { 1, 4, 4, 3 }, { 1, 1, 4, 3 } },
	};

	for (int kind = 0; kind < 8; kind++) {
		const bool centers = kind & 1, corners = kind & 2, integers = kind & 4;
		auto place = [&](int at, int32_t in, int32_t out) {
			const double ratio = corners && out > 1 ? (in - 1.0) / (out - 1)
								: static_cast<double>(in) / out;
			const double element = (at + (centers ? 0.5 : 0)) * ratio;
			return std::min(static_cast<int>(corners ? std::round(element)
								 : std::floor(element + 1e-9)),
					in - 1);
		};
		for (const auto &[in, out] : shapes) {
			SCOPED_TRACE(testing::Message() << kind << " " << in[1] << " x " << in[2]
							<< " to " << out[1] << " x " << out[2]);
			const Resize resize{ in, out, true, centers, corners, integers };
			resize.check(
				[&](const Numbers &numbers, int y, int x, int c) {
					const int line = place(y, in[1], out[1]);
					const int column = place(x, in[2], out[2]);
					return numbers[static_cast<size_t>(
						(line * in[2] + column) * in[3] + c)];
				},
				0);
		}
	}
}

/* Samples are every other line and column: together a convolution whose kernel is dilated. */
TEST(TfliteParts, ConvolutionsOfSpreadSamplesAreDilated)
{
	const auto file = [](bool integers, const Shape &around, const Shape &samples,
			     fb::Padding padding, const Shape &made, const Shape &crops,
			     int32_t block = 2) {
		TfliteBuilder builder;
		const auto tensor = [&](const Shape &shape) {
			return integers ? builder.integers(shape, 0.5f, -3) : builder.floats(shape);
		};
		const int32_t x = tensor({ 1, 5, 7, 1 }), y = tensor({ 1, 5, 7, 1 });
		const int32_t spread = tensor(samples), convolved = tensor(made);
		const int32_t kernel =
			integers ? builder.quantized<int8_t>({ 1, 3, 3, 1 },
							     { 0, 0, 0, 0, 2, 0, 0, 0, 1 }, 1, 0)
				 : builder.constant<float>({ 1, 3, 3, 1 },
							   { 0, 0, 0, 0, 2, 0, 0, 0, 1 });
		builder.node(spaceToBatchCode,
			     { x, builder.list({ 2, 2 }), builder.constant({ 2, 2 }, around) },
			     { spread });
		builder.node(convolutionCode, { spread, kernel }, { convolved },
			     fb::BuiltinOptions::Conv2DOptions,
			     fb::CreateConv2DOptions(builder.flat, padding, 1, 1));
		builder.node(batchToSpaceCode,
			     { convolved, builder.list({ block, 2 }),
			       builder.constant({ 2, 2 }, crops) },
			     { y });
		return builder.file({ x }, { y });
	};
	Numbers numbers, wanted;

	for (int i = 0; i < 35; i++)
		numbers.push_back(i % 11);
	for (size_t i = 0; i < 35; i++)
		wanted.push_back(2 * numbers[i] + (i / 7 < 3 && i % 7 < 5 ? numbers[i + 16] : 0));
	for (const bool integers : { false, true }) {
		Numbers given = numbers, right = wanted;
		for (Numbers *all : { &given, &right })
			for (double &number : *all)
				number = integers ? number * 2 - 3 : number;
		EXPECT_EQ(ofFile(file(integers, { 2, 3, 2, 3 }, { 4, 5, 6, 1 }, fb::Padding::VALID,
				      { 4, 3, 4, 1 }, { 0, 1, 0, 1 }),
				 { given }),
			  std::vector<Numbers>{ right });
		EXPECT_EQ(ofFile(file(integers, { 0, 1, 0, 1 }, { 4, 3, 4, 1 }, fb::Padding::SAME,
				      { 4, 3, 4, 1 }, { 0, 1, 0, 1 }),
				 { given }),
			  std::vector<Numbers>{ right });
	}
	expectRefusedFile(file(false, { 0, 1, 0, 1 }, { 4, 3, 4, 1 }, fb::Padding::SAME,
			       { 4, 3, 4, 1 }, { 0, 1, 0, 1 }, 1),
			  { "BATCH_TO_SPACE_ND 't1', block", "is not that of" });
	expectRefusedFile(file(false, { 0, 1, 0, 1 }, { 4, 3, 4, 1 }, fb::Padding::SAME,
			       { 4, 3, 4, 1 }, { 0, 4, 0, 1 }),
			  { "BATCH_TO_SPACE_ND 't1', crops", "leave -1 elements" });
}

/* Zero points have 8 bytes, which may not lie at a multiple of 8. */
TEST(TfliteParts, FilesAreReadFromAnyWord)
{
	TfliteBuilder builder;
	const Shape shape = { 1, 2, 3, 2 };
	const int32_t x = builder.integers(shape, 0.5f, -7), y = builder.integers(shape, 0.25f, 9);
	builder.node(101, { x }, { y });
	const std::vector<std::byte> file = builder.file({ x }, { y });
	std::vector<std::byte> moved(file.size() + 4);
	std::copy(file.begin(), file.end(), moved.begin() + 4);
	auto model = compiler::importTflite(std::span(moved).subspan(4));
	ASSERT_TRUE(model) << model.error().message();
	EXPECT_EQ(model->values[model->inputs[0]].quantization.channel(0).zeroPoint, -7);
	EXPECT_EQ(model->values[model->outputs[0]].quantization.channel(0).zeroPoint, 9);
}

/* In parts, the last of which has fewer elements than the others. */
TEST(TfliteParts, MeanOfManyElements)
{
	for (const bool integers : { false, true }) {
		TfliteBuilder builder;
		const Shape in = { 1, 401, 40, 3 }, out = { 1, 3 };
		const int32_t x = integers ? builder.integers(in, 0.5f, -7) : builder.floats(in);
		const int32_t axes = builder.list({ 1, 2 });
		const int32_t y = integers ? builder.integers(out, 0.25f, 9) : builder.floats(out);
		builder.node(meanOfCode, { x, axes }, { y }, fb::BuiltinOptions::ReducerOptions,
			     fb::CreateReducerOptions(builder.flat, false));
		Numbers numbers;
		double sums[3] = {};
		for (int i = 0; i < 401 * 40 * 3; i++) {
			numbers.push_back((i * 37 + i / 120) % (50 + 30 * (i % 3)) - 10);
			sums[i % 3] += numbers.back();
		}
		const auto outputs = ofFile(builder.file({ x }, { y }), { numbers });
		ASSERT_EQ(outputs.size(), 1U);
		for (size_t c = 0; c < 3; c++) {
			const double mean = sums[c] / (401 * 40);
			if (integers)
				EXPECT_NEAR(outputs[0][c], (mean + 7) * 0.5 / 0.25 + 9, 1);
			else
				EXPECT_NEAR(outputs[0][c], mean, 0.01 * mean);
		}
	}
}

} /* namespace */

} /* namespace nvdla::test */
