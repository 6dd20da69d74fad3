/* SPDX-License-Identifier: MIT */
#include "sdp/sdp_datapath.h"

#include <bit>
#include <vector>

#include <gtest/gtest.h>

using namespace nvdla::sim;

namespace
{

int32_t bitsOf(float value)
{
	return std::bit_cast<int32_t>(value);
}

float floatOf(int32_t bits)
{
	return std::bit_cast<float>(bits);
}

/* One value through a stage; both operands are given, bypassed or not. */
int32_t x(const SdpStage &stage, int32_t value, int32_t alu = 0, int32_t mul = 0,
	  Precision precision = Precision::Int16)
{
	applySdpStage({ &stage, false, { &alu, 0 }, { &mul, 0 } }, precision, { &value, 1 }, 1);
	return value;
}

int32_t y(const SdpStage &stage, int32_t value, int32_t alu = 0, int32_t mul = 0,
	  Precision precision = Precision::Int16)
{
	applySdpStage({ &stage, true, { &alu, 0 }, { &mul, 0 } }, precision, { &value, 1 }, 1);
	return value;
}

SdpStage stageWith(SdpAlu algorithm, bool alu, bool mul)
{
	SdpStage stage;

	stage.bypass = false;
	stage.algorithm = algorithm;
	stage.alu.bypass = !alu;
	stage.mul.bypass = !mul;
	return stage;
}

int32_t convert(SdpOp op, int32_t value, SdpCounters &counters)
{
	convertSdpOutput(op, { &value, 1 }, counters);
	return value;
}

} /* namespace */

TEST(SdpX, AddsThenMultipliesThenTruncates)
{
	SdpStage stage = stageWith(SdpAlu::Sum, true, true);

	stage.mulShift = 2;
	EXPECT_EQ(x(stage, 10, 5, 3), 11);   /* 45 / 4 */
	EXPECT_EQ(x(stage, -10, -5, 2), -8); /* -7.5 away from zero */
	stage.mulShift = 0;
	EXPECT_EQ(x(stage, INT32_MAX, 100, INT16_MAX), INT32_MAX);
	EXPECT_EQ(x(stage, INT32_MAX, 100, INT16_MIN), INT32_MIN);
}

TEST(SdpX, TruncatesEvenWithoutMultiplier)
{
	SdpStage stage = stageWith(SdpAlu::Sum, true, false);

	EXPECT_EQ(x(stage, INT32_MAX, INT32_MAX), INT32_MAX);
	stage.mulShift = 1;
	EXPECT_EQ(x(stage, INT32_MAX, INT32_MAX), INT32_MAX) << "the sum has 33 bits";
	EXPECT_EQ(x(stage, 5, 2), 4);
}

TEST(SdpX, MinimumAndMaximum)
{
	EXPECT_EQ(x(stageWith(SdpAlu::Max, true, false), -4, 3), 3);
	EXPECT_EQ(x(stageWith(SdpAlu::Min, true, false), -4, 3), -4);
}

TEST(SdpX, PreluLeavesPositiveValuesAlone)
{
	SdpStage stage = stageWith(SdpAlu::Max, false, true);

	stage.prelu = true;
	stage.mulShift = 4;
	EXPECT_EQ(x(stage, 1000, 0, 8), 1000);
	EXPECT_EQ(x(stage, 0, 0, 8), 0);
	EXPECT_EQ(x(stage, -1000, 0, 8), -500);
}

TEST(SdpX, ReluComesLast)
{
	SdpStage stage = stageWith(SdpAlu::Sum, true, true);

	stage.reluBypass = false;
	EXPECT_EQ(x(stage, 4, 1, -1), 0);
	EXPECT_EQ(x(stage, -4, 1, -1), 3);
}

TEST(SdpX, FloatKeepsNanThroughRelu)
{
	SdpStage stage = stageWith(SdpAlu::Sum, true, true);
	const int32_t nan = static_cast<int32_t>(0xffc00001);

	stage.reluBypass = false;
	EXPECT_EQ(x(stage, nan, bitsOf(1), bitsOf(2), Precision::Fp16), nan);
	EXPECT_EQ(x(stage, bitsOf(-3), bitsOf(1), bitsOf(2), Precision::Fp16), 0);
	EXPECT_EQ(floatOf(x(stage, bitsOf(3), bitsOf(1), bitsOf(2), Precision::Fp16)), 8.0f);
}

TEST(SdpX, FloatPreluGoesBySign)
{
	SdpStage stage = stageWith(SdpAlu::Max, false, true);

	stage.prelu = true;
	EXPECT_EQ(floatOf(x(stage, bitsOf(3), 0, bitsOf(0.5f), Precision::Fp16)), 3.0f);
	EXPECT_EQ(floatOf(x(stage, bitsOf(-3), 0, bitsOf(0.5f), Precision::Fp16)), -1.5f);
}

TEST(SdpY, MultipliesThenAdds)
{
	SdpStage stage = stageWith(SdpAlu::Sum, true, true);

	stage.mulShift = 1;
	EXPECT_EQ(y(stage, 5, 100, 3), 108); /* 7.5 away from zero */
	stage.mulShift = 1023;
	EXPECT_EQ(y(stage, INT32_MIN, 7, INT32_MIN), 7);
	stage.mulShift = 31;
	EXPECT_EQ(y(stage, INT32_MIN, 1, INT32_MIN), INT32_MAX) << "clipped after each step";
}

TEST(SdpY, DoesNotTruncateWithoutMultiplier)
{
	SdpStage stage = stageWith(SdpAlu::Sum, true, false);

	stage.mulShift = 4;
	EXPECT_EQ(y(stage, 100, 1), 101);
}

TEST(SdpY, Compares)
{
	const SdpStage stage = stageWith(SdpAlu::Equal, true, false);

	EXPECT_EQ(y(stage, 5, 5), 0);
	EXPECT_EQ(y(stage, 5, 4), 1);
	EXPECT_EQ(y(stage, 0, INT32_MIN, 0, Precision::Fp16), 1) << "+0 and -0 differ in bits";
}

TEST(SdpStages, OperandsStepByAtomOrStay)
{
	const SdpStage stage = stageWith(SdpAlu::Sum, true, false);
	std::vector<int32_t> values = { 0, 0, 0, 0 };
	const std::vector<int32_t> operands = { 1, 2, 3, 4 };

	applySdpStage({ &stage, false, { operands.data(), 2 }, {} }, Precision::Int16, values, 2);
	EXPECT_EQ(values, (std::vector<int32_t>{ 1, 2, 3, 4 }));
	applySdpStage({ &stage, false, { operands.data(), 0 }, {} }, Precision::Int16, values, 2);
	EXPECT_EQ(values, (std::vector<int32_t>{ 2, 4, 4, 6 }));
}

TEST(SdpOutput, IntegerIsClippedTwice)
{
	SdpOp op;
	SdpCounters counters;

	op.proc = op.out = Precision::Int8;
	EXPECT_EQ(convert(op, 200, counters), 127);
	EXPECT_EQ(convert(op, -200, counters), -128);
	EXPECT_EQ(counters.saturation, 0u) << "only what exceeds 17 bits counts";
	op.out = Precision::Int16;
	EXPECT_EQ(convert(op, 40000, counters), 32767);
	EXPECT_EQ(counters.saturation, 0u);
	convert(op, 65536, counters);
	EXPECT_EQ(counters.saturation, 0u) << "one beyond is clipped, not counted";
	convert(op, 65537, counters);
	convert(op, -65538, counters);
	EXPECT_EQ(counters.saturation, 2u);
}

TEST(SdpOutput, ConverterScalesAndShifts)
{
	SdpOp op;
	SdpCounters counters;

	op.proc = op.out = Precision::Int16;
	op.converter = { .offset = 10, .scale = 3, .shift = 1 };
	EXPECT_EQ(convert(op, 15, counters), 8);
	EXPECT_EQ(convert(op, 10, counters), 0);
}

TEST(SdpOutput, BetweenIntegerAndFloat)
{
	SdpOp op;
	SdpCounters counters;

	op.proc = Precision::Int16;
	op.out = Precision::Fp16;
	EXPECT_EQ(convert(op, 1, counters), 0x3c00);
	EXPECT_EQ(convert(op, 100000, counters), 0x7bff) << "65535 rounds beyond the largest";
	EXPECT_EQ(counters.saturation, 1u);

	op.proc = Precision::Fp16;
	op.out = Precision::Int16;
	EXPECT_EQ(convert(op, bitsOf(2.5f), counters), 3);
	EXPECT_EQ(convert(op, bitsOf(-1e30f), counters), -32768);
	EXPECT_EQ(convert(op, bitsOf(2049.0f), counters), 2048) << "by way of FP16";
	EXPECT_EQ(counters.saturation, 1u);
}

TEST(SdpOutput, CountsFloatSpecials)
{
	SdpOp op;
	SdpCounters counters;

	op.proc = op.out = Precision::Fp16;
	EXPECT_EQ(convert(op, bitsOf(70000.0f), counters), 0x7bff);
	EXPECT_EQ(convert(op, bitsOf(-65504.0f), counters), 0xfbff);
	EXPECT_EQ(convert(op, 0x7f800001, counters), 0x7c01);
	EXPECT_EQ(counters.saturation, 2u);
	EXPECT_EQ(counters.nanOutput, 1u);
}
