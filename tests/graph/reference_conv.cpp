/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <array>
#include <cmath>

#include <nvdla/half.h>

#include "reference_sum.h"

namespace nvdla::test
{

namespace
{

/* Fields of 10 and 2 bits are at the top of 16 bits; the bits are a signed number. */
double fromPacked(double value, size_t channel)
{
	return static_cast<int16_t>(static_cast<int>(value) << (channel == 3 ? 14 : 6));
}

/* Pixels on their way into the convolution buffer (hardware notes, "Image"). */
Cube convertPixels(const op::Convolution &op, const Cube &in, DataType type)
{
	Cube out = Cube::like(in, type);
	const op::PixelConversion &pixels = op.pixels;
	const int bits = in.type == DataType::Int8 ? 8 : 16;
	const PixelFormatInfo *info = pixelFormatInfo(in.format);
	const bool packed = info && info->kind == PixelKind::Packed10;

	for (size_t at = 0; at < in.values.size(); at++) {
		const size_t c = at / (size_t{ in.h } * in.w) % in.c;
		double value = packed ? fromPacked(in.values[at], c) : in.values[at];
		if (in.type != DataType::Half && pixels.converter) {
			if (!pixels.signedPixels && value < 0)
				value += std::ldexp(1, bits);
			Converter converter = *pixels.converter;
			if (pixels.mean)
				converter.offset = (*pixels.mean)[c];
			const int64_t wide =
				saturate(convert(static_cast<int64_t>(value), converter), 17);
			value = static_cast<double>(wide);
			if (type == DataType::Half)
				value = toHalf(value);
			else
				value = static_cast<double>(
					saturate(wide, type == DataType::Int8 ? 8 : 16));
		}
		out.values[at] = value;
	}
	return out;
}

double padding(const op::Convolution &op, DataType type)
{
	return type == DataType::Half ? halfToFloat(static_cast<uint16_t>(op.padValue))
				      : op.padValue;
}

uint32_t outputSize(uint32_t in, uint32_t before, uint32_t after, uint32_t kernel, uint32_t stride,
		    uint32_t dilation)
{
	return (before + in + after - ((kernel - 1) * dilation + 1)) / stride + 1;
}

/* The input with its padding around it: element (c, y, x) counted from the padded corner. */
double padded(const op::Convolution &op, const Cube &in, uint32_t n, uint32_t c, uint32_t y,
	      uint32_t x)
{
	const bool inside = y >= op.padding.top && y - op.padding.top < in.h &&
			    x >= op.padding.left && x - op.padding.left < in.w;

	return inside ? in.at(n, c, y - op.padding.top, x - op.padding.left) : padding(op, in.type);
}

using Tile = std::array<std::array<double, 4>, 4>;

/* left * tile * left transposed, for 4 x 4 matrices; each product is rounded if asked for. */
template<typename Round>
Tile transform(const Tile &left, const Tile &tile, Round round)
{
	Tile half{};
	Tile out{};

	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < 4; j++) {
			for (size_t k = 0; k < 4; k++)
				half[i][j] += left[i][k] * tile[k][j];
			half[i][j] = round(half[i][j]);
		}
	}
	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < 4; j++) {
			for (size_t k = 0; k < 4; k++)
				out[i][j] += half[i][k] * left[j][k];
			out[i][j] = round(out[i][j]);
		}
	}
	return out;
}

double exact(double value)
{
	return value;
}

constexpr Tile winogradKernel = {
	{ { 1, 0, 0, 0 }, { 0.5, 0.5, 0.5, 0 }, { 0.5, -0.5, 0.5, 0 }, { 0, 0, 1, 0 } }
};
constexpr Tile winogradData = {
	{ { 1, 0, -1, 0 }, { 0, 1, 1, 0 }, { 0, -1, 1, 0 }, { 0, 1, 0, -1 } }
};
constexpr Tile winogradOutput = { { { 1, 1, 1, 0 }, { 0, 1, -1, -1 }, {}, {} } };

/* A 3x3 kernel as 4x4, in the type it is stored in. */
Tile transformedKernel(const GraphWeights &weights, const std::vector<double> &plain,
		       const op::Convolution &op, uint32_t k, uint32_t c, uint32_t iy, uint32_t ix)
{
	Tile tile{};

	for (uint32_t r = 0; r < 3; r++) {
		for (uint32_t s = 0; s < 3; s++) {
			const uint32_t y = r * op.stride.y + iy;
			const uint32_t x = s * op.stride.x + ix;
			if (y < weights.r && x < weights.s)
				tile[r][s] = plain[((size_t{ k } * weights.c + c) * weights.r + y) *
							   weights.s +
						   x];
		}
	}
	tile = transform(winogradKernel, tile, exact);
	for (auto &row : tile) {
		for (double &value : row) {
			value *= weights.winogradScale;
			if (weights.elements.type == DataType::Half)
				value = toHalf(value);
			else
				value = static_cast<double>(
					saturate(std::llround(value),
						 weights.elements.type == DataType::Int8 ? 8 : 16));
		}
	}
	return tile;
}

/* B' d B; integers are shifted and clipped, the adders of FP16 are those of FP17. */
Tile transformedData(const op::Convolution &op, const Tile &data, DataType type)
{
	const bool isFloat = type == DataType::Half;
	Tile tile = transform(winogradData, data, [&](double value) {
		return isFloat ? roundTo(value, fp17Bits) : value;
	});

	for (auto &row : tile) {
		for (double &value : row)
			value = isFloat ? toHalf(value)
					: static_cast<double>(
						  saturate(shiftRight(static_cast<int64_t>(value),
								      op.winogradShift),
							   type == DataType::Int8 ? 8 : 16));
	}
	return tile;
}

/* Winograd: out = A' (sum over channels of U * (B' d B >> PRA)) A, in tiles of 2 x 2. */
void winogradTile(const op::Convolution &op, const Cube &in, const GraphWeights &weights,
		  const std::vector<double> &plain, uint32_t k, uint32_t ty, uint32_t tx, Cube &out)
{
	const bool isFloat = in.type == DataType::Half;
	const uint32_t firstC = k / (weights.k / op.groups) * weights.c;
	Tile sum{};
	Sum bound;

	for (uint32_t iy = 0; iy < op.stride.y; iy++) {
		for (uint32_t ix = 0; ix < op.stride.x; ix++) {
			for (uint32_t c = 0; c < weights.c; c++) {
				Tile data{};
				for (uint32_t y = 0; y < 4; y++) {
					for (uint32_t x = 0; x < 4; x++)
						data[y][x] = padded(op, in, 0, firstC + c,
								    (ty + y) * op.stride.y + iy,
								    (tx + x) * op.stride.x + ix);
				}
				data = transformedData(op, data, in.type);
				const Tile kernel =
					transformedKernel(weights, plain, op, k, c, iy, ix);
				for (size_t y = 0; y < 4; y++) {
					for (size_t x = 0; x < 4; x++) {
						const double value = data[y][x];
						bound.add(value, kernel[y][x], isFloat);
						sum[y][x] += value * kernel[y][x];
					}
				}
			}
		}
	}
	sum = transform(winogradOutput, sum, exact);
	for (uint32_t y = 0; y < 2; y++) {
		for (uint32_t x = 0; x < 2; x++) {
			const size_t at = out.index(0, k, ty + y, tx + x);
			out.values[at] = deliver(op.accumulatorShift, sum[y][x], isFloat);
			if (isFloat)
				out.tolerance[at] =
					std::ldexp(18.0 * weights.c * op.stride.x * op.stride.y * 2,
						   bound.maxExponent - 20);
		}
	}
}

void direct(const op::Convolution &op, const Cube &in, const GraphWeights &weights,
	    const std::vector<double> &plain, Cube &out)
{
	const bool isFloat = in.type == DataType::Half;

	for (size_t at = 0; at < out.values.size(); at++) {
		const auto x = static_cast<uint32_t>(at % out.w);
		const auto y = static_cast<uint32_t>(at / out.w % out.h);
		const auto k = static_cast<uint32_t>(at / out.w / out.h % out.c);
		const auto n = static_cast<uint32_t>(at / out.w / out.h / out.c);
		const double *weight = &plain[size_t{ k } * weights.c * weights.r * weights.s];
		const uint32_t firstC = k / (weights.k / op.groups) * weights.c;
		Sum sum;
		for (uint32_t c = 0; c < weights.c; c++) {
			for (uint32_t r = 0; r < weights.r; r++) {
				for (uint32_t s = 0; s < weights.s; s++)
					sum.add(padded(op, in, n, firstC + c,
						       y * op.stride.y + r * op.dilation.y,
						       x * op.stride.x + s * op.dilation.x),
						*weight++, isFloat);
			}
		}
		out.values[at] = deliver(op.accumulatorShift, sum.value, isFloat);
		if (isFloat)
			out.tolerance[at] = std::ldexp(2.0 * weights.c * weights.r * weights.s,
						       sum.maxExponent - 20);
	}
}

} /* namespace */

Cube convolve(const op::Convolution &op, const Cube &in, const GraphWeights &weights)
{
	const Cube data = convertPixels(op, in, weights.elements.type);
	const std::vector<double> plain = numbers(weights.elements);
	Cube out = Cube::of(data.type, in.n, weights.k,
			    outputSize(in.h, op.padding.top, op.padding.bottom, weights.r,
				       op.stride.y, op.dilation.y),
			    outputSize(in.w, op.padding.left, op.padding.right, weights.s,
				       op.stride.x, op.dilation.x));
	if (data.type == DataType::Half)
		out.tolerance.resize(out.values.size());
	if (!op.winograd) {
		direct(op, data, weights, plain, out);
		return out;
	}
	for (uint32_t k = 0; k < out.c; k++) {
		for (uint32_t y = 0; y < out.h; y += 2) {
			for (uint32_t x = 0; x < out.w; x += 2)
				winogradTile(op, data, weights, plain, k, y, x, out);
		}
	}
	return out;
}

} /* namespace nvdla::test */
