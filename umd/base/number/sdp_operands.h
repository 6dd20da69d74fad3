/* SPDX-License-Identifier: MIT */
/*
 * Real numbers as operands of SDP's units.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <nvdla/rounding.h>

namespace nvdla
{

/** \brief Limits of a 16-bit operand */
inline constexpr IntegerLimits operandLimits = integerLimits(16U);

/** \brief The largest left shift of an adder's operand, whose register field has six bits */
inline constexpr uint8_t maxAddShift = 63;

/**
 * \brief Append \a numbers / 2^shift, rounded, to \a operands
 *
 * \return shift, the smallest left shift of operands with which all numbers fit 16 bits
 */
inline uint8_t toOperands(std::span<const double> numbers, std::vector<int16_t> &operands)
{
	double largest = 0;
	uint8_t shift = 0;

	for (const double number : numbers)
		largest = std::max(largest, std::fabs(number));
	while (shift < maxAddShift &&
	       roundReal(std::ldexp(largest, -shift)) > static_cast<double>(operandLimits.highest))
		shift++;
	for (const double number : numbers)
		operands.push_back(
			static_cast<int16_t>(operandLimits.saturate(std::ldexp(number, -shift))));
	return shift;
}

} /* namespace nvdla */
