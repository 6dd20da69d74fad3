/* SPDX-License-Identifier: MIT */
/*
 * Tables from functions, looked up by the device model's unit.
 */
#include <bit>
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/half.h>
#include <nvdla/lut.h>

#include "arith/float.h"
#include "lut/lut.h"
#include "random.h"

namespace nvdla
{

namespace
{

using test::Random;

/* A descriptor as the driver programs it. */
class ModelLut
{
public:
	ModelLut(const Lut &lut, LutUnit unit, bool half)
	{
		std::copy(lut.le.entries.begin(), lut.le.entries.end(), tables_.le.begin());
		std::copy(lut.lo.entries.begin(), lut.lo.entries.end(), tables_.lo.begin());
		config_.underflowSelectsLo = lut.underflowSelectsLo;
		config_.overflowSelectsLo = lut.overflowSelectsLo;
		config_.hybridSelectsLo = lut.hybridSelectsLo;
		config_.le.exponential = lut.exponential;
		config_.le.indexOffset = config_.le.indexSelect = lut.le.step;
		config_.lo.indexSelect = lut.lo.step;
		config_.le.start = edge(lut.le.start, half);
		config_.le.end = edge(lut.le.end, half);
		config_.lo.start = edge(lut.lo.start, half);
		config_.lo.end = edge(lut.lo.end, half);
		config_.le.underflow = slope(lut.le.underflow);
		config_.le.overflow = slope(lut.le.overflow);
		config_.lo.underflow = slope(lut.lo.underflow);
		config_.lo.overflow = slope(lut.lo.overflow);
		variant_ = unit == LutUnit::Sdp ? sim::sdpLut : sim::cdpLut;
	}

	double operator()(int64_t x)
	{
		return static_cast<double>(
			sim::Lut(variant_, config_, tables_).lookup(x, counters_));
	}

	double operator()(float x)
	{
		const uint32_t result = sim::Lut(variant_, config_, tables_)
						.lookupFloat(std::bit_cast<uint32_t>(x), counters_);
		return std::bit_cast<float>(sim::arith::fp17ToFp32(result));
	}

private:
	static int64_t edge(int64_t bits, bool half)
	{
		return half ? static_cast<uint32_t>(bits) : bits;
	}

	static sim::LutSlope slope(const LutSlope &slope) { return { slope.scale, slope.shift }; }

	sim::LutTables tables_;
	sim::LutConfig config_;
	sim::LutVariant variant_ = sim::sdpLut;
	sim::LutCounters counters_;
};

struct Function {
	const char *name;
	std::function<double(double)> function;
	double low, high;
	double largest; /* magnitude in the range */
	double limit;	/* what the best table's error is at most, of the largest */
};

std::vector<Function> functions()
{
	return {
		{ "sigmoid", sigmoid, -8, 8, 1, 1e-4 },
		{ "tanh", [](double x) { return std::tanh(x); }, -4, 4, 1, 2e-4 },
		{ "lrn", lrnFactor(1e-2, 0.75, 1, 5), 0, 10000, 1, 3e-3 },
		{ "rsqrt", [](double x) { return 1 / std::sqrt(1 + x); }, 0, 1000, 1, 4e-3 },
		{ "square", [](double x) { return x * x; }, -2, 2, 4, 1e-4 },
	};
}

/* The inputs of the table are so many bits, its entries 15. */
LutRequest requestOf(const Function &function, LutUnit unit, DataType type, uint32_t bits)
{
	LutRequest request;

	request.unit = unit;
	request.type = type;
	request.function = function.function;
	request.low = function.low;
	request.high = function.high;
	request.input.scale =
		(function.high - function.low) / std::ldexp(1, static_cast<int>(bits));
	request.outputScale = function.largest / 32767;
	return request;
}

} /* namespace */

TEST(Lut, TheModelFindsTheFunctionInIntegers)
{
	Random random(601);

	for (LutUnit unit : { LutUnit::Sdp, LutUnit::Cdp }) {
		for (const Function &function : functions()) {
			SCOPED_TRACE(function.name);
			const LutRequest request = requestOf(function, unit, DataType::Int16, 18);
			const auto table = makeLut(request);
			ASSERT_TRUE(table) << table.error().message();
			EXPECT_LE(table->maxError, function.limit * function.largest);
			EXPECT_LE(table->meanError, table->maxError);

			ModelLut model(table->lut, unit, false);
			double largest = 0;
			for (int i = 0; i < 5000; i++) {
				const double real = random.real(function.low, function.high);
				const int64_t x = std::llround(request.input.steps(real));
				const double error = std::fabs(model(x) * request.outputScale -
							       function.function(request.input.real(
								       static_cast<double>(x))));
				largest = std::max(largest, error);
				ASSERT_NEAR(
					readLut(table->lut, request.type, static_cast<double>(x)),
					model(x), 0.51);
			}
			/* The unit rounds to a whole entry. */
			EXPECT_LE(largest, table->maxError * 1.02 + 0.5 * request.outputScale);
		}
	}
}

TEST(Lut, TheModelFindsTheFunctionInHalf)
{
	Random random(602);

	for (LutUnit unit : { LutUnit::Sdp, LutUnit::Cdp }) {
		for (const Function &function : functions()) {
			SCOPED_TRACE(function.name);
			const LutRequest request = requestOf(function, unit, DataType::Half, 0);
			const auto table = makeLut(request);
			ASSERT_TRUE(table) << table.error().message();
			EXPECT_LE(table->maxError, (function.limit + 0x1p-11) * function.largest);

			ModelLut model(table->lut, unit, true);
			for (int i = 0; i < 5000; i++) {
				const auto x = static_cast<float>(
					random.real(function.low, function.high));
				/* Eleven bits in each of the three steps of the interpolation. */
				const double steps = 3 * 0x1p-11 * function.largest;
				ASSERT_NEAR(model(x), function.function(x),
					    table->maxError * 1.02 + steps);
				ASSERT_NEAR(model(x), readLut(table->lut, DataType::Half, x),
					    steps);
			}
		}
	}
}

TEST(Lut, SteepStartsAreExponential)
{
	const Function steep = { "log", [](double x) { return std::log2(1 + x); }, 0, 65535, 16, 0 };
	/* LO is for the middle, the ends are flat. */
	const Function wide = { "sigmoid", sigmoid, -64, 64, 1, 0 };

	EXPECT_TRUE(makeLut(requestOf(steep, LutUnit::Sdp, DataType::Int16, 20))->lut.exponential);
	EXPECT_FALSE(makeLut(requestOf(wide, LutUnit::Sdp, DataType::Int16, 20))->lut.exponential);
}

TEST(Lut, GoesOnBeyondTheRange)
{
	const Function line = { "line", [](double x) { return 0.5 * x + 1; }, -10, 10, 20, 0 };

	for (LutUnit unit : { LutUnit::Sdp, LutUnit::Cdp }) {
		const LutRequest request = requestOf(line, unit, DataType::Int16, 12);
		const auto table = *makeLut(request);
		ModelLut model(table.lut, unit, false);
		for (double real : { -14.0, -11.0, 11.0, 14.0 }) {
			const double x = roundReal(request.input.steps(real));
			EXPECT_NEAR(model(static_cast<int64_t>(x)) * request.outputScale,
				    line.function(request.input.real(x)), 3 * request.outputScale);
		}
		const LutRequest half = requestOf(line, unit, DataType::Half, 0);
		ModelLut halves(makeLut(half)->lut, unit, true);
		for (float real : { -40.0f, 40.0f })
			EXPECT_NEAR(halves(real), line.function(real), 0.1);
	}
}

/* FP16: a table goes on to the values at the largest numbers, whatever the slope at its edge is. */
TEST(Lut, IsStraightOutsideOfTheRange)
{
	const auto silu = [](double x) { return x * sigmoid(x); };
	LutRequest request{ .type = DataType::Half,
			    .function = silu,
			    .low = -20,
			    .high = 12,
			    .straightOutside = true };
	ModelLut model(makeLut(request)->lut, LutUnit::Sdp, true);

	for (const float x : { -65504.0f, -1000.0f, -21.0f })
		EXPECT_NEAR(model(x), 0, 1e-6) << x;
	for (const float x : { 13.0f, 500.0f, 65504.0f })
		EXPECT_NEAR(model(x), x, x * 0x1p-10) << x;
	/* The core widens a NaN's payload as it is; an IEEE quiet NaN has none in these bits. */
	const auto nan = std::bit_cast<float>(sim::arith::fp16ToFp32(0x7e00));
	EXPECT_TRUE(std::isnan(model(nan)));
}

TEST(Lut, EdgesAreThoseOfTheLimitationChapter)
{
	for (LutUnit unit : { LutUnit::Sdp, LutUnit::Cdp }) {
		for (const Function &function : functions()) {
			const Lut lut = makeLut(requestOf(function, unit, DataType::Int8, 16))->lut;
			EXPECT_EQ(lut.lo.end - lut.lo.start, int64_t{ 1 } << (lut.lo.step + 8));
			if (lut.exponential)
				EXPECT_EQ(lut.le.end, INT32_MAX);
			else
				EXPECT_EQ(lut.le.end - lut.le.start,
					  int64_t{ 1 } << (lut.le.step + 6));
		}
	}
}

TEST(Lut, RefusesWhatCannotBe)
{
	LutRequest good = requestOf(functions()[0], LutUnit::Sdp, DataType::Int16, 16);
	EXPECT_TRUE(makeLut(good));
	LutRequest request = good;
	request.high = request.low;
	EXPECT_FALSE(makeLut(request));
	request = good;
	request.type = DataType::Float;
	EXPECT_FALSE(makeLut(request));
	request = good;
	request.input.scale = 0;
	EXPECT_FALSE(makeLut(request));
	request = good;
	request.function = nullptr;
	EXPECT_FALSE(makeLut(request));
	request = good;
	request.function = [](double x) { return std::log(x); };
	EXPECT_FALSE(makeLut(request)) << "not a number below 0";
	request = good;
	request.input.scale = 1e-12;
	EXPECT_EQ(makeLut(request).error().code, ErrorCode::Unsupported) << "beyond 32 bits";
}

} /* namespace nvdla */
