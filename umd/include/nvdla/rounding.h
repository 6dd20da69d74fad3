/* SPDX-License-Identifier: MIT */
/* Rounding and saturation of the hardware and of fixed-point formats (nvdla/fixed_point.h). */
#pragma once

#include <cmath>
#include <cstdint>

#include <nvdla/data_type.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Rounding to whole numbers; the methods differ only for halves, such as 2.5 */
enum class Rounding : uint8_t {
	HalfAwayFromZero, /**< rounding of NVDLA's converters and truncations */
	HalfUp,		  /**< towards positive infinity; "up" of fixed-point formats */
	HalfToEven,	  /**< "convergent" of fixed-point formats */
};

/** \return \a value divided by 2^\a shift and rounded; a shift of 0 to 62 */
constexpr int64_t shiftRight(int64_t value, uint32_t shift,
			     Rounding rounding = Rounding::HalfAwayFromZero)
{
	if (shift == 0)
		return value;

	const int64_t floor = value >> shift;
	const int64_t rest = value - (floor << shift);
	const int64_t half = int64_t{ 1 } << (shift - 1);

	if (rest != half)
		return floor + (rest > half);
	switch (rounding) {
	case Rounding::HalfAwayFromZero:
		return floor + (value > 0);
	case Rounding::HalfUp:
		return floor + 1;
	case Rounding::HalfToEven:
		break;
	}
	return floor + (floor & 1);
}

/** \return \a value rounded to a whole number */
inline double roundReal(double value, Rounding rounding = Rounding::HalfAwayFromZero)
{
	const double floor = std::floor(value);

	if (value - floor != 0.5)
		return value - floor < 0.5 ? floor : floor + 1;
	switch (rounding) {
	case Rounding::HalfAwayFromZero:
		return value > 0 ? floor + 1 : floor;
	case Rounding::HalfUp:
		return floor + 1;
	case Rounding::HalfToEven:
		break;
	}
	return std::fmod(floor, 2) == 0 ? floor : floor + 1;
}

/** \brief Smallest and largest value of an integer type */
struct IntegerLimits {
	int64_t lowest;
	int64_t highest;

	/** \return \a value, or the nearest limit if it is out of range */
	constexpr int64_t saturate(int64_t value) const
	{
		return value < lowest ? lowest : value > highest ? highest : value;
	}

	/** \return \a value rounded and saturated; 0 for NaN */
	int64_t saturate(double value, Rounding rounding = Rounding::HalfAwayFromZero) const
	{
		if (std::isnan(value))
			return 0;
		if (value >= static_cast<double>(highest))
			return highest;
		if (value <= static_cast<double>(lowest))
			return lowest;
		return static_cast<int64_t>(roundReal(value, rounding));
	}

	bool operator==(const IntegerLimits &) const = default;
};

/** \return limits of a signed number of \a bits bits, 1 to 63 */
constexpr IntegerLimits integerLimits(uint32_t bits)
{
	return { -(int64_t{ 1 } << (bits - 1)), (int64_t{ 1 } << (bits - 1)) - 1 };
}

/** \return limits of an integer type */
constexpr IntegerLimits integerLimits(DataType type)
{
	switch (type) {
	case DataType::Int8:
		return integerLimits(8U);
	case DataType::UInt8:
		return { 0, UINT8_MAX };
	case DataType::Bool:
		return { 0, 1 };
	case DataType::Int32:
		return integerLimits(32U);
	case DataType::Int64:
		return { INT64_MIN, INT64_MAX };
	default:
		return integerLimits(16U);
	}
}

} /* namespace nvdla */

#pragma GCC visibility pop
