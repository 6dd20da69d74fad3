/* SPDX-License-Identifier: MIT */
#include "plain_convolution.h"

#include <bit>

#include <gtest/gtest.h>

namespace nvdla::test
{

namespace
{

/* The definition of a convolution. */
double convolve(const PlainData &data, const WeightDesc &desc, const std::vector<float> &weights,
		const PlainWindow &window, uint32_t k, uint32_t y, uint32_t x)
{
	double sum = 0;

	for (uint32_t c = 0; c < desc.channels; c++)
		for (uint32_t r = 0; r < desc.height; r++)
			for (uint32_t s = 0; s < desc.width; s++)
				sum += weightAt(desc, weights, k, c, r, s) *
				       data.at(c, int64_t{ y } * window.strideY + r - window.padTop,
					       int64_t{ x } * window.strideX + s - window.padLeft);
	return sum;
}

} /* namespace */

double PlainData::at(uint32_t channel, int64_t y, int64_t x) const
{
	if (y < 0 || x < 0 || y >= h || x >= w)
		return 0;
	return v[(size_t{ channel } * h + static_cast<size_t>(y)) * w + static_cast<size_t>(x)];
}

PlainData randomData(Random &random, uint32_t c, uint32_t h, uint32_t w, int32_t limit)
{
	return { c, h, w, random.numbers(size_t{ c } * h * w, limit) };
}

double weightAt(const WeightDesc &desc, const std::vector<float> &weights, uint32_t k, uint32_t c,
		uint32_t r, uint32_t s)
{
	return weights[((size_t{ k } * desc.channels + c) * desc.height + r) * desc.width + s];
}

void expectConvolution(const std::vector<int32_t> &output, DataType type, const WeightDesc &desc,
		       const std::vector<float> &weights, const PlainData &data,
		       const PlainWindow &window, uint32_t outHeight, uint32_t outWidth,
		       double scale)
{
	ASSERT_EQ(output.size(), size_t{ desc.kernels } * outHeight * outWidth);
	size_t i = 0;
	for (uint32_t k = 0; k < desc.kernels; k++) {
		for (uint32_t y = 0; y < outHeight; y++) {
			for (uint32_t x = 0; x < outWidth; x++, i++) {
				const double got = type == DataType::Half
							   ? std::bit_cast<float>(output[i])
							   : output[i];
				ASSERT_EQ(got,
					  scale * convolve(data, desc, weights, window, k, y, x))
					<< desc.describe() << " k " << k << " y " << y << " x "
					<< x;
			}
		}
	}
}

} /* namespace nvdla::test */
