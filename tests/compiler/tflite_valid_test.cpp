/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow Lite files that are unusual, and valid.
 */
#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "tflite_builder.h"
#include "tflite_on_core.h"

namespace nvdla::test
{

namespace
{

/* What the format pads with SAME, and between the kernels' elements, has the bias alone. */
TEST(TransposeConv, KernelsMayBeSmallerThanStrides)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 2, 1 });
	const int32_t shape = builder.list({ 1, 6, 6, 1 });
	const int32_t kernel = builder.constant<float>({ 1, 1, 2, 1 }, { 1, 10 });
	const int32_t bias = builder.constant<float>({ 1 }, { 0.5 });
	const int32_t y = builder.floats({ 1, 6, 6, 1 });
	builder.node(67, { shape, kernel, x, bias }, { y },
		     fb::BuiltinOptions::TransposeConvOptions,
		     fb::CreateTransposeConvOptions(builder.flat, fb::Padding::SAME, 3, 3));
	Numbers wanted(36, 0.5);
	const double numbers[] = { 1, 2, 3, 4 };
	for (size_t i = 0; i < 4; i++) {
		const size_t at = i / 2 * 18 + i % 2 * 3;
		wanted[at] += numbers[i];
		wanted[at + 1] += 10 * numbers[i];
	}
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { { 1, 2, 3, 4 } }),
		  std::vector<Numbers>{ wanted });
}

TEST(Dequantize, ItsResultMayBeAnOutputTwice)
{
	TfliteBuilder builder;
	const int32_t x = builder.integers({ 1, 4 }, 0.5, 1),
		      relu = builder.integers({ 1, 4 }, 0.5, 1);
	const int32_t y = builder.floats({ 1, 4 });
	builder.node(19, { x }, { relu });
	builder.node(6, { relu }, { y });
	const auto got = ofFile(builder.file({ x }, { y, y }), { { -3, 1, 3, 5 } });
	ASSERT_EQ(got.size(), 2u);
	EXPECT_EQ(got[0], (Numbers{ 0, 0, 1, 2 }));
	EXPECT_EQ(got[1], got[0]);
}

/* One operator reads a tensor of a type that nothing computes with; the other one is as ever. */
TEST(TfliteSupport, AnswersOperatorByOperator)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 4 }), y = builder.floats({ 1, 4 });
	const int32_t broken = builder.floats({ 1, 3 });
	const int32_t nowhere = builder.floats({ 1, 4 }), z = builder.floats({ 1, 4 });
	builder.node(19, { x }, { y });
	builder.node(19, { x }, { broken });
	builder.node(19, { nowhere }, { z });
	const auto support = supportedOperators(builder.file({ x }, { y, broken, z }));
	ASSERT_TRUE(support) << support.error().message();
	ASSERT_EQ(support->size(), 3u);
	EXPECT_EQ((*support)[0].reason, "");
	EXPECT_NE((*support)[1].reason.find("the output is 1 x 3"), std::string::npos);
	EXPECT_NE((*support)[2].reason.find("nothing before it writes"), std::string::npos);
}

/* The smaller operand is computed, the larger one a constant; and each is repeated for the other.
 */
TEST(Elementwise, ConstantsMayBeLarger)
{
	for (const bool isProduct : { false, true }) {
		TfliteBuilder builder;
		const int32_t x = builder.floats({ 1, 2, 1 });
		const int32_t c = builder.constant<float>({ 1, 1, 3 }, { 1, 2, 3 });
		const int32_t y = builder.floats({ 1, 2, 3 });
		if (isProduct)
			builder.node(18, { x, c }, { y }, fb::BuiltinOptions::MulOptions,
				     fb::CreateMulOptions(builder.flat));
		else
			builder.node(0, { x, c }, { y }, fb::BuiltinOptions::AddOptions,
				     fb::CreateAddOptions(builder.flat));
		const Numbers wanted = isProduct ? Numbers{ 10, 20, 30, 20, 40, 60 }
						 : Numbers{ 11, 12, 13, 21, 22, 23 };
		EXPECT_EQ(ofFile(builder.file({ x }, { y }), { { 10, 20 } }),
			  std::vector<Numbers>{ wanted });
	}
}

} /* namespace */

} /* namespace nvdla::test */
