/* SPDX-License-Identifier: MIT */
/*
 * Layers in integers against what they stand for.
 */
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/layer_scaling.h>

#include "arith/integer.h"
#include "model_convolution.h"
#include "random_quantization.h"

namespace nvdla
{

namespace
{

using test::ModelConvolution;
using test::Random;
using test::randomQuantization;

/* A layer in integers and what these stand for. */
struct RealLayer {
	WeightDesc desc;
	uint32_t h, w, padLeft;
	ConvolutionQuantization numbers;
	std::vector<float> data, weights;
	std::vector<double> bias;

	explicit RealLayer(Random &random);

	double weightScale(uint32_t k) const
	{
		return numbers.weightScales[numbers.weightScales.size() == 1 ? 0 : k];
	}

	/* The definition of a convolution; padding is a real 0. */
	double output(uint32_t k, uint32_t y, uint32_t x) const
	{
		double sum = 0;

		for (uint32_t c = 0; c < desc.channels; c++) {
			for (uint32_t r = 0; r < desc.height; r++) {
				for (uint32_t s = padLeft > x ? padLeft - x : 0; s < desc.width;
				     s++) {
					const float *line = &data[(size_t{ c } * h + y + r) * w];
					sum += weight(k, c, r, s) *
					       numbers.input.real(line[x + s - padLeft]);
				}
			}
		}
		return sum * weightScale(k) + bias[k];
	}

private:
	double weight(uint32_t k, uint32_t c, uint32_t r, uint32_t s) const
	{
		return weights[((size_t{ k } * desc.channels + c) * desc.height + r) * desc.width +
			       s];
	}
};

RealLayer::RealLayer(Random &random)
	: desc{ random.oneOf<DataType>({ DataType::Int8, DataType::Int16 }), random.size(1, 40),
		random.size(1, 40), random.size(1, 3), random.size(1, 3) },
	  h(desc.height + 2), w(desc.width + 3), padLeft(random.size(0, desc.width - 1))
{
	const auto largest = static_cast<int32_t>(integerLimits(desc.type).highest);
	const uint32_t scales = random(0, 1) ? 1 : desc.kernels;

	numbers.input = { random.powerOfTwo(-8, 0), random(-100, 100) };
	numbers.accumulatorTruncate =
		desc.type == DataType::Int8 ? random.size(0, 2) : random.size(4, 8);
	for (uint32_t k = 0; k < scales; k++)
		numbers.weightScales.push_back(random.powerOfTwo(-8, -6));
	data = random.numbers(size_t{ desc.channels } * h * w, largest);
	weights = random.numbers(desc.elements(), largest);

	/* In the size of the sums. */
	const double typical = numbers.input.scale * largest * largest *
			       std::sqrt(static_cast<double>(desc.kernelElements()));
	for (uint32_t k = 0; k < desc.kernels; k++)
		bias.push_back(random.real(-typical, typical) * weightScale(k));
	numbers.output = { typical * 0x1p-7 / largest, random(-50, 50) };
}

/* X1's adder and multiplier, then the output converter. */
double throughSdp(const AffineScaling &scaling, size_t k, int64_t sum)
{
	const int64_t bias = sim::arith::shiftLeftSaturate<32>(scaling.bias[k], scaling.biasShift);
	const int64_t added = sim::arith::saturate<32>(sum + bias);
	const int64_t product = sim::arith::truncate<32>(added * scaling.multipliers.operands[k],
							 scaling.multipliers.shift);

	return static_cast<double>(scaling.output.apply(product));
}

} /* namespace */

TEST(LayerScaling, ConvolutionIsTheRealOne)
{
	Random random(407);

	for (int round = 0; round < 40; round++) {
		const RealLayer layer(random);
		const WeightDesc &desc = layer.desc;
		const auto plain = elementsFromFloat(desc.type, layer.weights);
		const auto scaling = scaleConvolution(layer.numbers, desc, plain, layer.bias);
		ASSERT_TRUE(scaling) << scaling.error().message();

		const uint32_t outH = 3, outW = layer.w + layer.padLeft - desc.width + 1;
		ModelConvolution model(desc.type, desc.channels, layer.h, layer.w, layer.data);
		model.setKernel(desc, outH, outW);
		model.op.windows.padLeft = layer.padLeft;
		model.op.windows.padValue = static_cast<int16_t>(scaling->paddingValue);
		model.op.clipTruncate = layer.numbers.accumulatorTruncate;
		model.weights = *packDirectWeights(nvFull, desc, plain);
		const auto sums = model.run();

		for (size_t i = 0; i < sums.size(); i++) {
			const auto k = static_cast<uint32_t>(i / outW / outH);
			const double exact = layer.numbers.output.steps(
				layer.output(k, static_cast<uint32_t>(i / outW % outH),
					     static_cast<uint32_t>(i % outW)));
			/* What is lost: the truncated bits, the bias's, the multiplier's. */
			const double step = std::ldexp(scaling->multipliers.operands[k],
						       -scaling->multipliers.shift);
			const double error =
				0.5 + 0.5 * step + scaling->biasError +
				scaling->multipliers.error * (std::fabs(exact) + 50) * 1.001;
			ASSERT_NEAR(throughSdp(*scaling, k, sums[i]), exact, error)
				<< desc.describe() << " k " << k;
		}
	}
}

TEST(LayerScaling, OffsetAndPaddingAreThoseOfThePrecisionDocument)
{
	const WeightDesc desc{ DataType::Int8, 2, 1, 1, 3 };
	const auto weights =
		elementsFromFloat(DataType::Int8, std::vector<float>{ 1, 2, 3, -4, 0, 1 });
	ConvolutionQuantization numbers;
	numbers.input = { 0.5, -10 };
	numbers.weightScales = { 0.25 };
	numbers.output = { 0.5, 7 };
	const std::vector<double> bias{ 1, -1 };

	const auto scaling = scaleConvolution(numbers, desc, weights, bias);
	ASSERT_TRUE(scaling);
	EXPECT_EQ(scaling->paddingValue, -10);
	/* A step of the accumulator is 1/8: the bias is 8 or -8, and 10 times the sum of weights.
	 */
	EXPECT_EQ(scaling->bias, (std::vector<int16_t>{ 8 + 60, -8 - 30 }));
	EXPECT_EQ(scaling->biasShift, 0);
	EXPECT_EQ(scaling->biasError, 0);
	EXPECT_EQ(scaling->multipliers.operands, (std::vector<int16_t>{ 16384, 16384 }));
	EXPECT_EQ(scaling->multipliers.shift, 16);
	EXPECT_EQ(scaling->output, (Converter{ -7, 1, 0 }));

	EXPECT_FALSE(scaleConvolution(numbers, desc, weights, std::vector<double>{ 1 }));
	EXPECT_FALSE(scaleConvolution(numbers, desc, std::span(weights).first(5), {}));
	numbers.weightScales = { 1, 2, 3 };
	EXPECT_FALSE(scaleConvolution(numbers, desc, weights, {}));
}

TEST(LayerScaling, BatchNormIsTheRealOne)
{
	Random random(410);

	for (int round = 0; round < 200; round++) {
		const Quantization input = randomQuantization(random);
		const Quantization output = { input.scale * random.powerOfTwo(-1, 3),
					      random(-50, 50) };
		std::vector<double> mean, factor;
		for (int k = 0; k < 20; k++) {
			mean.push_back(random.real(-100, 100) * input.scale);
			factor.push_back(random.real(0.1, 2) * (random(0, 1) ? 1 : -1));
		}
		const auto scaling = scaleBatchNorm(input, output, mean, factor);
		ASSERT_TRUE(scaling) << scaling.error().message();
		for (size_t k = 0; k < mean.size(); k++) {
			const int32_t q = random(-128, 127);
			const double exact = output.steps((input.real(q) - mean[k]) * factor[k]);
			ASSERT_NEAR(throughSdp(*scaling, k, q), exact,
				    0.5 + scaling->biasError +
					    scaling->multipliers.error * (std::fabs(exact) + 50));
		}
	}
	EXPECT_FALSE(scaleBatchNorm({}, {}, std::vector<double>(2), std::vector<double>(3)));
}

TEST(LayerScaling, WeightsUseTheWholeRange)
{
	Random random(411);
	const WeightDesc desc{ DataType::Int8, 3, 2, 3, 3 };
	std::vector<float> weights(desc.elements());
	for (size_t i = 0; i < weights.size(); i++)
		weights[i] = static_cast<float>(random.real(-1, 1) *
						std::pow(10.0, i / desc.kernelElements()));
	std::fill_n(weights.begin(), desc.kernelElements(), 0.0f);

	for (WeightScales scales : { WeightScales::PerTensor, WeightScales::PerKernel }) {
		const auto quantized = quantizeWeights(desc, weights, scales);
		ASSERT_TRUE(quantized) << quantized.error().message();
		const bool perKernel = scales == WeightScales::PerKernel;
		ASSERT_EQ(quantized->scales.size(), perKernel ? 3u : 1u);
		const auto steps = elementsToFloat(desc.type, quantized->elements);
		for (size_t i = 0; i < weights.size(); i++) {
			const double scale =
				quantized->scales[perKernel ? i / desc.kernelElements() : 0];
			ASSERT_NEAR(steps[i] * scale, weights[i], scale * 0.50001);
		}
		const auto last = std::span(steps).last(desc.kernelElements());
		EXPECT_EQ(std::max(*std::max_element(last.begin(), last.end()),
				   -*std::min_element(last.begin(), last.end())),
			  127);
	}
	EXPECT_FALSE(quantizeWeights(desc, std::span(weights).first(5), WeightScales::PerTensor));
	weights[7] = NAN;
	weights[8] = INFINITY;
	EXPECT_FALSE(quantizeWeights(desc, weights, WeightScales::PerTensor));
}

TEST(LayerScaling, LargeBiasesAreShifted)
{
	const WeightDesc desc{ DataType::Int8, 1, 1, 1, 1 };
	const auto weight = elementsFromFloat(DataType::Int8, std::vector<float>{ 1 });
	ConvolutionQuantization numbers;
	numbers.weightScales = { 1 };
	numbers.output = { 100, 0 };
	const std::vector<double> bias{ 100001 };

	const auto scaling = scaleConvolution(numbers, desc, weight, bias);
	ASSERT_TRUE(scaling);
	EXPECT_EQ(scaling->biasShift, 2);
	EXPECT_EQ(scaling->bias[0], 25000);
	EXPECT_NEAR(scaling->biasError, 0.01, 1e-12) << "one of 100 steps";
}

TEST(LayerScaling, ElementwiseIsTheRealOperation)
{
	Random random(408);

	for (int round = 0; round < 2000; round++) {
		const auto operation =
			random.oneOf<Elementwise>({ Elementwise::Max, Elementwise::Min,
						    Elementwise::Sum, Elementwise::Product });
		Quantization main = randomQuantization(random);
		const Quantization operand = randomQuantization(random);
		if (operation == Elementwise::Product)
			main.zeroPoint = 0;
		const auto scaling = scaleElementwise(operation, main, operand);
		ASSERT_TRUE(scaling) << scaling.error().message();

		const int32_t a = random(-128, 127), b = random(-128, 127);
		const auto converted = static_cast<double>(scaling->operand.apply(b));
		const double ra = main.real(a), rb = operand.real(b);
		/* Of the converter: rounding of its offset, of its result, of its gain. */
		const double gain = operand.scale / main.scale;
		const double error =
			main.scale * (0.5 + gain / 2 +
				      std::fabs((b - scaling->operand.offset) * gain) * 0x1p-15);
		switch (operation) {
		case Elementwise::Max:
			ASSERT_NEAR(scaling->result.real(std::max<double>(a, converted)),
				    std::max(ra, rb), error);
			break;
		case Elementwise::Min:
			ASSERT_NEAR(scaling->result.real(std::min<double>(a, converted)),
				    std::min(ra, rb), error);
			break;
		case Elementwise::Sum:
			ASSERT_NEAR(scaling->result.real(a + converted), ra + rb, error);
			break;
		case Elementwise::Product:
			ASSERT_NEAR(scaling->result.real(a * converted), ra * rb,
				    1e-9 * std::fabs(ra * rb));
			break;
		}
	}
	EXPECT_FALSE(scaleElementwise(Elementwise::Product, { 1, 3 }, { 1, 0 }));
}

TEST(LayerScaling, CdpIsTheRealOperation)
{
	Random random(409);

	for (int round = 0; round < 500; round++) {
		const Quantization input = { random.powerOfTwo(-6, -2), random(-20, 20) };
		const Quantization output = { random.powerOfTwo(-6, -2), random(-20, 20) };
		const int32_t bits = random(4, 8);
		const double lutScale = 0x1p-15;
		const auto scaling = scaleCdp(input, output, bits, lutScale);
		ASSERT_TRUE(scaling) << scaling.error().message();

		/* x * table, as CDP multiplies them without a sum. */
		const int32_t q = random(-128, 127);
		const auto entry = static_cast<double>(random(1, 32767));
		const auto x = static_cast<double>(scaling->input.apply(q));
		const double real = input.real(q);
		ASSERT_NEAR(std::ldexp(x, -bits), real,
			    std::ldexp(0.5, -bits) + std::fabs(real) * 0x1p-15);
		ASSERT_EQ(scaling->lutInputScale, std::ldexp(1, -2 * bits));
		const auto out =
			static_cast<double>(scaling->output.apply(static_cast<int64_t>(x * entry)));
		const double exact = output.steps(std::ldexp(x, -bits) * entry * lutScale);
		const double gain = std::ldexp(lutScale, -bits) / output.scale;
		ASSERT_NEAR(out, exact,
			    0.5 + gain / 2 +
				    std::fabs(x * entry - scaling->output.offset) * gain * 0x1p-15);
	}
}

} /* namespace nvdla */
