/* SPDX-License-Identifier: MIT */
/*
 * Products of two computed tensors on the core: one of them is packed as kernels in every run.
 */
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "matrices.h"
#include "onnx_on_core.h"
#include "refused_file.h"
#include "tflite_on_core.h"

namespace nvdla::test
{

namespace
{

constexpr int32_t batchMatMulCode = 126, fullyConnectedCode = 9;

struct Shapes {
	Dims a;
	Dims b;
};

const Shapes shapes[] = {
	{ { 5, 70 }, { 70, 33 } }, /* no multiples of atoms */
	{ { 3, 5 }, { 5, 100 } },  /* several groups of kernels */
	{ { 1, 17, 5 }, { 1, 5, 40 } },
	{ { 3, 17, 5 }, { 3, 5, 4 } },	      /* three matrices */
	{ { 1, 2, 19, 8 }, { 1, 2, 8, 19 } }, /* two heads */
	{ { 2, 3, 5, 20 }, { 2, 3, 20, 7 } }, /* a batch of two */
	{ { 1, 3, 4, 6 }, { 6, 5 } },	      /* the same kernels for all */
	{ { 4, 6 }, { 1, 3, 6, 5 } },	      /* the same rows for all */
	{ { 1, 1, 4, 6 }, { 1, 3, 6, 5 } },
};

} /* namespace */

TEST(ComputedProduct, IsThatOfMatrices)
{
	for (const Shapes &one : shapes) {
		SCOPED_TRACE(
			fmt::format("[{}] x [{}]", fmt::join(one.a, ", "), fmt::join(one.b, ", ")));
		OnnxBuilder model;
		model.input("a", one.a);
		model.input("b", one.b);
		model.node("MatMul", { "a", "b" }, "y");
		model.output("y");
		const Numbers a = wholeNumbers(one.a, 1), b = wholeNumbers(one.b, 2);
		EXPECT_EQ(onCore(model, { a, b }),
			  std::vector<Numbers>{ productOf(one.a, a, one.b, b) });
	}
}

/* Transposes before and behind, of which most move nothing. */
TEST(ComputedProduct, TakesAxesInAnyOrder)
{
	const Dims a{ 1, 3, 6, 10 }, b{ 1, 3, 10, 7 }, y{ 1, 3, 6, 7 };
	const Dims orders[] = { { 0, 1, 2, 3 }, { 0, 1, 3, 2 }, { 0, 2, 1, 3 },
				{ 0, 2, 3, 1 }, { 0, 3, 1, 2 }, { 0, 3, 2, 1 } };
	const Numbers left = wholeNumbers(a, 3), right = wholeNumbers(b, 4);
	const Numbers product = productOf(a, left, b, right);
	const auto inverse = [](const Dims &order) {
		Dims made(order.size());
		for (size_t i = 0; i < order.size(); i++)
			made[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
		return made;
	};

	for (const Dims &ofA : orders) {
		for (const Dims &ofB : orders) {
			SCOPED_TRACE(
				fmt::format("{} and {}", fmt::join(ofA, " "), fmt::join(ofB, " ")));
			OnnxBuilder model;
			model.input("a", turned(a, ofA));
			model.input("b", turned(b, ofB));
			OnnxBuilder::set(model.node("Transpose", { "a" }, "l"), "perm",
					 inverse(ofA));
			OnnxBuilder::set(model.node("Transpose", { "b" }, "r"), "perm",
					 inverse(ofB));
			model.node("MatMul", { "l", "r" }, "y");
			OnnxBuilder::set(model.node("Transpose", { "y" }, "z"), "perm", ofA);
			model.output("z");
			EXPECT_EQ(onCore(model, { turned(left, a, ofA), turned(right, b, ofB) }),
				  std::vector<Numbers>{ turned(product, y, ofA) });
		}
	}
}

TEST(ComputedProduct, GemmTurnsScalesAndAdds)
{
	const Dims a{ 5, 20 }, b{ 20, 9 }, flip{ 1, 0 };
	const Numbers left = wholeNumbers(a, 5), right = wholeNumbers(b, 6);
	const Numbers c = wholeNumbers({ 9 }, 7);
	const Numbers product = productOf(a, left, b, right);

	for (const bool transA : { false, true }) {
		for (const bool transB : { false, true }) {
			for (const bool isBias : { false, true }) {
				OnnxBuilder model;
				model.input("a", transA ? turned(a, flip) : a);
				model.input("b", transB ? turned(b, flip) : b);
				if (isBias)
					model.floats("c", { 9 }, { c.begin(), c.end() });
				else
					model.input("c", { 1, 9 });
				onnx::Node *node = model.node("Gemm", { "a", "b", "c" }, "y");
				OnnxBuilder::setInteger(node, "transA", transA);
				OnnxBuilder::setInteger(node, "transB", transB);
				OnnxBuilder::setReal(node, "alpha", 0.5f);
				OnnxBuilder::setReal(node, "beta", 2);
				model.output("y");
				Numbers wanted;
				for (size_t i = 0; i < product.size(); i++)
					wanted.push_back(product[i] / 2 + 2 * c[i % 9]);
				std::vector<Numbers> inputs{ transA ? turned(left, a, flip) : left,
							     transB ? turned(right, b, flip)
								    : right };
				if (!isBias)
					inputs.push_back(c);
				EXPECT_EQ(onCore(model, inputs), std::vector<Numbers>{ wanted })
					<< transA << transB << isBias;
			}
		}
	}
}

/* A constant matrix behind rows that are turned. */
TEST(ComputedProduct, GemmTurnsRowsOfAConstantMatrix)
{
	const Dims a{ 5, 20 }, b{ 20, 9 };
	const Numbers left = wholeNumbers(a, 5), right = wholeNumbers(b, 6);
	OnnxBuilder model;

	model.input("a", { 20, 5 });
	model.floats("b", b, { right.begin(), right.end() });
	OnnxBuilder::setInteger(model.node("Gemm", { "a", "b" }, "y"), "transA", 1);
	model.output("y");
	EXPECT_EQ(onCore(model, { turned(left, a, { 1, 0 }) }),
		  std::vector<Numbers>{ productOf(a, left, b, right) });
}

/* The axes of y are those of a product of matrices, in another order. */
TEST(ComputedProduct, EinsumNamesTheAxes)
{
	const Dims a{ 1, 3, 6, 10 }, b{ 1, 3, 10, 7 }, y{ 1, 3, 6, 7 };
	const Numbers left = wholeNumbers(a, 10), right = wholeNumbers(b, 11);
	const Numbers product = productOf(a, left, b, right);
	const struct {
		const char *equation;
		Dims ofA, ofB, ofY;
	} cases[] = {
		{ "bhqd,bhdk->bhqk", { 0, 1, 2, 3 }, { 0, 1, 2, 3 }, { 0, 1, 2, 3 } },
		{ "bqhd, bkhd -> bhqk", { 0, 2, 1, 3 }, { 0, 3, 1, 2 }, { 0, 1, 2, 3 } },
		{ "bhqk,bkhd->bqhd", { 0, 1, 2, 3 }, { 0, 2, 1, 3 }, { 0, 2, 1, 3 } },
	};

	for (const auto &one : cases) {
		OnnxBuilder model;
		model.input("a", turned(a, one.ofA));
		model.input("b", turned(b, one.ofB));
		OnnxBuilder::setText(model.node("Einsum", { "a", "b" }, "y"), "equation",
				     one.equation);
		model.output("y");
		EXPECT_EQ(onCore(model, { turned(left, a, one.ofA), turned(right, b, one.ofB) }),
			  std::vector<Numbers>{ turned(product, y, one.ofY) })
			<< one.equation;
	}
}

TEST(ComputedProduct, EinsumOfAConstantMatrix)
{
	const Dims a{ 5, 20 }, b{ 20, 9 };
	const Numbers left = wholeNumbers(a, 5), right = wholeNumbers(b, 6);
	OnnxBuilder model;

	model.input("a", a);
	model.floats("b", b, { right.begin(), right.end() });
	OnnxBuilder::setText(model.node("Einsum", { "a", "b" }, "y"), "equation", "ij,jk");
	model.output("y");
	EXPECT_EQ(onCore(model, { left }), std::vector<Numbers>{ productOf(a, left, b, right) });
	for (const std::string equation : { "ij,jk,kl->il", "ij,jj->i", "ij,jk->k", "...j,jk->...k",
					    "ij,jk->ikl", "ijl,jk->ik" }) {
		OnnxBuilder other;
		other.input("a", a);
		other.input("b", b);
		OnnxBuilder::setText(other.node("Einsum", { "a", "b" }, "y"), "equation", equation);
		other.output("y");
		EXPECT_FALSE(compileModel(other.file(), { .host = HostUse::Never })) << equation;
	}
}

TEST(ComputedProduct, TfliteSaysWhichMatricesAreTurned)
{
	const auto shapeOf = [](const Dims &dims) { return Shape(dims.begin(), dims.end()); };
	const Dims a{ 1, 3, 6, 10 }, flip{ 0, 1, 3, 2 };
	const Numbers left = wholeNumbers(a, 8);

	for (const int number : { 0, 1, 2, 3, 4, 5, 6, 7 }) {
		const bool turnsA = number & 1, turnsB = number & 2;
		const Dims b{ 1, number & 4 ? 1 : 3, 10, 7 };
		const Numbers right = wholeNumbers(b, 9);
		TfliteBuilder builder;
		const int32_t x = builder.floats(shapeOf(turnsA ? turned(a, flip) : a));
		const int32_t w = builder.floats(shapeOf(turnsB ? turned(b, flip) : b));
		const int32_t y = builder.floats({ 1, 3, 6, 7 });
		builder.node(batchMatMulCode, { x, w }, { y },
			     fb::BuiltinOptions::BatchMatMulOptions,
			     fb::CreateBatchMatMulOptions(builder.flat, turnsA, turnsB));
		EXPECT_EQ(ofFile(builder.file({ x, w }, { y }),
				 { turnsA ? turned(left, a, flip) : left,
				   turnsB ? turned(right, b, flip) : right }),
			  std::vector<Numbers>{ productOf(a, left, b, right) })
			<< number;
	}
}

TEST(ComputedProduct, TfliteFullyConnectedWithComputedWeights)
{
	const Dims a{ 6, 10 }, b{ 10, 7 };
	const Numbers left = wholeNumbers(a, 8), right = wholeNumbers(b, 9);
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 6, 10 }), w = builder.floats({ 7, 10 });
	const int32_t bias = builder.constant<float>({ 7 }, { 1, 2, 3, 4, 5, 6, 7 });
	const int32_t y = builder.floats({ 6, 7 });

	builder.node(fullyConnectedCode, { x, w, bias }, { y },
		     fb::BuiltinOptions::FullyConnectedOptions,
		     fb::CreateFullyConnectedOptions(builder.flat, fb::Activation::RELU));
	Numbers wanted = productOf(a, left, b, right);
	for (size_t i = 0; i < wanted.size(); i++)
		wanted[i] = std::max(wanted[i] + static_cast<double>(i % 7 + 1), 0.0);
	EXPECT_EQ(ofFile(builder.file({ x, w }, { y }), { left, turned(right, b, { 1, 0 }) }),
		  std::vector<Numbers>{ wanted });
}

/* (a - za) (b - zb) as ONNX defines it; a zero point of b needs 16 bits, which nv_small lacks. */
TEST(ComputedProduct, OfIntegersIsExact)
{
	const Dims a{ 1, 2, 5, 70 }, b{ 1, 2, 70, 33 };
	const std::pair<int32_t, int32_t> zeros[] = { { 0, 0 },	  { 7, 0 }, { -128, 0 },
						      { 127, 0 }, { 0, 5 }, { -128, -128 } };
	std::mt19937 random(30);
	Numbers left(countOf(a)), right(countOf(b));
	for (Numbers *numbers : { &left, &right })
		for (double &number : *numbers)
			number = std::uniform_int_distribution<int>(-128, 127)(random);

	for (const auto &[zeroA, zeroB] : zeros) {
		SCOPED_TRACE(fmt::format("{} and {}", zeroA, zeroB));
		OnnxBuilder model;
		constexpr float scale = 1.0f / 64, made = 16;
		model.input("a", a, onnx::INT8);
		model.input("b", b, onnx::INT8);
		model.floats("s", {}, { scale });
		model.floats("t", {}, { made });
		model.integers("za", {}, { zeroA });
		model.integers("zb", {}, { zeroB });
		model.integers("zy", {}, { 3 });
		model.node("QLinearMatMul", { "a", "s", "za", "b", "s", "zb", "t", "zy" }, "y");
		model.output("y", onnx::INT8);
		Numbers shiftedA = left, shiftedB = right, wanted;
		for (double &number : shiftedA)
			number -= zeroA;
		for (double &number : shiftedB)
			number -= zeroB;
		for (const double sum : productOf(a, shiftedA, b, shiftedB))
			wanted.push_back(
				std::clamp(std::nearbyint(sum * double{ scale } * double{ scale } /
							  double{ made }) +
						   3,
					   -128.0, 127.0));
		const auto got = onCore(model, { left, right });
		ASSERT_EQ(got.size(), 1U);
		ASSERT_EQ(got[0].size(), wanted.size());
		size_t other = 0;
		for (size_t i = 0; i < wanted.size(); i++) {
			EXPECT_LE(std::fabs(got[0][i] - wanted[i]), 1);
			other += got[0][i] != wanted[i];
		}
		EXPECT_LE(other, wanted.size() / 100);

		const auto small =
			compileModel(model.file(), { .core = *findCoreVariant("nv_small"),
						     .host = HostUse::Never });
		EXPECT_EQ(small.has_value(), zeroB == 0);
		if (small)
			continue;
		EXPECT_NE(small.error().message().find("quantize the kernels symmetrically"),
			  std::string::npos)
			<< small.error().message();
	}
}

/* The zero point has 8-bit numbers held in 16 bits: what is before the product saturates as ever. */
TEST(ComputedProduct, NumbersBeforeItKeepTheirRange)
{
	constexpr int32_t preluCode = 54, zero = 5;
	TfliteBuilder builder;
	const int32_t x = builder.integers({ 1, 2, 3 }, 1, 0);
	const int32_t slopes = builder.quantized<int8_t>({ 1, 3 }, { 1, 2, 1 }, 0.5f, 0);
	const int32_t middle = builder.integers({ 1, 2, 3 }, 0.25f, zero);
	const int32_t y = builder.integers({ 1, 2, 2 }, 64, 0);

	builder.node(preluCode, { x, slopes }, { middle });
	builder.node(batchMatMulCode, { middle, middle }, { y },
		     fb::BuiltinOptions::BatchMatMulOptions,
		     fb::CreateBatchMatMulOptions(builder.flat, false, true));
	const Numbers numbers{ 100, -100, 3, 60, -8, -50 }, by{ 0.5, 1, 0.5 };
	Numbers steps, wanted;
	for (size_t i = 0; i < numbers.size(); i++)
		steps.push_back(std::clamp(numbers[i] * (numbers[i] < 0 ? by[i % 3] : 1) * 4 + zero,
					   -128.0, 127.0) -
				zero);
	for (const double sum :
	     productOf({ 2, 3 }, steps, { 3, 2 }, turned(steps, { 2, 3 }, { 1, 0 })))
		wanted.push_back(std::round(sum / 16 / 64));
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { numbers }), std::vector<Numbers>{ wanted });
}

TEST(ComputedProduct, RefusesByName)
{
	const Shapes refused[] = {
		{ { 1, 3, 1, 6 }, { 1, 3, 6, 5 } }, /* one row of several matrices */
		{ { 6 }, { 6, 5 } },		    /* a vector */
		{ { 4, 7 }, { 6, 5 } },
	};
	const char *why[] = { "have matrices of one row", "matrices are known",
			      "of 4 x 7 and 6 x 5 do not go together" };

	for (size_t i = 0; i < std::size(refused); i++) {
		OnnxBuilder model;
		model.input("a", refused[i].a);
		model.input("b", refused[i].b);
		model.node("MatMul", { "a", "b" }, "y");
		model.output("y");
		expectRefusedFile(model.file(), { "MatMul 'y'", why[i] });
	}
	OnnxBuilder model;
	model.floats("a", { 1, 2 }, { 1, 2 });
	model.input("b", { 2, 3 });
	model.node("MatMul", { "a", "b" }, "y");
	model.output("y");
	expectRefusedFile(model.file(), { "MatMul 'y', input 'a'", "is a constant" });
}

} /* namespace nvdla::test */
