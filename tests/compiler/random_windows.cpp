/* SPDX-License-Identifier: MIT */
/*
 * Random operators with windows and kernels.
 */
#include <algorithm>
#include <cmath>

#include <nvdla/half.h>

#include "random_generator.h"

namespace nvdla::test
{

using namespace compiler;

void Generator::convolution()
{
	Convolution conv;
	const bool depthwise = chance(0.5);
	Extents x = picture();
	uint32_t r = from(1, joins_ ? std::min(5U, x[1]) : 5);
	uint32_t s = from(1, joins_ ? std::min(5U, x[2]) : 5);

	conv.stride = { from(1, 3), from(1, 3) };
	conv.dilation = { from(1, joins_ && 2 * s > x[2] ? 1 : 2),
			  from(1, joins_ && 2 * r > x[1] ? 1 : 2) };
	/* Longer than the core's: along one axis, or both. */
	const bool isLong = !joins_ && !depthwise && chance(0.15);
	if (isLong) {
		x[3] = from(1, 6); /* a block of all has to be channels of one element */
		s = from(1, 45);
		conv.stride.x = from(s > 32 ? 2 : 9, 20);
		conv.dilation.x = 1;
	}
	if (isLong && chance(0.5)) {
		r = from(1, 45);
		conv.stride.y = from(r > 32 ? 2 : 9, 20);
		conv.dilation.y = 1;
	}
	const uint32_t w = (s - 1) * conv.dilation.x + 1, h = (r - 1) * conv.dilation.y + 1;
	conv.padding = { from(0, w - 1), from(0, w - 1), from(0, h - 1), from(0, h - 1) };
	if (!joins_) {
		x[1] += h;
		x[2] += w;
	}
	conv.groups = depthwise ? x[3] : 1;
	conv.activation = clamp();
	const uint32_t k = depthwise ? x[3] * from(1, joins_ && x[3] > 35 ? 1 : 2) : from(1, isLong ? 10 : 70);
	const ValueId in = input(x);
	const ValueId weights = kernels({ k, x[3] / conv.groups, r, s });
	std::vector<ValueId> inputs{ in, weights };
	if (chance(0.8))
		inputs.push_back(bias(k, in, weights));
	finish(conv, inputs,
	       output({ 1, (x[1] + conv.padding.top + conv.padding.bottom - h) / conv.stride.y + 1,
			(x[2] + conv.padding.left + conv.padding.right - w) / conv.stride.x + 1,
			k },
		      forSums(in, weights)));
}

void Generator::fullyConnected()
{
	const auto known = written([](const Extents &shape) { return shape.size() == 2; });
	const Extents x = known.empty() ? Extents{ from(1, 4), from(1, 200) }
					: made_.model.values[known.back()].shape;
	const uint32_t rows = x[0], c = x[1], k = from(1, 80);
	const ValueId in = input(x);
	const ValueId weights = kernels({ k, c });
	std::vector<ValueId> inputs{ in, weights };

	if (chance(0.8))
		inputs.push_back(bias(k, in, weights));
	finish(FullyConnected{ clamp() }, inputs, output({ rows, k }, forSums(in, weights)));
}

/* Integers less a zero point need 16 bits, which not all cores have. */
void Generator::product()
{
	Product product{ chance(0.5), chance(0.5), chance(0.5), clamp() };
	Extents a = picture();
	/* One row among several matrices is refused by name. */
	if (!joins_)
		a[product.besideA ? 1 : 2] += 1;
	else if (a[1] == 1 || a[2] == 1)
		product.besideA = a[1] > 1;
	const uint32_t count = a[product.besideA ? 2 : 1], k = from(1, 70);
	Extents b{ 1, chance(0.3) ? 1 : count, product.ofChannels ? a[3] : k,
		   product.ofChannels ? k : a[3] };
	if (product.besideB)
		std::swap(b[1], b[2]);
	const ValueId left = input(a), right = freshInput(b);
	Value &weights = made_.model.values[right];
	if (isInteger() && chance(0.8))
		weights.quantization = Quantization{ weights.quantization.channel(0).scale, 0 };
	/* Sums of a network's floats stay as large as what is summed. */
	for (double &number : made_.inputs.back())
		if (joins_ && !isInteger())
			number = static_cast<double>(halfToFloat(floatToHalf(
				static_cast<float>(number / std::sqrt(double{ 4 } * a[3])))));
	Quantization out = quantization();
	out.scale = static_cast<double>(
		static_cast<float>(made_.model.values[left].quantization.channel(0).scale *
				   weights.quantization.channel(0).scale * std::sqrt(a[3]) *
				   real(150, 500) * (type_ == ElementType::Int16 ? 256 : 1)));
	a[3] = k;
	finish(product, { left, right }, output(a, out));
}

void Generator::pool()
{
	Pool pool;
	Extents x = picture();

	pool.method = chance(0.5)   ? Pool::Method::Average
		      : chance(0.3) ? Pool::Method::Min
				    : Pool::Method::Max;
	/* In a network, sums of sums become too large. */
	if (!joins_ && chance(0.3))
		pool.method = Pool::Method::Sum;
	/* Longer windows than the core's take several poolings. */
	const bool isLong = !joins_ && isExtreme(pool.method) && chance(0.3);
	const uint32_t most = isLong ? 30 : 6;
	pool.kernel = { from(1, joins_ ? std::min(most, x[2]) : most),
			from(1, joins_ ? std::min(most, x[1]) : most) };
	pool.stride = { from(1, 3), from(1, 3) };
	if (isLong && chance(0.2)) {
		x[1] = pool.kernel.y;
		x[2] = pool.kernel.x;
	} else if (!joins_) {
		x[1] += pool.kernel.y;
		x[2] += pool.kernel.x;
	}
	if (chance(0.5))
		pool.padding = { from(0, pool.kernel.x / 2), 0, from(0, pool.kernel.y / 2), 0 };
	pool.padding.right = pool.padding.left;
	pool.padding.bottom = pool.padding.top;
	pool.activation = clamp();
	const ValueId in = input(x);
	Quantization out = made_.model.values[in].quantization.channel(0);
	if (pool.method == Pool::Method::Sum)
		out.scale = static_cast<double>(static_cast<float>(out.scale * real(1, 8)));
	finish(pool, { in },
	       output({ 1, (x[1] + 2 * pool.padding.top - pool.kernel.y) / pool.stride.y + 1,
			(x[2] + 2 * pool.padding.left - pool.kernel.x) / pool.stride.x + 1, x[3] },
		      out));
}

void Generator::globalAverage()
{
	const Extents x = picture();
	const ValueId in = input(x);
	Quantization out = quantization();

	out.scale = static_cast<double>(static_cast<float>(
		made_.model.values[in].quantization.channel(0).scale * real(0.3, 1.5)));
	finish(wholeAverage(x), { in }, output({ 1, 1, 1, x[3] }, out));
}

void Generator::transposedConvolution()
{
	TransposedConvolution conv;
	Extents x = picture(6, 40);
	if (!joins_)
		x = { 1, from(2, 6), from(2, 6), from(1, 40) };
	const uint32_t r = from(1, 5), s = from(1, 5), k = from(1, 40);

	conv.stride = { from(1, 3), from(1, 3) };
	conv.padding = { from(0, s / 2), from(0, s / 2), from(0, r / 2), from(0, r / 2) };
	/* Of one line or column there has to be something left. */
	if (x[1] == 1 || x[2] == 1)
		conv.padding = {};
	conv.activation = clamp();
	const ValueId in = input(x);
	const ValueId weights = kernels({ k, x[3], r, s });
	std::vector<ValueId> inputs{ in, weights };
	if (chance(0.8))
		inputs.push_back(bias(k, in, weights));
	finish(conv, inputs,
	       output({ 1, (x[1] - 1) * conv.stride.y + r - conv.padding.top - conv.padding.bottom,
			(x[2] - 1) * conv.stride.x + s - conv.padding.left - conv.padding.right,
			k },
		      forSums(in, weights)));
}

void Generator::enlarge()
{
	Extents x = picture(8, 40);
	if (!joins_)
		x = { 1, from(2, 8), from(2, 8), from(1, 40) };
	const ValueId in = input(x);
	Enlarge enlarge;

	enlarge.method = static_cast<Enlarge::Method>(from(0, 2));
	enlarge.factor = { from(1, 4), from(1, 4) };
	finish(enlarge, { in },
	       output({ 1, x[1] * enlarge.factor.y, x[2] * enlarge.factor.x, x[3] },
		      made_.model.values[in].quantization.channel(0)));
}

} /* namespace nvdla::test */
