/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <nvdla/half.h>

namespace nvdla::test
{

Cube Cube::of(DataType type, uint32_t n, uint32_t c, uint32_t h, uint32_t w)
{
	Cube cube{ type, n, c, h, w, {}, {}, PixelFormat::Feature };

	cube.values.resize(size_t{ n } * c * h * w);
	return cube;
}

Cube Cube::like(const Cube &other, DataType type)
{
	return of(type, other.n, other.c, other.h, other.w);
}

std::vector<double> numbers(const Elements &elements)
{
	const std::vector<float> floats = elementsToFloat(elements.type, elements.bytes);

	return { floats.begin(), floats.end() };
}

int64_t shiftRight(int64_t value, int shift)
{
	if (shift == 0)
		return value;
	const auto magnitude = static_cast<uint64_t>(std::abs(value));
	const auto shifted =
		static_cast<int64_t>((magnitude + (uint64_t{ 1 } << (shift - 1))) >> shift);
	return value < 0 ? -shifted : shifted;
}

int64_t saturate(int64_t value, int bits)
{
	const int64_t limit = int64_t{ 1 } << (bits - 1);

	return std::clamp(value, -limit, limit - 1);
}

int64_t convert(int64_t x, const Converter &converter)
{
	return shiftRight((x - converter.offset) * converter.scale, converter.shift);
}

double roundTo(double value, int bits)
{
	int exponent;
	const double mantissa = std::frexp(value, &exponent);

	return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)), exponent - bits);
}

double toHalf(double value)
{
	constexpr double largest = 65504;

	return halfToFloat(floatToHalf(static_cast<float>(std::clamp(value, -largest, largest))));
}

Cube contract(const op::Contract &op, const Cube &in)
{
	const uint32_t channels = in.c / (op.stride.x * op.stride.y);
	Cube out = Cube::of(in.type, 1, channels, in.h * op.stride.y, in.w * op.stride.x);

	for (uint32_t c = 0; c < channels; c++) {
		for (uint32_t y = 0; y < out.h; y++) {
			for (uint32_t x = 0; x < out.w; x++) {
				const uint32_t phase =
					y % op.stride.y * op.stride.x + x % op.stride.x;
				out.values[out.index(0, c, y, x)] = in.at(
					0, phase * channels + c, y / op.stride.y, x / op.stride.x);
			}
		}
	}
	return out;
}

namespace
{

struct Runner {
	const Constants &constants;
	std::map<std::string, Cube> &surfaces;

	void operator()(const op::Convolution &op) const
	{
		surfaces[op.output] =
			convolve(op, surfaces.at(op.input), constants.weights.at(op.weights));
	}
	void operator()(const op::Sdp &op) const
	{
		const Cube &in = surfaces.at(op.input);
		const DataType type = op.type == DataType::Unknown ? in.type : op.type;
		surfaces[op.output] = applySdp(op, in, type, constants, surfaces);
	}
	void operator()(const op::Deconvolution &op) const
	{
		surfaces[op.output] =
			deconvolve(op, surfaces.at(op.input), constants.weights.at(op.weights));
	}
	/* Its result is no surface: compare_check.cpp. */
	void operator()(const op::Compare &) const {}
	void operator()(const op::Pooling &op) const
	{
		surfaces[op.output] = pool(op, surfaces.at(op.input));
	}
	void operator()(const op::Normalization &op) const
	{
		surfaces[op.output] =
			normalize(op, surfaces.at(op.input), constants.luts.at(op.lut));
	}
	void operator()(const op::Contract &op) const
	{
		surfaces[op.output] = contract(op, surfaces.at(op.input));
	}
	void operator()(const op::SplitPlanes &op) const
	{
		surfaces[op.output] = surfaces.at(op.input);
	}
	void operator()(const op::MergePlanes &op) const
	{
		surfaces[op.output] = surfaces.at(op.input);
	}
	void operator()(const op::Copy &op) const
	{
		for (const op::Copy::Transfer &transfer : op.transfers)
			surfaces[transfer.output] = surfaces.at(transfer.input);
	}
	/* y[c] = exp(x[c]) / sum of exp(x) over the channels of a pixel. */
	void operator()(const op::Softmax &op) const
	{
		const Cube &in = surfaces.at(op.input);
		Cube out = Cube::like(in, in.type);
		const size_t plane = size_t{ in.h } * in.w;
		for (size_t pixel = 0; pixel < plane; pixel++) {
			double most = in.values[pixel];
			for (uint32_t c = 1; c < in.c; c++)
				most = std::max(most, in.values[pixel + c * plane]);
			auto power = [&](uint32_t c) {
				return std::exp((in.values[pixel + c * plane] - most) *
						inScale(in, op));
			};
			double sum = 0;
			for (uint32_t c = 0; c < in.c; c++)
				sum += power(c);
			for (uint32_t c = 0; c < in.c; c++)
				out.values[pixel + c * plane] = write(power(c) / sum, out, op);
		}
		allowOneStep(out);
		surfaces[op.output] = std::move(out);
	}
	/* Elements are counted in the order H, W, C. */
	void operator()(const op::Reshape &op) const
	{
		const Cube &in = surfaces.at(op.input);
		Cube out = surfaces.at(op.output);
		for (size_t i = 0; i < in.values.size(); i++) {
			auto at = [i](const Cube &cube) {
				const size_t plane = size_t{ cube.h } * cube.w;
				return i % cube.c * plane + i / cube.c;
			};
			out.values[at(out)] = in.values[at(in)];
		}
		surfaces[op.output] = std::move(out);
	}
	/* Only graphs of models have these two. */
	void operator()(const op::OverChannels &) const { std::abort(); }
	void operator()(const op::PackWeights &) const { std::abort(); }
	void operator()(const op::Unary &op) const
	{
		const Cube &in = surfaces.at(op.input);
		Cube out = Cube::like(in, in.type);
		for (size_t i = 0; i < in.values.size(); i++) {
			const double x = op.shift + op.scale * in.values[i] * inScale(in, op);
			out.values[i] = write(function(op, x), out, op);
		}
		allowOneStep(out);
		surfaces[op.output] = std::move(out);
	}

private:
	/* Those that graphs of these tests have. */
	static double function(const op::Unary &op, double x)
	{
		switch (op.function) {
		case ElementFunction::Power:
			return std::pow(x, op.parameter);
		case ElementFunction::Sin:
			return std::sin(x);
		case ElementFunction::Asinh:
			return std::log(x + std::sqrt(x * x + 1));
		case ElementFunction::Atan:
			return std::atan2(x, 1);
		default:
			std::abort();
		}
	}
	template<typename Op>
	static double inScale(const Cube &in, const Op &op)
	{
		return in.type == DataType::Half ? 1.0 : op.inScale;
	}
	template<typename Op>
	static double write(double value, const Cube &out, const Op &op)
	{
		if (out.type == DataType::Half)
			return toHalf(value);
		return static_cast<double>(saturate(std::llround(value / op.outScale),
						    out.type == DataType::Int8 ? 8 : 16));
	}
	/* The CPU computes in single precision: the last step may differ. */
	static void allowOneStep(Cube &out)
	{
		for (double value : out.values)
			out.tolerance.push_back(
				out.type == DataType::Half
					? std::ldexp(1.0, std::ilogb(value + 1e-7) - 10)
					: 1.0);
	}
};

/* The operation sees zero where there is NaN; constants of these tests have none. */
template<typename Op>
void runFlushed(const Op &op, const Constants &constants, std::map<std::string, Cube> &surfaces)
{
	std::map<std::string, Cube> flushed = surfaces;

	for (auto &[name, cube] : flushed)
		std::ranges::replace_if(
			cube.values, [](double value) { return std::isnan(value); }, 0.0);
	Runner{ constants, flushed }(op);
	surfaces[op.output] = std::move(flushed.at(op.output));
}

} /* namespace */

void run(const op::Any &operation, const Constants &constants,
	 std::map<std::string, Cube> &surfaces)
{
	std::visit(
		[&](const auto &op) {
			if constexpr (requires { op.nanToZero; }) {
				if (op.nanToZero)
					return runFlushed(op, constants, surfaces);
			}
			Runner{ constants, surfaces }(op);
		},
		operation);
}

} /* namespace nvdla::test */
