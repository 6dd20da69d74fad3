/* SPDX-License-Identifier: MIT */
#include "element_functions.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

#include <nvdla/lut.h>

namespace nvdla
{

namespace
{

constexpr double endless = std::numeric_limits<double>::infinity();

double softplus(double x)
{
	return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

/* The approximation of GELU by tanh, from the paper of Hendrycks and Gimpel. */
double geluTanh(double x)
{
	constexpr double cubes = 0.044715;

	return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + cubes * x * x * x)));
}

/* x / (1 + |x|), in a form that is also valid for infinite x. */
double softsign(double x)
{
	return std::fabs(x) > 1 ? std::copysign(1 / (1 / std::fabs(x) + 1), x)
				: x / (1 + std::fabs(x));
}

double sign(double x)
{
	return std::isnan(x) ? x : (x > 0) - (x < 0);
}

/* Adapts a function without parameter to the type of ElementFunctionInfo::compute. */
template<double (*function)(double)>
double plain(double x, double)
{
	return function(x);
}

/* Indexed by the values of ElementFunction. */
constexpr ElementFunctionInfo functions[] = {
	{ "identity", [](double x, double) { return x; }, -endless, endless, true },
	{ "power", [](double x, double exponent) { return std::pow(x, exponent); }, 0, endless,
	  false, true },
	{ "logistic", plain<sigmoid>, -endless, endless, true },
	{ "tanh", plain<std::tanh>, -endless, endless, true },
	{ "hard_swish", [](double x, double) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; },
	  -endless, endless, true },
	{ "leaky_relu", [](double x, double slope) { return x < 0 ? x * slope : x; }, -endless,
	  endless, true, true },
	{ "elu", [](double x, double alpha) { return x < 0 ? alpha * std::expm1(x) : x; }, -endless,
	  endless, true, true },
	{ "gelu", [](double x, double) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); },
	  -endless, endless, true },
	{ "gelu_tanh", plain<geluTanh>, -endless, endless, true },
	{ "abs", plain<std::fabs>, -endless, endless, true },
	{ "exp", plain<std::exp>, -endless, endless, false },
	{ "square", [](double x, double) { return x * x; }, -endless, endless, true },
	{ "erf", plain<std::erf>, -endless, endless, true },
	{ "softplus", plain<softplus>, -endless, endless, true },
	{ "mish", [](double x, double) { return x * std::tanh(softplus(x)); }, -endless, endless,
	  true },
	{ "softsign", plain<softsign>, -endless, endless, false },
	{ "log", plain<std::log>, 0, endless, false },
	{ "sin", plain<std::sin>, -endless, endless, false },
	{ "cos", plain<std::cos>, -endless, endless, false },
	{ "tan", plain<std::tan>, -endless, endless, false },
	{ "asin", plain<std::asin>, -1, 1, false },
	{ "acos", plain<std::acos>, -1, 1, false },
	{ "atan", plain<std::atan>, -endless, endless, false },
	{ "sinh", plain<std::sinh>, -endless, endless, false },
	{ "cosh", plain<std::cosh>, -endless, endless, false },
	{ "asinh", plain<std::asinh>, -endless, endless, false },
	{ "acosh", plain<std::acosh>, 1, endless, false },
	{ "atanh", plain<std::atanh>, -1, 1, false },
	{ "floor", plain<std::floor>, -endless, endless, false },
	{ "ceil", plain<std::ceil>, -endless, endless, false },
	{ "round", plain<std::nearbyint>, -endless, endless, false },
	{ "sign", plain<sign>, -endless, endless, false },
	{ "thresholded_relu", [](double x, double threshold) { return x > threshold ? x : 0; },
	  -endless, endless, false, true },
	{ "hard_shrink",
	  [](double x, double threshold) { return std::fabs(x) > threshold ? x : 0; }, -endless,
	  endless, false, true },
	{ "silu", [](double x, double factor) { return x * sigmoid(factor * x); }, -endless,
	  endless, true, true },
};
static_assert(std::size(functions) == static_cast<size_t>(ElementFunction::Silu) + 1);

} /* namespace */

double ElementFunctionInfo::bounded(double x, double parameter) const
{
	constexpr double largest = std::numeric_limits<float>::max();
	double y = compute(x, parameter);

	if (std::isnan(y))
		y = compute(std::clamp(x, low, high), parameter);
	return std::clamp(y, -largest, largest);
}

const ElementFunctionInfo *findElementFunction(unsigned code)
{
	return code < std::size(functions) ? &functions[code] : nullptr;
}

const ElementFunctionInfo &elementFunction(ElementFunction function)
{
	return functions[static_cast<size_t>(function)];
}

} /* namespace nvdla */
