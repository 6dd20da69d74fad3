/* SPDX-License-Identifier: MIT */
/*
 * Functions of each element.
 */
#include <algorithm>

#include "fixed_point.h"
#include "reference_operator.h"

namespace nvdla::test
{

using namespace compiler;

namespace
{

/* Which element of an array of shape \a from is element \a index once it is repeated to \a to. */
size_t repeatedIndex(const Extents &from, const Extents &to, size_t index)
{
	const Extents own = four(from), all = four(to);
	size_t at = 0, step = 1;

	for (size_t axis = 4; axis-- > 0;) {
		at += (own[axis] == 1 ? 0 : index % all[axis]) * step;
		index /= all[axis];
		step *= own[axis];
	}
	return at;
}

} /* namespace */

void OperatorReference::operator()(const Elementwise &elementwise)
{
	using Function = Elementwise::Function;
	const int leftShift = out_.type == ElementType::Int16 ? 15 : 20;
	const double sa = scale(value(0)), sb = scale(value(1)), so = scale(out_);
	const double twice = 2 * std::max(sa, sb);
	const RealFactor fa = realFactor(sa / twice), fb = realFactor(sb / twice);
	const RealFactor fo = realFactor(twice / (std::ldexp(1, leftShift) * so));
	const RealFactor product = realFactor(sa * sb / so);

	for (size_t i = 0; i < result_.size(); i++) {
		const double a = in(0)[repeatedIndex(value(0).shape, out_.shape, i)];
		const double b = in(1)[repeatedIndex(value(1).shape, out_.shape, i)];
		const bool largest = elementwise.function == Function::Maximum;
		if (elementwise.function == Function::Divide) {
			result_[i] = isReal() ? std::clamp(a / b, elementwise.activation.low,
							   elementwise.activation.high)
					      : nearest(real(0, a) / real(1, b) / so,
							elementwise.activation);
			continue;
		}
		if (isReal() || elementwise.function >= Function::Maximum) {
			const double y = elementwise.function == Function::Add	      ? a + b
					 : elementwise.function == Function::Subtract ? a - b
					 : elementwise.function == Function::Multiply ? a * b
					 : largest ? std::max(a, b)
						   : std::min(a, b);
			result_[i] = isReal() ? std::clamp(y, elementwise.activation.low,
							   elementwise.activation.high)
					      : y;
			continue;
		}
		const int64_t qa = whole(a) - zero(value(0)), qb = whole(b) - zero(value(1));
		if (roundsOnce()) {
			const double ra = static_cast<double>(qa) * sa / so,
				     rb = static_cast<double>(qb) * sb / so;
			const double y = elementwise.function == Function::Add ? ra + rb
					 : elementwise.function == Function::Subtract
						 ? ra - rb
						 : ra * rb * so;
			result_[i] = nearest(y, elementwise.activation);
			continue;
		}
		const int64_t one = int64_t{ 1 } << leftShift;
		int64_t steps;
		if (elementwise.function == Function::Multiply) {
			steps = multiply(qa * qb, product);
		} else {
			const int64_t second = multiply(qb * one, fb);
			steps = multiply(multiply(qa * one, fa) +
						 (elementwise.function == Function::Subtract
							  ? -second
							  : second),
					 fo);
		}
		result_[i] = saturate(steps + zero(out_), elementwise.activation);
	}
}

void OperatorReference::operator()(const Unary &unary)
{
	for (size_t i = 0; i < result_.size(); i++) {
		result_[i] = written(unary(real(0, in(0)[i])));
	}
}

void OperatorReference::operator()(const PRelu &)
{
	const std::vector<double> slopes = realNumbers(value(1));

	for (size_t i = 0; i < result_.size(); i++) {
		const double x = real(0, in(0)[i]);
		result_[i] = written(
			x < 0 ? x * slopes[repeatedIndex(value(1).shape, out_.shape, i)] : x);
	}
}

} /* namespace nvdla::test */
