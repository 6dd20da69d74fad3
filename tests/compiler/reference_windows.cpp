/* SPDX-License-Identifier: MIT */
/*
 * Sums of products, and windows.
 */
#include <algorithm>
#include <cfloat>

#include "fixed_point.h"
#include "reference_operator.h"

namespace nvdla::test
{

using namespace compiler;

void OperatorReference::operator()(const Convolution &conv)
{
	const Numbers input = activations();
	const Extents &x = value(0).shape, &w = value(1).shape, &y = out_.shape;
	const uint32_t kernels = w[0], channels = w[1], r = w[2], s = w[3];
	const uint32_t perGroup = kernels / conv.groups;
	const int32_t zeroX = isReal() ? 0 : zero(value(0));

	for (uint32_t oy = 0; oy < y[1]; oy++)
		for (uint32_t ox = 0; ox < y[2]; ox++)
			for (uint32_t k = 0; k < kernels; k++) {
				const int32_t zeroW = zero(value(1), k);
				double sum = 0;
				for (uint32_t c = 0; c < channels; c++)
					for (uint32_t i = 0; i < r * s; i++) {
						const int64_t iy =
							int64_t{ oy } * conv.stride.y +
							int64_t{ i / s } * conv.dilation.y -
							conv.padding.top;
						const int64_t ix =
							int64_t{ ox } * conv.stride.x +
							int64_t{ i % s } * conv.dilation.x -
							conv.padding.left;
						if (iy < 0 || ix < 0 || iy >= x[1] || ix >= x[2])
							continue;
						const size_t at = static_cast<size_t>(
							(iy * x[2] + ix) * x[3] +
							k / perGroup * channels + c);
						sum += (input[at] - zeroX) *
						       (in(1)[(size_t{ k } * channels + c) * r * s +
							      i] -
							zeroW);
					}
				result_[(size_t{ oy } * y[2] + ox) * kernels + k] =
					finish(sum, k, conv.activation);
			}
}

void OperatorReference::operator()(const TransposedConvolution &conv)
{
	const Extents &x = value(0).shape, &w = value(1).shape, &y = out_.shape;
	const int32_t zeroX = isReal() ? 0 : zero(value(0));
	const size_t plane = size_t{ w[2] } * w[3];
	Numbers sums(result_.size(), 0);

	for (size_t i = 0; i < in(0).size(); i++)
		for (size_t j = 0; j < in(1).size(); j++) {
			const auto k = static_cast<uint32_t>(j / plane / w[1]);
			const int64_t oy = static_cast<int64_t>(i / x[3] / x[2] * conv.stride.y +
								j % plane / w[3]) -
					   conv.padding.top;
			const int64_t ox =
				static_cast<int64_t>(i / x[3] % x[2] * conv.stride.x + j % w[3]) -
				conv.padding.left;
			if (i % x[3] == j / plane % w[1] && oy >= 0 && ox >= 0 && oy < y[1] &&
			    ox < y[2])
				sums[static_cast<size_t>(oy * y[2] + ox) * w[0] + k] +=
					(in(0)[i] - zeroX) * (in(1)[j] - zero(value(1), k));
		}
	for (size_t i = 0; i < sums.size(); i++)
		result_[i] = finish(sums[i], static_cast<uint32_t>(i % w[0]), conv.activation);
}

void OperatorReference::operator()(const FullyConnected &full)
{
	const uint32_t kernels = value(1).shape[0], channels = value(1).shape[1];
	const int32_t zeroX = isReal() ? 0 : zero(value(0));
	const Numbers input = activations();

	for (size_t row = 0; row < in(0).size() / channels; row++)
		for (uint32_t k = 0; k < kernels; k++) {
			double sum = 0;
			for (uint32_t c = 0; c < channels; c++)
				sum += (input[row * channels + c] - zeroX) *
				       (in(1)[size_t{ k } * channels + c] - zero(value(1), k));
			result_[row * kernels + k] = finish(sum, k, full.activation);
		}
}

/* Axes of a and the result: matrix, row; or row, matrix. */
void OperatorReference::operator()(const Product &product)
{
	const Extents a = four(value(0).shape), b = four(value(1).shape), y = four(out_.shape);
	const size_t matrixA = product.besideA ? 2 : 1, matrixB = product.besideB ? 2 : 1;
	const int32_t zeroA = isReal() ? 0 : zero(value(0)), zeroB = isReal() ? 0 : zero(value(1));
	const auto place = [](const Extents &shape, const Extents &index) {
		size_t at = 0;
		for (size_t axis = 0; axis < shape.size(); axis++)
			at = at * shape[axis] + index[axis] % shape[axis];
		return at;
	};

	for (size_t i = 0; i < result_.size(); i++) {
		const auto k = static_cast<uint32_t>(i % y[3]);
		Extents at{ static_cast<uint32_t>(i / y[3] / y[2] / y[1]),
			    static_cast<uint32_t>(i / y[3] / y[2] % y[1]),
			    static_cast<uint32_t>(i / y[3] % y[2]), 0 };
		Extents from{ at[0], 0, 0, 0 };
		from[matrixB] = at[matrixA];
		double sum = 0;
		for (uint32_t c = 0; c < a[3]; c++) {
			at[3] = c;
			from[3 - matrixB] = product.ofChannels ? c : k;
			from[3] = product.ofChannels ? k : c;
			sum += (in(0)[place(a, at)] - zeroA) * (in(1)[place(b, from)] - zeroB);
		}
		result_[i] = finish(sum, k, product.activation);
	}
}

void OperatorReference::operator()(const Pool &pool)
{
	const Extents &x = value(0).shape, &y = out_.shape;

	if (pool.ofReals && pool.method == Pool::Method::Average && pool.isWhole(x)) {
		meanOfReals();
		return;
	}
	for (uint32_t oy = 0; oy < y[1]; oy++)
		for (uint32_t ox = 0; ox < y[2]; ox++)
			for (uint32_t c = 0; c < y[3]; c++) {
				double sum = 0, largest = -DBL_MAX, smallest = DBL_MAX;
				int64_t count = 0;
				for (uint32_t i = 0; i < pool.kernel.x * pool.kernel.y; i++) {
					const int64_t iy = int64_t{ oy } * pool.stride.y +
							   i / pool.kernel.x - pool.padding.top;
					const int64_t ix = int64_t{ ox } * pool.stride.x +
							   i % pool.kernel.x - pool.padding.left;
					if (iy < 0 || ix < 0 || iy >= x[1] || ix >= x[2])
						continue;
					const double element = in(0)[static_cast<size_t>(
						(iy * x[2] + ix) * x[3] + c)];
					sum += element;
					largest = std::max(largest, element);
					smallest = std::min(smallest, element);
					count++;
				}
				const auto divisor = static_cast<double>(
					pool.countPadding ? pool.kernel.x * pool.kernel.y : count);
				double &to = result_[(size_t{ oy } * y[2] + ox) * y[3] + c];
				if (pool.method == Pool::Method::Max)
					to = largest;
				else if (pool.method == Pool::Method::Min)
					to = smallest;
				else if (pool.method == Pool::Method::Sum)
					to = isReal() ? sum
						      : nearest((sum - static_cast<double>(count) *
									       zero(value(0))) *
									scale(value(0)) /
									scale(out_),
								pool.activation);
				else if (isReal())
					to = sum / divisor;
				else if (roundsOnce())
					to = nearest((sum -
						      static_cast<double>(count) * zero(value(0))) /
							     divisor * scale(value(0)) /
							     scale(out_),
						     pool.activation);
				else
					to = static_cast<double>(
						sum > 0 ? (whole(sum) + count / 2) / count
							: -((-whole(sum) + count / 2) / count));
				to = isReal() ? std::clamp(to, pool.activation.low,
							   pool.activation.high)
					      : saturate(whole(to), pool.activation);
			}
}

void OperatorReference::meanOfReals()
{
	const Extents &x = value(0).shape;
	const int64_t count = int64_t{ x[1] } * x[2];
	RealFactor factor = realFactor(scale(value(0)) / scale(out_));
	int shift = 0;
	while (count >> (shift + 1))
		shift++;
	shift = std::min({ shift, 32, 31 + factor.shift });
	factor = { factor.factor * (int64_t{ 1 } << shift) / count, factor.shift - shift };

	for (uint32_t c = 0; c < x[3]; c++) {
		double sum = 0;
		for (int64_t i = 0; i < count; i++)
			sum += in(0)[static_cast<size_t>(i) * x[3] + c];
		const double average = sum / static_cast<double>(count);
		result_[c] =
			isReal() ? average
			: roundsOnce()
				? nearest((average - zero(value(0))) * scale(value(0)) /
						  scale(out_),
					  {})
				: saturate(multiply(whole(sum) - zero(value(0)) * count, factor) +
						   zero(out_),
					   {});
	}
}

} /* namespace nvdla::test */
