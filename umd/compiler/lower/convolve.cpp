/* SPDX-License-Identifier: MIT */
#include "kernels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>
#include <nvdla/core_geometry.h>

namespace nvdla::compiler
{

namespace
{

/* Of one convolution: which groups, and which channels these are. */
struct Tile {
	uint32_t firstGroup;
	uint32_t groups;
	uint32_t firstC, c;
	uint32_t firstK, k;
};

std::vector<Tile> tilesOf(const Kernels &kernels, uint32_t groups, DataType in, DataType out)
{
	const uint32_t atomC = nvFull.atomChannels(in), atomK = nvFull.atomChannels(out);
	const uint32_t kPerGroup = kernels.k / groups;
	/* As few groups as make both channels and kernels whole atoms. */
	const uint32_t forC = std::lcm(kernels.c, atomC) / kernels.c;
	const uint32_t forK = std::lcm(kPerGroup, atomK) / kPerGroup;
	const uint32_t together = groups == 1 ? 1 : std::min(std::lcm(forC, forK), groups);
	std::vector<Tile> tiles;

	for (uint32_t first = 0; first < groups; first += together) {
		const uint32_t count = std::min(together, groups - first);
		tiles.push_back({ first, count, first * kernels.c, count * kernels.c,
				  first * kPerGroup, count * kPerGroup });
	}
	return tiles;
}

Elements elementsOf(const std::vector<double> &numbers, DataType type)
{
	if (type == DataType::Half)
		return Elements::half(std::vector<float>(numbers.begin(), numbers.end()));
	if (type == DataType::Int8)
		return Elements::of(std::vector<int8_t>(numbers.begin(), numbers.end()));
	return Elements::of(std::vector<int16_t>(numbers.begin(), numbers.end()));
}

GraphWeights weightsOf(const Kernels &kernels, const Tile &tile, DataType type,
		       const std::string &name)
{
	const size_t plane = size_t{ kernels.r } * kernels.s;
	const uint32_t kPerGroup = tile.k / tile.groups;
	std::vector<double> numbers(size_t{ tile.k } * tile.c * plane);

	for (uint32_t k = 0; k < tile.k; k++) {
		const uint32_t firstC = k / kPerGroup * kernels.c;
		for (uint32_t c = 0; c < kernels.c; c++) {
			for (size_t rs = 0; rs < plane; rs++)
				numbers[(size_t{ k } * tile.c + firstC + c) * plane + rs] =
					kernels.at(tile.firstK + k, c, rs);
		}
	}
	return { .name = name,
		 .k = tile.k,
		 .c = tile.c,
		 .r = kernels.r,
		 .s = kernels.s,
		 .elements = elementsOf(numbers, type) };
}

/* What becomes of the sums of a tile. */
struct Scaling {
	uint8_t truncated; /* bits, in the accumulator */
	Affine function;   /* SDP's */
};

/* VTA, "CONV2D operator"; precision, "offset". */
Scaling scalingOf(const Lowerer &lowerer, const Kernels &kernels, const ConvolutionPass &pass,
		  const Tile &tile)
{
	const bool half = lowerer.storage(pass.input) == DataType::Half;
	const Quantization in = half ? Quantization{} : lowerer.quantization(pass.input);
	const uint8_t truncated =
		half ? uint8_t{ 0 }
		     : excessBits(kernels, tile.firstK, tile.k, in, lowerer.range(pass.input));
	const Quantization out = half ? Quantization{} : lowerer.quantization(pass.output);
	const size_t kernel = size_t{ kernels.c } * kernels.r * kernels.s;
	const Cube shape{ tile.k, pass.factorShape.h, pass.factorShape.w };
	Affine affine{ {}, {}, shape, pass.activation };

	for (uint32_t k = tile.firstK; k < tile.firstK + tile.k; k++) {
		const double *elements = &kernels.elements[k * kernel];
		const double step = in.scale * kernels.scales[k];
		const double sum = std::accumulate(elements, elements + kernel, 0.0);
		const double zero = pass.keepsZero ? 0 : in.zeroPoint;
		const double bias = kernels.bias[k] / step - zero * sum;
		for (const double factor : pass.factors) {
			affine.bias.push_back(std::ldexp(bias, -truncated));
			affine.scale.push_back(std::ldexp(step * factor / out.scale, truncated));
		}
	}
	return { truncated, std::move(affine) };
}

} /* namespace */

uint8_t excessBits(const Kernels &kernels, uint32_t first, uint32_t k, const Quantization &in,
		   DataType range)
{
	const IntegerLimits limits = integerLimits(range);
	const auto zero = static_cast<double>(in.zeroPoint);
	const double largest = std::max(std::fabs(static_cast<double>(limits.lowest)),
					std::fabs(static_cast<double>(limits.highest))) +
			       std::fabs(zero);
	const size_t kernel = size_t{ kernels.c } * kernels.r * kernels.s;
	double most = 0;

	for (uint32_t one = first; one < first + k; one++) {
		double sum = 0;
		for (size_t i = 0; i < kernel; i++)
			sum += std::fabs(kernels.elements[one * kernel + i]);
		most = std::max(most, sum * largest);
	}
	uint8_t bits = 0;
	while (std::ldexp(most, -bits) > INT32_MAX)
		bits++;
	return bits;
}

GraphWeights weightsOf(const Kernels &kernels, DataType type, const std::string &name)
{
	return weightsOf(kernels, { 0, 1, 0, kernels.c, 0, kernels.k }, type, name);
}

Kernels selection(uint32_t c, const std::vector<int64_t> &channels)
{
	Kernels kernels{ .k = static_cast<uint32_t>(channels.size()), .c = c, .r = 1, .s = 1 };

	kernels.elements.resize(channels.size() * c);
	kernels.scales.assign(channels.size(), 1.0);
	kernels.bias.assign(channels.size(), 0.0);
	for (size_t k = 0; k < channels.size(); k++) {
		if (channels[k] >= 0)
			kernels.elements[k * c + static_cast<size_t>(channels[k])] = 1;
	}
	return kernels;
}

void convolve(Lowerer &lowerer, const Kernels &kernels, const ConvolutionPass &pass)
{
	const DataType type = lowerer.storage(pass.input);
	const Cube in = pass.from.empty() ? lowerer.cube(pass.input) : pass.in;
	const std::string surface = pass.from.empty() ? lowerer.surface(pass.input) : pass.from;
	const bool half = type == DataType::Half;
	const Quantization quantization = half ? Quantization{} : lowerer.quantization(pass.input);

	/* A window that is all there is has no stride; poolings may have one beyond the core's. */
	const op::Axes stride{
		in.w + pass.padding.left + pass.padding.right == kernels.s ? 1 : pass.stride.x,
		in.h + pass.padding.top + pass.padding.bottom == kernels.r ? 1 : pass.stride.y
	};

	const std::vector<Tile> tiles =
		tilesOf(kernels, pass.groups, type, lowerer.storage(pass.output));
	std::vector<Scaling> scalings;
	for (const Tile &tile : tiles)
		scalings.push_back(scalingOf(lowerer, kernels, pass, tile));
	std::optional<Residual> residual;
	if (pass.canSum && tiles.size() == 1 && pass.activation.isNone())
		residual = lowerer.residualOf(pass.out, scalings.front().function);
	const ValueId result = residual ? residual->output : pass.output;
	lowerer.setCube(result, pass.out);
	const std::string output = lowerer.write(result);
	for (size_t i = 0; i < tiles.size(); i++) {
		const Tile &tile = tiles[i];
		const bool all = tiles.size() == 1;
		const Cube tileIn{ tile.c, in.h, in.w };
		const Cube tileOut{ tile.k, pass.out.h, pass.out.w };
		const std::string name = lowerer.step("convolution");
		const std::string weights = lowerer.unique(name + " kernels");
		lowerer.graph.weights(weightsOf(kernels, tile, type, weights));
		op::Convolution conv{
			.name = name,
			.input = all ? surface
				     : lowerer.part({ surface, tile.firstC, 0, 0 }, tileIn),
			.weights = weights,
			.output = lowerer.unique(name + " sums"),
			.stride = stride,
			.dilation = pass.dilation,
			.padding = pass.padding,
			.padValue = static_cast<int16_t>(
				half || pass.keepsZero ? 0 : quantization.zeroPoint),
			.accumulatorShift = scalings[i].truncated,
		};
		lowerer.add(conv);
		Lowerer::Stage stage = lowerer.stage(
			lowerer.step("scale"), conv.output, type,
			all ? output : lowerer.part({ output, tile.firstK, 0, 0 }, tileOut),
			result);
		stage.cube = tileOut;
		stage.stream = true;
		stage.keepsZero = pass.keepsZero;
		if (residual)
			lowerer.sum(stage, scalings[i].function, *residual);
		else
			lowerer.affine(stage, scalings[i].function);
	}
}

} /* namespace nvdla::compiler */
