/* SPDX-License-Identifier: MIT */
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nvdla/fixed_point.h>

#include "random.h"

namespace nvdla
{

namespace
{

using test::Random;

constexpr FixedFormat fx8(uint32_t bits)
{
	return { DataType::Int8, bits };
}

constexpr FixedFormat fx16(uint32_t bits)
{
	return { DataType::Int16, bits };
}

FixedFormat randomFormat(Random &random)
{
	return { random.oneOf<DataType>({ DataType::Int8, DataType::Int16 }), random.size(0, 20) };
}

} /* namespace */

TEST(FixedPoint, ExamplesOfTheDocument)
{
	EXPECT_EQ(fromFixed(0x4000, fx16(15)), 0.5);
	EXPECT_EQ(fromFixed(0x4000, fx16(14)), 1.0);
	EXPECT_EQ(fx16(10).integerBits(), 5);
	EXPECT_EQ(fx8(10).integerBits(), -3);
	/* The document prints 0.3125 here; 32 / 1024 is a tenth of that. */
	EXPECT_EQ(fromFixed(0x20, fx16(10)), 0.03125);
	EXPECT_EQ(fromFixed(0x220, fx16(10)), 0.53125);
	EXPECT_EQ(convertFixed(0x220, fx16(10), fx8(10)), 127) << "does not fit";

	EXPECT_EQ(toFixed(0.85, fx8(7)), 109);
	EXPECT_EQ(toFixed(-1.09, fx16(10)), -1116);
	EXPECT_EQ(fromFixed(5448, fx16(15)), 0.166259765625);
	EXPECT_EQ(fromFixed(-1116, fx16(10)), -1.08984375);
	EXPECT_EQ(convertFixed(0x24, fx16(8), fx16(12)), 0x240);
	EXPECT_EQ(convertFixed(0x24, fx8(4), fx8(1), Rounding::HalfUp), 5);
	EXPECT_EQ(convertFixed(0x24, fx8(4), fx8(1), Rounding::HalfToEven), 4);

	EXPECT_EQ(accumulationBits(34), 6u);
	EXPECT_EQ(accumulationBits(1), 0u);
	EXPECT_EQ(accumulationBits(64), 6u);

	const auto fx8Room = *accumulatorHeadRoom(fx8(7), fx8(7), 131072, 32);
	EXPECT_EQ(fx8Room.available, 17u);
	EXPECT_TRUE(fx8Room.enough());
	EXPECT_TRUE(accumulatorHeadRoom(fx16(15), fx16(15), 512, 40)->enough());
	EXPECT_TRUE(accumulatorHeadRoom(fx16(15), fx8(7), 512, 32)->enough());
	EXPECT_FALSE(accumulatorHeadRoom(fx16(15), fx8(7), 513, 32)->enough());
	const auto layer = *accumulatorHeadRoom(fx16(11), fx16(15), 5 * 5 * 64 + 1, 40);
	EXPECT_EQ(layer.needed, 11u);
	EXPECT_EQ(layer.available, 9u);
	EXPECT_EQ(layer.input, fx16(10));
	EXPECT_EQ(layer.weights, fx16(14));

	EXPECT_EQ(*biasPreShift(fx8(7), fx8(3), fx8(10)), 0u);
	EXPECT_EQ(*biasPreShift(fx8(7), fx8(3), fx8(4)), 6u);
	EXPECT_FALSE(biasPreShift(fx8(7), fx8(3), fx8(11)));
}

TEST(FixedPoint, ConversionsAreThoseOfRealNumbers)
{
	Random random(501);

	for (int round = 0; round < 2000; round++) {
		const FixedFormat from = randomFormat(random), to = randomFormat(random);
		const auto rounding = random.oneOf<Rounding>(
			{ Rounding::HalfAwayFromZero, Rounding::HalfUp, Rounding::HalfToEven });
		const IntegerLimits limits = integerLimits(from.container);
		const auto value = static_cast<int16_t>(random(
			static_cast<int32_t>(limits.lowest), static_cast<int32_t>(limits.highest)));
		const double real = fromFixed(value, from);
		ASSERT_EQ(toFixed(real, from), value);
		ASSERT_EQ(convertFixed(value, from, to, rounding), toFixed(real, to, rounding));
	}
}

TEST(FixedPoint, TensorsConvertElementByElement)
{
	const auto elements =
		elementsFromFloat(DataType::Int16, std::vector<float>{ -300, 5, 6, 300 });
	const auto converted = convertFixed(elements, fx16(4), fx8(2));

	EXPECT_EQ(elementsToFloat(DataType::Int8, converted),
		  (std::vector<float>{ -75, 1, 2, 75 }));
	EXPECT_EQ(elementsToFloat(DataType::Int16, convertFixed(converted, fx8(2), fx16(4))),
		  (std::vector<float>{ -300, 4, 8, 300 }));
}

TEST(FixedPoint, FormatsHoldTheirRange)
{
	Random random(502);

	for (int round = 0; round < 500; round++) {
		const DataType container =
			random.oneOf<DataType>({ DataType::Int8, DataType::Int16 });
		const double high = std::exp2(random.real(-10, 6.9)),
			     low = -high * random.real(0, 1);
		const auto format = fixedFormatOf(low, high, container);
		ASSERT_TRUE(format);
		const double step = format->quantization().scale;
		for (double real : { low, high })
			ASSERT_NEAR(fromFixed(toFixed(real, *format), *format), real, step / 2);
		/* With one bit more it would not. */
		const FixedFormat finer{ container, format->fractionBits + 1 };
		ASSERT_GT(high - fromFixed(toFixed(high, finer), finer), step / 4);
	}
	EXPECT_EQ(fixedFormatOf(-1, 0.99, DataType::Int8)->fractionBits, 7u);
	EXPECT_FALSE(fixedFormatOf(0, 200, DataType::Int8));
	EXPECT_FALSE(fixedFormatOf(0, 1, DataType::Half));
	EXPECT_FALSE(fixedFormatOf(NAN, 1, DataType::Int8));
}

TEST(FixedPoint, NothingOverflowsWithEnoughHeadRoom)
{
	Random random(503);

	for (int round = 0; round < 500; round++) {
		const FixedFormat input{ DataType::Int8, 15 }, weights{ DataType::Int8, 15 };
		const uint64_t additions = random.size(1, 1000000);
		const uint32_t bits = random.size(20, 34);
		const auto room = accumulatorHeadRoom(input, weights, additions, bits);
		ASSERT_TRUE(room) << room.error().message();
		/* The same numbers with fewer fraction bits are that much smaller. */
		const double operandA =
			std::ldexp(127, static_cast<int>(room->input.fractionBits) - 15);
		const double operandB =
			std::ldexp(127, static_cast<int>(room->weights.fractionBits) - 15);
		ASSERT_LT(operandA * operandB * static_cast<double>(additions),
			  std::ldexp(1, static_cast<int>(bits) - 1));
		if (!room->enough()) {
			ASSERT_GT(127.0 * 128 * static_cast<double>(additions),
				  std::ldexp(0.99, static_cast<int>(bits) - 1) / 2);
		}
	}
	EXPECT_FALSE(accumulatorHeadRoom(fx16(15), fx16(15), 2, 30));
	EXPECT_FALSE(accumulatorHeadRoom(fx8(0), fx8(0), 1 << 20, 32)) << "no bits to give";
	EXPECT_EQ(accumulatorWidth(DataType::Int8, 0), 32u);
	EXPECT_EQ(accumulatorWidth(DataType::Int8, 5), 34u);
	EXPECT_EQ(accumulatorWidth(DataType::Int16, 31), 48u);
}

TEST(FixedPoint, ShiftsBringBiasAndOutputToTheirFormats)
{
	Random random(504);

	for (int round = 0; round < 500; round++) {
		const FixedFormat input = fx8(random.size(4, 7)), weights = fx8(random.size(4, 7));
		const FixedFormat bias = fx16(random.size(0, 5)), output = fx8(random.size(0, 4));
		const uint32_t truncate = random.size(0, 2);
		const uint32_t preShift = *biasPreShift(input, weights, bias, truncate);
		const uint32_t shift = *outputShift(input, weights, output, truncate);

		const auto a = static_cast<int16_t>(random(-128, 127));
		const auto b = static_cast<int16_t>(random(-128, 127));
		const auto c = static_cast<int16_t>(random(-2000, 2000));
		const int64_t sum = shiftRight(a * b, truncate) + (int64_t{ c } << preShift);
		const double real =
			fromFixed(a, input) * fromFixed(b, weights) + fromFixed(c, bias);
		ASSERT_NEAR(static_cast<double>(shiftRight(sum, shift)) *
				    output.quantization().scale,
			    real, output.quantization().scale);
	}
	EXPECT_FALSE(outputShift(fx8(2), fx8(2), fx16(5)));
}

} /* namespace nvdla */
