/* SPDX-License-Identifier: MIT */
/*
 * 8 bits as TFLite's kernels round them, element by element over all inputs.
 */
#include <random>

#include "fixed_point.h"
#include "tflite_on_core.h"

namespace nvdla::test::tfliteRounding
{

namespace
{

constexpr int32_t addCode = 0, convolutionCode = 3, fullyConnectedCode = 9, mulCode = 18,
		  resizeBilinearCode = 23, subCode = 41;
/* The core's factors have 15 bits each, those of the kernels 31. */
constexpr double acceptedShare = 0.01;

Numbers allIntegers()
{
	Numbers all;

	for (int i = -128; i < 128; i++)
		all.push_back(i);
	return all;
}

double share(const Numbers &got, const Numbers &wanted)
{
	size_t off = 0;

	EXPECT_EQ(got.size(), wanted.size());
	for (size_t i = 0; i < std::min(got.size(), wanted.size()); i++)
		off += got[i] != wanted[i];
	return static_cast<double>(off) / static_cast<double>(wanted.size());
}

double saturated(int64_t number)
{
	return static_cast<double>(std::clamp<int64_t>(number, -128, 127));
}

struct Tensor {
	float scale;
	int64_t zero;
};

/* Published rules of the kernels: products are exact, sums keep 20 bits behind the point. */
double wantedOf(int32_t code, int64_t a, int64_t b, const Tensor &x, const Tensor &y,
		const Tensor &out)
{
	const double sx = x.scale, sy = y.scale, so = out.scale;
	const int64_t one = 1 << 20;

	if (code == mulCode)
		return saturated(multiply(a * b, realFactor(sx * sy / so)) + out.zero);
	const double twice = 2 * std::max(sx, sy);
	const int64_t first = multiply(a * one, realFactor(sx / twice));
	const int64_t second = multiply(b * one, realFactor(sy / twice));
	const int64_t sum = code == addCode ? first + second : first - second;
	return saturated(multiply(sum, realFactor(twice / (std::ldexp(so, 20)))) + out.zero);
}

std::vector<std::byte> withConstant(int32_t code, const Tensor &x, const Tensor &y,
				    const Tensor &out, int8_t number)
{
	TfliteBuilder builder;
	const int32_t in = builder.integers({ 1, 4, 4, 16 }, x.scale, x.zero);
	const int32_t constant = builder.integers({ 1 }, y.scale, y.zero, { number });
	const int32_t result = builder.integers({ 1, 4, 4, 16 }, out.scale, out.zero);

	if (code == mulCode)
		builder.node(code, { in, constant }, { result }, fb::BuiltinOptions::MulOptions,
			     fb::CreateMulOptions(builder.flat, fb::Activation::NONE));
	else if (code == addCode)
		builder.node(code, { in, constant }, { result }, fb::BuiltinOptions::AddOptions,
			     fb::CreateAddOptions(builder.flat, fb::Activation::NONE));
	else
		builder.node(code, { in, constant }, { result }, fb::BuiltinOptions::SubOptions,
			     fb::CreateSubOptions(builder.flat, fb::Activation::NONE));
	return builder.file({ in }, { result });
}

} /* namespace */

TEST(TfliteRounding, OfAConstant)
{
	std::mt19937 random(1);
	std::uniform_int_distribution<int> integer(-128, 127);
	std::uniform_real_distribution<float> gain(0.05f, 2);
	const Numbers all = allIntegers();

	for (const int32_t code : { mulCode, addCode, subCode }) {
		double sum = 0, largest = 0;
		constexpr int cases = 24;
		for (int i = 0; i < cases; i++) {
			const Tensor x{ 0.02f * gain(random), integer(random) };
			const Tensor y{ 0.01f * gain(random), integer(random) };
			int64_t b = integer(random) - y.zero;
			b += b == 0;
			Tensor out{ x.scale * gain(random), integer(random) };
			if (code == mulCode)
				out.scale *= y.scale * static_cast<float>(std::abs(b));
			if (b + y.zero > 127)
				continue;
			Numbers wanted;
			for (const double a : all)
				wanted.push_back(wantedOf(code, static_cast<int64_t>(a) - x.zero, b,
							  x, y, out));
			const auto got = ofFile(
				withConstant(code, x, y, out, static_cast<int8_t>(b + y.zero)),
				{ all });
			ASSERT_EQ(got.size(), 1U);
			const double off = share(got[0], wanted);
			sum += off;
			largest = std::max(largest, off);
		}
		EXPECT_LE(sum / cases, acceptedShare) << "operator " << code;
		EXPECT_LE(largest, 0.03) << "operator " << code;
	}
}

TEST(TfliteRounding, OfTwoTensors)
{
	/* Kernels round with 20 bits behind the point, the core with some 15. */
	constexpr double acceptedShareOfSums = 2e-4;
	std::mt19937 random(3);
	std::uniform_int_distribution<int> integer(-128, 127);
	std::uniform_real_distribution<float> gain(0.05f, 2);

	for (const int32_t code : { addCode, subCode }) {
		double sum = 0;
		constexpr int cases = 16;
		for (int i = 0; i < cases; i++) {
			const Shape shape{ 1, 16, 16, 16 };
			const Tensor x{ 0.02f * gain(random), integer(random) };
			const Tensor y{ 0.02f * gain(random), integer(random) };
			const Tensor out{ 0.04f * gain(random), integer(random) };
			TfliteBuilder builder;
			const int32_t a = builder.integers(shape, x.scale, x.zero);
			const int32_t b = builder.integers(shape, y.scale, y.zero);
			const int32_t made = builder.integers(shape, out.scale, out.zero);
			builder.node(code, { a, b }, { made });
			Numbers first, second, wanted;
			for (int j = 0; j < 16 * 16 * 16; j++) {
				first.push_back(integer(random));
				second.push_back(integer(random));
				wanted.push_back(wantedOf(
					code, static_cast<int64_t>(first.back()) - x.zero,
					static_cast<int64_t>(second.back()) - y.zero, x, y, out));
			}
			const auto got =
				ofFile(builder.file({ a, b }, { made }), { first, second });
			ASSERT_EQ(got.size(), 1U);
			sum += share(got[0], wanted);
		}
		EXPECT_LE(sum / cases, acceptedShareOfSums) << "operator " << code;
	}
}

TEST(TfliteRounding, OfLargerPictures)
{
	std::mt19937 random(2);
	std::uniform_int_distribution<int> integer(-128, 127);

	for (const int64_t zero : { -128, -5, 0, 77 }) {
		constexpr int side = 16;
		TfliteBuilder builder;
		const int32_t in = builder.integers({ 1, side, side, 1 }, 0.02f, zero);
		const int32_t size = builder.list({ 2 * side, 2 * side });
		const int32_t out = builder.integers({ 1, 2 * side, 2 * side, 1 }, 0.02f, zero);
		builder.node(resizeBilinearCode, { in, size }, { out },
			     fb::BuiltinOptions::ResizeBilinearOptions,
			     fb::CreateResizeBilinearOptions(builder.flat, false, true));
		Numbers x, wanted;
		for (int i = 0; i < side * side; i++)
			x.push_back(integer(random));
		auto at = [&](int line, int column) {
			return static_cast<int64_t>(
				x[static_cast<size_t>(std::clamp(line, 0, side - 1) * side +
						      std::clamp(column, 0, side - 1))]);
		};
		for (int line = 0; line < 2 * side; line++) {
			for (int column = 0; column < 2 * side; column++) {
				const int h = (line - 1) >> 1, w = (column - 1) >> 1;
				const int64_t dy = line % 2 ? 1 : 3, dx = column % 2 ? 1 : 3;
				const int64_t sum =
					(4 - dy) * ((4 - dx) * at(h, w) + dx * at(h, w + 1)) +
					dy * ((4 - dx) * at(h + 1, w) + dx * at(h + 1, w + 1));
				wanted.push_back(
					static_cast<double>((sum + (sum > 0 ? 8 : -8)) / 16));
			}
		}
		const auto got = ofFile(builder.file({ in }, { out }), { x });
		ASSERT_EQ(got.size(), 1U);
		EXPECT_EQ(share(got[0], wanted), 0) << "zero point " << zero;
	}
}

/*
 * 2343 * 0.0151... is 35.492...; its first rounding, to six bits behind the point, makes a tie of
 * it or not: 2271.49997 / 64 with the exact product of the scales, 2271.50002 / 64 with their
 * product in single precision. TensorFlow Lite takes the latter, except for INT8 convolutions.
 */
TEST(TfliteRounding, StepsOfSumsAreProductsInSinglePrecision)
{
	constexpr float step = 0.023528477177023888f, weightStep = 0.015148180536925793f;

	for (const int32_t code : { convolutionCode, fullyConnectedCode }) {
		for (const bool isByte : { false, true }) {
			const bool isConv = code == convolutionCode;
			const Shape shape = isConv ? Shape{ 1, 1, 1, 1 } : Shape{ 1, 1 };
			TfliteBuilder builder;
			const int32_t x = isByte ? builder.bytes(shape, step, 0)
						 : builder.integers(shape, step, 0);
			const int32_t weights =
				isByte ? builder.quantized<uint8_t>(shape, { 33 }, weightStep, 0)
				       : builder.quantized<int8_t>(shape, { 33 }, weightStep, 0);
			const int32_t y = isByte ? builder.bytes(shape, step, 0)
						 : builder.integers(shape, step, 0);
			if (isConv)
				builder.node(code, { x, weights }, { y },
					     fb::BuiltinOptions::Conv2DOptions,
					     fb::CreateConv2DOptions(builder.flat,
								     fb::Padding::VALID, 1, 1));
			else
				builder.node(code, { x, weights }, { y },
					     fb::BuiltinOptions::FullyConnectedOptions,
					     fb::CreateFullyConnectedOptions(builder.flat,
									     fb::Activation::NONE));
			const auto outputs = ofFile(builder.file({ x }, { y }), { { 71 } });
			ASSERT_EQ(outputs.size(), 1U);
			EXPECT_EQ(outputs[0].at(0), isConv && !isByte ? 35 : 36)
				<< code << (isByte ? " of bytes" : " of integers");
		}
	}
}

} /* namespace nvdla::test::tfliteRounding */
