/* SPDX-License-Identifier: MIT */
/*
 * Operators whose results are sums or maxima of windows.
 */
#include <algorithm>
#include <numeric>

#include "base/number/products.h"
#include "evaluator.h"

namespace nvdla::compiler
{

namespace
{

/* Kernels of one group as [tap][channel][kernel]. */
RealNumbers kernelsInside(const RealNumbers &kernels, uint32_t firstK, uint32_t k, uint32_t c,
			  uint32_t taps)
{
	RealNumbers turned(size_t{ k } * c * taps);

	for (uint32_t one = 0; one < k; one++)
		for (uint32_t channel = 0; channel < c; channel++)
			for (uint32_t tap = 0; tap < taps; tap++)
				turned[(size_t{ tap } * c + channel) * k + one] =
					kernels[((size_t{ firstK } + one) * c + channel) * taps +
						tap];
	return turned;
}

void addBias(const RealStep &step, uint32_t kernels)
{
	const RealNumbers *bias = step.bias();

	for (size_t i = 0; bias && i < step.result.size(); i++)
		step.result[i] += (*bias)[i % kernels];
}

/* A place in the input, or none in the padding. */
const float *pixelAt(const RealStep &step, int64_t y, int64_t x)
{
	const Extents &shape = step.shape(0);

	if (y < 0 || x < 0 || y >= shape[1] || x >= shape[2])
		return nullptr;
	return &step.in(0)[static_cast<size_t>(y * shape[2] + x) * shape[3]];
}

/* Input that a tap of the kernels meets for a pixel of the output. */
const float *tapAt(const RealStep &step, const Convolution &conv, uint32_t oy, uint32_t ox,
		   uint32_t tap)
{
	const uint32_t columns = step.shape(1)[3];

	return pixelAt(step,
		       int64_t{ oy } * conv.stride.y + int64_t{ tap / columns } * conv.dilation.y -
			       conv.padding.top,
		       int64_t{ ox } * conv.stride.x + int64_t{ tap % columns } * conv.dilation.x -
			       conv.padding.left);
}

/* Depthwise convolution, vectorized over the adjacent channels. */
void depthwise(const RealStep &step, const Convolution &conv)
{
	const Extents &w = step.shape(1), &y = step.outShape();
	const uint32_t taps = w[2] * w[3], channels = w[0];
	const RealNumbers turned = kernelsInside(step.in(1), 0, channels, 1, taps);

	for (uint32_t oy = 0; oy < y[1]; oy++) {
		for (uint32_t ox = 0; ox < y[2]; ox++) {
			float *sums = &step.result[(size_t{ oy } * y[2] + ox) * channels];
			for (uint32_t tap = 0; tap < taps; tap++) {
				const float *from = tapAt(step, conv, oy, ox, tap);
				const float *row = &turned[size_t{ tap } * channels];
				for (uint32_t c = 0; from && c < channels; c++)
					sums[c] += from[c] * row[c];
			}
		}
	}
}

/* One group of a convolution, for a line of the output. */
void convolveLine(const RealStep &step, const Convolution &conv, const RealNumbers &turned,
		  uint32_t group, uint32_t oy)
{
	const Extents &w = step.shape(1), &y = step.outShape();
	const uint32_t kernels = w[0] / conv.groups, channels = w[1];
	const RealNumbers padding(channels);
	RealNumbers unused(kernels); /* sums behind the end of the line */

	for (uint32_t first = 0; first < y[2]; first += pixelsAtOnce) {
		ProductSums sums;
		for (uint32_t p = 0; p < pixelsAtOnce; p++)
			sums[p] = first + p < y[2]
					  ? &step.result[(size_t{ oy } * y[2] + first + p) * w[0] +
							 size_t{ group } * kernels]
					  : unused.data();
		for (uint32_t tap = 0; tap < w[2] * w[3]; tap++) {
			ProductInputs from;
			for (uint32_t p = 0; p < pixelsAtOnce; p++) {
				const float *pixel =
					tapAt(step, conv, oy, std::min(first + p, y[2] - 1), tap);
				from[p] =
					pixel ? pixel + size_t{ group } * channels : padding.data();
			}
			addProducts(from, sums, &turned[size_t{ tap } * channels * kernels],
				    channels, kernels);
		}
	}
}

struct PoolWindow {
	float sum = 0;
	float largest = -std::numeric_limits<float>::infinity();
	float smallest = std::numeric_limits<float>::infinity();
	uint32_t count = 0;
};

/* Adds the elements under a window, of each channel. */
void addWindow(const RealStep &step, const Pool &pool, uint32_t oy, uint32_t ox,
	       std::vector<PoolWindow> &windows)
{
	for (uint32_t tap = 0; tap < pool.kernel.x * pool.kernel.y; tap++) {
		const float *from = pixelAt(
			step,
			int64_t{ oy } * pool.stride.y + tap / pool.kernel.x - pool.padding.top,
			int64_t{ ox } * pool.stride.x + tap % pool.kernel.x - pool.padding.left);
		if (!from)
			continue;
		for (PoolWindow &window : windows) {
			window.sum += *from;
			window.largest = std::max(window.largest, *from);
			window.smallest = std::min(window.smallest, *from++);
			window.count++;
		}
	}
}

} /* namespace */

void compute(const RealStep &step, const Convolution &conv)
{
	const Extents &w = step.shape(1), &y = step.outShape();
	const uint32_t kernels = w[0] / conv.groups;

	if (conv.groups == w[0] && w[1] == 1) {
		depthwise(step, conv);
	} else {
		for (uint32_t group = 0; group < conv.groups; group++) {
			const RealNumbers turned = kernelsInside(step.in(1), group * kernels,
								 kernels, w[1], w[2] * w[3]);
			for (uint32_t oy = 0; oy < y[1]; oy++)
				convolveLine(step, conv, turned, group, oy);
		}
	}
	addBias(step, w[0]);
}

void compute(const RealStep &step, const TransposedConvolution &conv)
{
	const Extents &x = step.shape(0), &w = step.shape(1), &y = step.outShape();
	const RealNumbers turned = kernelsInside(step.in(1), 0, w[0], w[1], w[2] * w[3]);

	for (uint32_t iy = 0; iy < x[1]; iy++) {
		for (uint32_t ix = 0; ix < x[2]; ix++) {
			const float *from = pixelAt(step, iy, ix);
			for (uint32_t tap = 0; tap < w[2] * w[3]; tap++) {
				const int64_t oy = int64_t{ iy } * conv.stride.y + tap / w[3] -
						   conv.padding.top;
				const int64_t ox = int64_t{ ix } * conv.stride.x + tap % w[3] -
						   conv.padding.left;
				if (oy < 0 || ox < 0 || oy >= y[1] || ox >= y[2])
					continue;
				float *sums =
					&step.result[static_cast<size_t>(oy * y[2] + ox) * w[0]];
				const float *row = &turned[size_t{ tap } * w[1] * w[0]];
				for (uint32_t c = 0; c < w[1]; c++, row += w[0])
					for (uint32_t k = 0; k < w[0]; k++)
						sums[k] += from[c] * row[k];
			}
		}
	}
	addBias(step, w[0]);
}

void compute(const RealStep &step, const FullyConnected &)
{
	const uint32_t kernels = step.shape(1)[0], channels = step.shape(1)[1];

	const RealNumbers turned = kernelsInside(step.in(1), 0, kernels, channels, 1);
	const size_t rows = step.result.size() / kernels;
	RealNumbers unused(kernels);

	for (size_t first = 0; first < rows; first += pixelsAtOnce) {
		ProductInputs from;
		ProductSums sums;
		for (size_t p = 0; p < pixelsAtOnce; p++) {
			from[p] = &step.in(0)[std::min(first + p, rows - 1) * channels];
			sums[p] = first + p < rows ? &step.result[(first + p) * kernels]
						   : unused.data();
		}
		addProducts(from, sums, turned.data(), channels, kernels);
	}
	addBias(step, kernels);
}

void compute(const RealStep &step, const Product &product)
{
	const Matrices a(step.shape(0), product.besideA), b(step.shape(1), product.besideB);
	const Matrices y(step.outShape(), product.besideA);
	RealNumbers kernel(a.columns);

	for (uint32_t sample = 0; sample < y.samples; sample++)
		for (uint32_t matrix = 0; matrix < y.count; matrix++)
			for (uint32_t k = 0; k < y.columns; k++) {
				for (uint32_t c = 0; c < a.columns; c++)
					kernel[c] = step.in(
						1)[product.ofChannels ? b.at(sample, matrix, c, k)
								      : b.at(sample, matrix, k, c)];
				for (uint32_t row = 0; row < y.rows; row++) {
					const float *from =
						&step.in(0)[a.at(sample, matrix, row, 0)];
					step.result[y.at(sample, matrix, row, k)] =
						std::inner_product(kernel.begin(), kernel.end(),
								   from, 0.0F);
				}
			}
	addBias(step, y.columns);
}

void compute(const RealStep &step, const Pool &pool)
{
	const Extents &y = step.outShape();
	size_t at = 0;

	for (uint32_t oy = 0; oy < y[1]; oy++) {
		for (uint32_t ox = 0; ox < y[2]; ox++) {
			std::vector<PoolWindow> windows(y[3]);
			addWindow(step, pool, oy, ox, windows);
			for (const PoolWindow &window : windows) {
				const uint32_t count = pool.method == Pool::Method::Sum ? 1
						       : pool.countPadding
							       ? pool.kernel.x * pool.kernel.y
							       : std::max(window.count, 1U);
				step.result[at++] =
					pool.method == Pool::Method::Max ? window.largest
					: pool.method == Pool::Method::Min
						? window.smallest
						: window.sum / static_cast<float>(count);
			}
		}
	}
}

} /* namespace nvdla::compiler */
