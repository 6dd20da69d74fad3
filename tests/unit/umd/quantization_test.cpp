/* SPDX-License-Identifier: MIT */
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/layer_scaling.h>

#include "arith/integer.h"
#include "model_convolution.h"
#include "random.h"

namespace nvdla
{

namespace
{

using test::ModelConvolution;
using test::Random;

double log2Uniform(Random &random, double low, double high)
{
	return std::exp2(random.real(low, high));
}

Quantization randomQuantization(Random &random)
{
	return { log2Uniform(random, -10, 2), random(-100, 100) };
}

} /* namespace */

TEST(Rounding, HalvesAreWhatDiffers)
{
	const struct {
		Rounding rounding;
		int64_t minus3, minus1, one, three; /* halves */
	} cases[] = {
		{ Rounding::HalfAwayFromZero, -2, -1, 1, 2 },
		{ Rounding::HalfUp, -1, 0, 1, 2 },
		{ Rounding::HalfToEven, -2, 0, 0, 2 },
	};

	for (const auto &one : cases) {
		EXPECT_EQ(shiftRight(-3, 1, one.rounding), one.minus3);
		EXPECT_EQ(shiftRight(-1, 1, one.rounding), one.minus1);
		EXPECT_EQ(shiftRight(1, 1, one.rounding), one.one);
		EXPECT_EQ(shiftRight(3, 1, one.rounding), one.three);
		for (int64_t value = -100; value <= 100; value++)
			for (uint32_t shift = 0; shift < 9; shift++)
				ASSERT_EQ(
					static_cast<double>(shiftRight(value, shift, one.rounding)),
					roundReal(std::ldexp(value, -static_cast<int>(shift)),
						  one.rounding))
					<< value << " >> " << shift;
	}
}

TEST(Rounding, OfTheHardwareIsThatOfTheModel)
{
	Random random(401);

	for (int round = 0; round < 1000; round++) {
		const int64_t value = int64_t{ random(-1000000, 1000000) } * random(-1000, 1000);
		const uint32_t shift = random.size(0, 40);
		ASSERT_EQ(shiftRight(value, shift), sim::arith::shiftRightRound(value, shift));
	}
}

TEST(Quantization, RangesUseAllSteps)
{
	Random random(402);

	for (int round = 0; round < 200; round++) {
		const DataType type = random.oneOf<DataType>({ DataType::Int8, DataType::Int16 });
		const double low = random.real(-10, 5), high = low + random.real(0.1, 10);
		const auto affine = *quantizationOf(low, high, type, ZeroPoint::Free);
		const auto symmetric = *quantizationOf(low, high, type, ZeroPoint::Zero);
		EXPECT_EQ(symmetric.zeroPoint, 0);
		for (const Quantization &quantization : { affine, symmetric }) {
			for (int i = 0; i < 20; i++) {
				const double real = random.real(low, high);
				/* Half a step, and as much for the zero point's own rounding. */
				ASSERT_NEAR(quantization.real(static_cast<double>(
						    quantization.quantize(real, type))),
					    real, quantization.scale * 1.001)
					<< low << ".." << high;
			}
			EXPECT_EQ(quantization.real(
					  static_cast<double>(quantization.quantize(0, type))),
				  0);
		}
	}
	EXPECT_FALSE(quantizationOf(1, 0, DataType::Int8, ZeroPoint::Free));
	EXPECT_FALSE(quantizationOf(0, 0, DataType::Int8, ZeroPoint::Free));
	EXPECT_FALSE(quantizationOf(0, NAN, DataType::Int8, ZeroPoint::Free));
	EXPECT_FALSE(quantizationOf(0, 1, DataType::Half, ZeroPoint::Free));
}

TEST(Converter, IsTheNearestThereIs)
{
	Random random(403);

	EXPECT_EQ(*makeConverter(0, 1), (Converter{ 0, 1, 0 }));
	EXPECT_EQ(*makeConverter(-7, 0.5), (Converter{ -7, 1, 1 }));
	EXPECT_EQ(*makeConverter(0, -3), (Converter{ 0, -3, 0 }));
	EXPECT_EQ(*makeConverter(0, 32767), (Converter{ 0, 32767, 0 }));
	EXPECT_FALSE(makeConverter(0, 32768));
	EXPECT_FALSE(makeConverter(0, 0));
	EXPECT_FALSE(makeConverter(0, NAN));
	EXPECT_FALSE(makeConverter(1e10, 1));

	for (int round = 0; round < 1000; round++) {
		const double gain = log2Uniform(random, -16, 14) * (random(0, 1) ? 1 : -1);
		const int32_t offset = random(-1000, 1000);
		const auto converter = makeConverter(offset, gain);
		ASSERT_TRUE(converter) << converter.error().message();
		ASSERT_NEAR(converter->gain() / gain, 1, 0x1p-15);

		const int32_t x = random(-40000, 40000);
		const double exact = (x - offset) * gain;
		const sim::arith::Converter model{ converter->offset, converter->scale,
						   converter->shift };
		ASSERT_EQ(converter->apply(x), model.apply(x));
		ASSERT_NEAR(static_cast<double>(converter->apply(x)), exact,
			    0.5 + std::fabs(exact) * 0x1p-15);
	}
}

TEST(Converter, TakesOneTensorToAnother)
{
	Random random(404);

	for (int round = 0; round < 1000; round++) {
		const Quantization from = randomQuantization(random);
		const Quantization to = randomQuantization(random);
		const auto converter = makeConverter(from, to);
		ASSERT_TRUE(converter) << converter.error().message();
		const int32_t q = random(-32768, 32767);
		const double exact = to.steps(from.real(q));
		const double gain = from.scale / to.scale;
		ASSERT_NEAR(static_cast<double>(converter->apply(q)), exact,
			    0.5 + gain / 2 + std::fabs((q - converter->offset) * gain) * 0x1p-15);
	}

	/* Unsigned pixels around their mean to the whole of INT8. */
	const auto pixels = *makeConverter({ 1.0, 128 }, { 128.0 / 127, 0 });
	EXPECT_EQ(pixels.offset, 128);
	EXPECT_EQ(pixels.apply(0), -127);
	EXPECT_EQ(pixels.apply(128), 0);
}

TEST(Converter, CoversATablesRange)
{
	const auto input = lutInput({ 1, 0 }, 100, 300, 8);

	ASSERT_TRUE(input);
	EXPECT_EQ(input->converter.apply(100), 0);
	EXPECT_EQ(input->converter.apply(200), 128);
	EXPECT_EQ(input->converter.apply(300), 256);
	EXPECT_EQ(input->quantization.real(256), 300);
	EXPECT_FALSE(lutInput({ 1, 0 }, 1, 1, 8));
}

TEST(Multiplier, IsThatOfTheVtaDocument)
{
	Random random(405);

	EXPECT_EQ(quantizeMultiplier(96).multiplier, 0.75 * (1 << 15));
	EXPECT_EQ(quantizeMultiplier(96).shift, 7);
	EXPECT_EQ(quantizeMultiplier(0.999999).multiplier, 1 << 14) << "2^15 does not fit";
	EXPECT_EQ(quantizeMultiplier(0.999999).shift, 1);
	EXPECT_EQ(quantizeMultiplier(0).multiplier, 0);
	for (int round = 0; round < 1000; round++) {
		const double scale = log2Uniform(random, -20, 14);
		const Multiplier multiplier = quantizeMultiplier(scale);
		ASSERT_GE(multiplier.multiplier, 1 << 14);
		ASSERT_NEAR(std::ldexp(multiplier.multiplier, multiplier.shift - 15) / scale, 1,
			    0x1p-15);
	}
}

TEST(Multiplier, RequantizesAsVtaDoesButRounded)
{
	Random random(406);

	for (int round = 0; round < 1000; round++) {
		const double scale = log2Uniform(random, -15, 0);
		const Multiplier vta = quantizeMultiplier(scale);
		const auto sdp = sdpMultipliers({ &scale, 1 });
		ASSERT_TRUE(sdp);
		ASSERT_EQ(sdp->operands[0], vta.multiplier);
		ASSERT_EQ(sdp->shift, 15 - vta.shift);

		const int64_t value = random(-1000000, 1000000);
		const int64_t cut = (value * vta.multiplier) >> (15 - vta.shift);
		const int64_t rounded = shiftRight(value * sdp->operands[0], sdp->shift);
		ASSERT_GE(rounded, cut);
		ASSERT_LE(rounded, cut + 1);
		ASSERT_NEAR(static_cast<double>(rounded), static_cast<double>(value) * scale,
			    0.5 + std::fabs(static_cast<double>(value) * scale) * sdp->error *
					    1.0001);
	}
}

TEST(Multiplier, ChannelsShareAShift)
{
	const std::vector<double> scales{ 0.5, 0.25, 0.3, 0.001 };
	const auto sdp = sdpMultipliers(scales);

	ASSERT_TRUE(sdp);
	EXPECT_EQ(sdp->shift, 15);
	EXPECT_EQ(sdp->operands, (std::vector<int16_t>{ 16384, 8192, 9830, 33 }));
	EXPECT_NEAR(sdp->error, 33 / 32768.0 / 0.001 - 1, 1e-9);
	EXPECT_FALSE(sdpMultipliers({}));
	for (double wrong : { 0.0, -1.0, 32768.0, 1e-11 })
		EXPECT_FALSE(sdpMultipliers({ &wrong, 1 })) << wrong;
}

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

	numbers.input = { log2Uniform(random, -8, 0), random(-100, 100) };
	numbers.accumulatorTruncate =
		desc.type == DataType::Int8 ? random.size(0, 2) : random.size(4, 8);
	for (uint32_t k = 0; k < scales; k++)
		numbers.weightScales.push_back(log2Uniform(random, -8, -6));
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
double throughSdp(const ConvolutionScaling &scaling, uint32_t k, int32_t sum)
{
	const int64_t bias = sim::arith::shiftLeftSaturate<32>(scaling.bias[k], scaling.biasShift);
	const int64_t added = sim::arith::saturate<32>(sum + bias);
	const int64_t product = sim::arith::truncate<32>(added * scaling.multipliers.operands[k],
							 scaling.multipliers.shift);

	return static_cast<double>(scaling.output.apply(product));
}

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
		const Quantization input = { log2Uniform(random, -6, -2), random(-20, 20) };
		const Quantization output = { log2Uniform(random, -6, -2), random(-20, 20) };
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
