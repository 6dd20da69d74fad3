/* SPDX-License-Identifier: MIT */
/*
 * Functions of one real number that the CPU computes, as a step of a network.
 */
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief A function of one number. Loadables store the values of this enum, so new functions go to
 * the end */
enum class ElementFunction : uint8_t {
	Identity,
	Power, /**< x ^ parameter */
	Logistic,
	Tanh,
	HardSwish, /**< x * clamp(x + 3, 0, 6) / 6 */
	LeakyRelu, /**< parameter: slope of negative numbers */
	Elu,	   /**< parameter: the negative of the limit at -infinity */
	Gelu,
	GeluTanh, /**< Gelu, approximated by a hyperbolic tangent */
	Abs,
	Exp,
	Square,
	Erf,
	Softplus, /**< ln(1 + e^x) */
	Mish,	  /**< x * tanh(softplus(x)) */
	Softsign, /**< x / (1 + |x|) */
	Log,	  /**< natural logarithm */
	Sin,
	Cos,
	Tan,
	Asin,
	Acos,
	Atan,
	Sinh,
	Cosh,
	Asinh,
	Acosh,
	Atanh,
	Floor,
	Ceil,
	Round, /**< halves to the even neighbour */
	Sign,
	ThresholdedRelu, /**< x if it is above the parameter, else 0 */
	HardShrink,	 /**< x if it is farther from 0 than the parameter, else 0 */
	Silu,		 /**< x * logistic(parameter * x) */
};

} /* namespace nvdla */

#pragma GCC visibility pop
