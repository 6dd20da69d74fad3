/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <nvdla/half.h>

#include "random_graph.h"

namespace nvdla::test
{

Elements Dice::elements(DataType type, size_t count)
{
	std::vector<float> values(count);

	for (float &value : values) {
		switch (type) {
		case DataType::Int8:
			value = static_cast<float>(pick(-128, 127));
			break;
		case DataType::Int16:
			value = static_cast<float>(chance(80) ? pick(-600, 600)
							      : pick(-32768, 32767));
			break;
		default:
			value = static_cast<float>(pick(-2048, 2048)) / 1024;
		}
	}
	return { type, elementsFromFloat(type, values) };
}

Cube Dice::cube(DataType type, uint32_t n, uint32_t c, uint32_t h, uint32_t w)
{
	Cube cube = Cube::of(type, n, c, h, w);

	cube.values = numbers(elements(type, cube.values.size()));
	return cube;
}

Converter Dice::converter(int offset, int scale, int shift)
{
	return { pick(-offset, offset), static_cast<int16_t>(pick(1, scale)),
		 static_cast<uint8_t>(pick(std::max(shift - 2, 0), shift + 1)) };
}

LutSlope Dice::slope(bool isFloat)
{
	LutSlope slope;

	if (isFloat) {
		slope.scale = static_cast<int16_t>(
			floatToHalf(static_cast<float>(pick(-256, 256)) / 256));
		return slope;
	}
	slope.scale = static_cast<int16_t>(pick(-300, 300));
	slope.shift = static_cast<int8_t>(pick(-2, 12));
	return slope;
}

/* Edges follow from select and offset (guide, Limitation, LUT). */
Lut Dice::lut(bool isFloat, int magnitudeBits)
{
	Lut lut;
	const bool exponential = chance(50);
	auto entry = [&]() -> int16_t {
		if (!isFloat)
			return static_cast<int16_t>(pick(-32768, 32767));
		return static_cast<int16_t>(
			floatToHalf(static_cast<float>(pick(-1000, 1000)) / 512));
	};
	auto bits = [&](double value) -> int64_t {
		if (isFloat)
			return std::bit_cast<uint32_t>(static_cast<float>(value));
		return static_cast<int64_t>(value);
	};

	for (int16_t &value : lut.le.entries)
		value = entry();
	for (int16_t &value : lut.lo.entries)
		value = entry();
	const double unit = std::ldexp(1.0, magnitudeBits) / 64;
	const double leStart = std::floor(pick(-64, 8)) * unit;
	const double loStart = std::floor(pick(-64, 8)) * unit;
	const int leSelect = magnitudeBits - 6 + pick(-1, 2);
	const int loSelect = magnitudeBits - 8 + pick(-1, 2);
	lut.exponential = exponential;
	lut.le.step = static_cast<int8_t>(exponential ? leSelect + pick(-2, 2) : leSelect);
	lut.lo.step = static_cast<int8_t>(loSelect);
	const double beyond = isFloat ? static_cast<double>(std::numeric_limits<float>::max())
				      : static_cast<double>(std::numeric_limits<int32_t>::max());
	lut.le.start = bits(leStart);
	lut.le.end = bits(exponential ? beyond : leStart + std::ldexp(1.0, leSelect + 6));
	lut.lo.start = bits(loStart);
	lut.lo.end = bits(loStart + std::ldexp(1.0, loSelect + 8));
	lut.le.underflow = slope(isFloat);
	lut.le.overflow = slope(isFloat);
	lut.lo.underflow = slope(isFloat);
	lut.lo.overflow = slope(isFloat);
	lut.hybridSelectsLo = chance(50);
	lut.underflowSelectsLo = chance(50);
	lut.overflowSelectsLo = chance(50);
	return lut;
}

} /* namespace nvdla::test */
