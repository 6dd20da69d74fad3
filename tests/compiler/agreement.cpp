/* SPDX-License-Identifier: MIT */
#include "agreement.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace nvdla::test
{

size_t largest(const Numbers &numbers)
{
	return static_cast<size_t>(std::max_element(numbers.begin(), numbers.end()) -
				   numbers.begin());
}

Difference difference(const Numbers &got, const Numbers &wanted, double allowed)
{
	Difference difference;

	for (size_t i = 0; i < wanted.size(); i++) {
		const double distance = std::fabs(got[i] - wanted[i]);
		/* Written so that a NaN counts. */
		if (!(distance <= allowed))
			difference.beyond += 1.0 / static_cast<double>(wanted.size());
		if (!(distance <= difference.largest))
			difference.largest = distance;
	}
	return difference;
}

namespace
{

struct Range {
	double low = 0;
	double high = 0;

	void include(const Numbers &numbers)
	{
		for (const double number : numbers) {
			low = std::min(low, number);
			high = std::max(high, number);
		}
	}
};

} /* namespace */

void moveByHalfRounding(Numbers &numbers)
{
	constexpr double factor = 1 + 0x1p-11;

	for (size_t i = 0; i < numbers.size(); i++)
		numbers[i] *= i % 2 ? factor : 1 / factor;
}

Numbers saturatedAsHalf(Numbers numbers)
{
	constexpr double largest = 65504;

	for (double &number : numbers)
		number = std::clamp(number, -largest, largest);
	return numbers;
}

double rangeOf(const Numbers &numbers)
{
	Range range;

	range.include(numbers);
	return range.high - range.low;
}

double rangeOf(const ModelFolder &folder, size_t output)
{
	Range range;

	for (const ModelCase &known : folder.cases)
		range.include(known.outputs[output].array.numbers);
	return range.high - range.low;
}

double stepOf(const compiler::Model &model, size_t output)
{
	using compiler::ElementType;
	const compiler::Value *value = &model.values[model.outputs[output]];
	const compiler::Operator *writer = model.writer(model.outputs[output]);
	const bool real = isFloat(value->type);

	if (real && writer)
		value = &model.values[writer->inputs.front()];
	if (value->type != ElementType::Int8 && value->type != ElementType::UInt8)
		return 0;
	return real ? value->quantization.channel(0).scale : 1;
}

std::string shortfall(const Numbers &got, const CaseTensor &output, bool classifies, double range,
		      double step)
{
	const Numbers &wanted = output.array.numbers;
	const bool real = output.array.type[1] == 'f';
	double most = range * 0.01;

	if (step > 0) {
		const double beyond = difference(got, wanted, 2.01 * step).beyond;
		if (beyond > 0.01)
			return fmt::format("{} of the elements are off by more than 2 steps",
					   beyond);
		most = std::max(8 * step, 3 * output.largestOfKernels);
	} else if (!real) {
		most = 65536 * 1e-3;
	}
	const double largestOff = difference(got, wanted, most).largest;
	/* Written so that a NaN counts. */
	if (!(largestOff <= most))
		return fmt::format("an element is off by {}, more than {}", largestOff, most);
	/* Unless the reference itself is within a step. */
	if (classifies && wanted[largest(got)] < wanted[largest(wanted)] - (step > 0 ? step
									    : real   ? most
										     : 1))
		return fmt::format("the first class is {} instead of {}", largest(got),
				   largest(wanted));
	return {};
}

} /* namespace nvdla::test */
