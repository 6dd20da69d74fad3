/* SPDX-License-Identifier: MIT */
/*
 * TFLite files: what the importer makes of operators, against numbers worked out by hand.
 */
#include <gtest/gtest.h>

#include "refused_file.h"
#include "tflite_on_core.h"

namespace nvdla::test
{

namespace
{

constexpr int32_t shapeCode = 77, divCode = 42, meanCode = 40, stridedSliceCode = 45, sumCode = 74,
		  reduceMaxCode = 82, packCode = 83, unpackCode = 88;

TEST(Tflite, QuotientsByAConstant)
{
	for (const bool zero : { false, true }) {
		TfliteBuilder builder;
		const int32_t x = builder.floats({ 1, 2, 3, 2 });
		const int32_t by = builder.constant<float>({ 2 }, { 4, zero ? 0.0f : -2.0f });
		const int32_t y = builder.floats({ 1, 2, 3, 2 });
		builder.node(divCode, { x, by }, { y }, fb::BuiltinOptions::DivOptions,
			     fb::CreateDivOptions(builder.flat, fb::Activation::NONE));
		const auto file = builder.file({ x }, { y });
		if (zero) {
			expectRefusedFile(file, { "DIV 't2'", "input 1: is 0" });
			continue;
		}
		EXPECT_EQ(ofFile(file, { pixels }),
			  (std::vector<Numbers>{ Numbers{ 0.25, -5, 0.5, -10, 0.75, -15, 1, -20,
							  1.25, -25, 1.5, -30 } }));
	}
}

TEST(Tflite, ReductionsOfPictures)
{
	const struct {
		int32_t code;
		std::vector<int32_t> axes;
		Shape shape;
		Numbers wanted;
	} cases[] = {
		{ meanCode, { 1, 2 }, { 1, 2 }, { 3.5, 35 } },
		{ meanCode, { 1 }, { 1, 3, 2 }, { 2.5, 25, 3.5, 35, 4.5, 45 } },
		{ meanCode, { -2 }, { 1, 2, 1, 2 }, { 2, 20, 5, 50 } },
		{ sumCode, { 2, 1 }, { 1, 2 }, { 21, 210 } },
		{ sumCode, { 2 }, { 1, 2, 2 }, { 6, 60, 15, 150 } },
		{ reduceMaxCode, { 1 }, { 1, 1, 3, 2 }, { 4, 40, 5, 50, 6, 60 } },
		{ reduceMaxCode, { 1, 2 }, { 1, 2 }, { 6, 60 } },
		{ sumCode, { 3 }, { 1, 2, 3, 1 }, { 11, 22, 33, 44, 55, 66 } },
		{ meanCode, { -1 }, { 1, 2, 3 }, { 5.5, 11, 16.5, 22, 27.5, 33 } },
		{ reduceMaxCode, { 3 }, { 1, 2, 3 }, { 10, 20, 30, 40, 50, 60 } },
		{ sumCode, { 3, 1 }, { 1, 3 }, { 55, 77, 99 } },
	};

	for (const auto &[code, axes, shape, wanted] : cases) {
		SCOPED_TRACE(std::to_string(code) + " " + std::to_string(axes.front()));
		TfliteBuilder builder;
		const int32_t x = builder.floats({ 1, 2, 3, 2 });
		const int32_t list = builder.list(axes);
		const int32_t y = builder.floats(shape);
		builder.node(code, { x, list }, { y }, fb::BuiltinOptions::ReducerOptions,
			     fb::CreateReducerOptions(builder.flat, shape.size() == 4));
		const auto outputs = ofFile(builder.file({ x }, { y }), { pixels });
		ASSERT_EQ(outputs.size(), 1U);
		ASSERT_EQ(outputs[0].size(), wanted.size());
		for (size_t i = 0; i < wanted.size(); i++)
			EXPECT_NEAR(outputs[0][i], wanted[i], 0.002 * wanted[i]);
	}
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t axes = builder.list({ 1, 4 });
	const int32_t y = builder.floats({ 1, 3 });
	builder.node(sumCode, { x, axes }, { y }, fb::BuiltinOptions::ReducerOptions,
		     fb::CreateReducerOptions(builder.flat, false));
	expectRefusedFile(builder.file({ x }, { y }),
			  { "SUM 't2'", "axes: axis 4, the tensor has 4" });
}

/* Zero points are no part of what is summed: (q - 5) / 2 each, in steps of 1.5 from -8 on. */
TEST(Tflite, SumsOfIntegers)
{
	TfliteBuilder builder;
	const int32_t x = builder.integers({ 1, 2, 3, 2 }, 0.5f, 5);
	const int32_t axes = builder.list({ 1, 2 });
	const int32_t y = builder.integers({ 1, 2 }, 1.5f, -8);

	builder.node(sumCode, { x, axes }, { y }, fb::BuiltinOptions::ReducerOptions,
		     fb::CreateReducerOptions(builder.flat, false));
	/* Halves are 21 - 30 and 210 - 30; a third of that in steps. */
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { pixels }),
		  (std::vector<Numbers>{ Numbers{ -8 - 3, -8 + 60 } }));
}

/* What is taken apart, put together again along another axis. */
TEST(Tflite, UnpackAndPack)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t upper = builder.floats({ 1, 3, 2 }), lower = builder.floats({ 1, 3, 2 });
	const int32_t y = builder.floats({ 1, 3, 2, 2 });

	builder.node(unpackCode, { x }, { upper, lower }, fb::BuiltinOptions::UnpackOptions,
		     fb::CreateUnpackOptions(builder.flat, 2, 1));
	builder.node(packCode, { lower, upper }, { y }, fb::BuiltinOptions::PackOptions,
		     fb::CreatePackOptions(builder.flat, 2, 2));
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { pixels }),
		  (std::vector<Numbers>{ Numbers{ 4, 40, 1, 10, 5, 50, 2, 20, 6, 60, 3, 30 } }));
}

TEST(Tflite, UnpackHasAnOutputForEachElement)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t y = builder.floats({ 1, 3, 2 });

	builder.node(unpackCode, { x }, { y }, fb::BuiltinOptions::UnpackOptions,
		     fb::CreateUnpackOptions(builder.flat, 1, 1));
	expectRefusedFile(builder.file({ x }, { y }),
			  { "UNPACK 't1'", "outputs: are 1 for 2 elements" });
}

/* x[:, -1, ::2, :] */
TEST(Tflite, SlicesLeaveAxesOut)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t begin = builder.list({ 0, -1, 0, 0 }), end = builder.list({ 1, 0, 3, 2 });
	const int32_t stride = builder.list({ 1, 1, 2, 1 });
	const int32_t y = builder.floats({ 1, 2, 2 });

	builder.node(stridedSliceCode, { x, begin, end, stride }, { y },
		     fb::BuiltinOptions::StridedSliceOptions,
		     fb::CreateStridedSliceOptions(builder.flat, 0b1101, 0b1101, 0, 0, 0b0010));
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { pixels }),
		  (std::vector<Numbers>{ Numbers{ 4, 40, 6, 60 } }));
}

/* What computes a shape that the tensors have already is not needed. */
TEST(Tflite, ShapesMayBeComputed)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t by = builder.constant<float>({ 1 }, { 2 });
	const int32_t half = builder.floats({ 1, 2, 3, 2 });
	const int32_t shape = builder.wholeNumbers({ 4 }), lines = builder.wholeNumbers({});
	const int32_t one = builder.list({ 1 }), two = builder.list({ 2 });
	const int32_t again = builder.wholeNumbers({ 2 });

	builder.node(shapeCode, { x }, { shape }, fb::BuiltinOptions::NONE,
		     flatbuffers::Offset<void>());
	builder.node(stridedSliceCode, { shape, one, two, one }, { lines },
		     fb::BuiltinOptions::StridedSliceOptions,
		     fb::CreateStridedSliceOptions(builder.flat, 0, 0, 0, 0, 1));
	builder.node(packCode, { lines, lines }, { again }, fb::BuiltinOptions::PackOptions,
		     fb::CreatePackOptions(builder.flat, 2, 0));
	builder.node(divCode, { x, by }, { half }, fb::BuiltinOptions::DivOptions,
		     fb::CreateDivOptions(builder.flat, fb::Activation::NONE));
	EXPECT_EQ(ofFile(builder.file({ x }, { half }),
			 { { 2, 4, 6, 8, 10, 12, 2, 4, 6, 8, 10, 12 } }),
		  (std::vector<Numbers>{ Numbers{ 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6 } }));
}

} /* namespace */

} /* namespace nvdla::test */
