/* SPDX-License-Identifier: MIT */
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/converter.h>

#include "arith/integer.h"
#include "random_quantization.h"

namespace nvdla
{

using test::Random;
using test::randomQuantization;

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
		const double gain = random.powerOfTwo(-16, 14) * (random(0, 1) ? 1 : -1);
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

/* Below 2^-17 the shift is at its end, and the scale has ever fewer bits. */
TEST(Converter, SaysHowFarItIsFromATinyGain)
{
	EXPECT_EQ(makeConverter(0, 0.25)->error, 0);
	EXPECT_NEAR(makeConverter(0, 1.5 * 0x1p-31)->error, 1.0 / 3, 1e-12);
	for (const double gain : { 0.3, 0x1.8p-16, 1.1 * 0x1p-20, 1.7 * 0x1p-30 }) {
		const auto converter = makeConverter(0, gain);
		ASSERT_TRUE(converter) << gain;
		EXPECT_NEAR(converter->error, std::fabs(converter->gain() / gain - 1), 1e-12);
		if (gain >= 0x1p-17)
			EXPECT_LE(converter->error, 0x1p-15) << gain;
		else
			EXPECT_GT(converter->error, 0x1p-15) << gain;
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
		const double scale = random.powerOfTwo(-20, 14);
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
		const double scale = random.powerOfTwo(-15, 0);
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
	for (double wrong : { 0.0, double(NAN), 32768.0, -32768.0, 1e-11 })
		EXPECT_FALSE(sdpMultipliers({ &wrong, 1 })) << wrong;
}

} /* namespace nvdla */
