/* SPDX-License-Identifier: MIT */
/*
 * Weights in the Winograd domain.
 */
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/core.h>

#include "base/io/guarded.h"
#include "weight_desc.h"

namespace nvdla
{

namespace
{

constexpr uint32_t side = 3; /* side of a kernel */
constexpr uint32_t tile = 4; /* side of a transformed kernel */
constexpr uint32_t cubeChannels = 4;
constexpr float maxHalf = 65504.0f;

using Kernel = std::array<double, side * side>;
using Tile = std::array<double, tile * tile>;

/* Returns G W G^T of NVDLA's in-memory format document, where W is the kernel: G is applied to
 * columns, then to lines. */
Tile transform(const Kernel &w)
{
	static constexpr double g[tile][side] = {
		{ 1, 0, 0 }, { 0.5, 0.5, 0.5 }, { 0.5, -0.5, 0.5 }, { 0, 0, 1 }
	};
	Tile out{};

	for (uint32_t y = 0; y < tile; y++)
		for (uint32_t x = 0; x < tile; x++)
			for (uint32_t r = 0; r < side; r++)
				for (uint32_t s = 0; s < side; s++)
					out[y * tile + x] += g[y][r] * w[r * side + s] * g[x][s];
	return out;
}

/* Returns W for U = G W G^T, by a left inverse of G that uses G's simple rows: w0 = u0, w1 = u1 -
 * u2, w2 = u3. */
Kernel inverse(const Tile &u)
{
	static constexpr double h[side][tile] = { { 1, 0, 0, 0 }, { 0, 1, -1, 0 }, { 0, 0, 0, 1 } };
	Kernel out{};

	for (uint32_t r = 0; r < side; r++)
		for (uint32_t s = 0; s < side; s++)
			for (uint32_t y = 0; y < tile; y++)
				for (uint32_t x = 0; x < tile; x++)
					out[r * side + s] += h[r][y] * u[y * tile + x] * h[s][x];
	return out;
}

/* Maps taps of an extended kernel to those of the plain kernel. Extension turns a kernel with
 * strides into one of 3 x 3 taps with more channels. */
class Extension
{
public:
	Extension(const CoreGeometry &geometry, const WeightDesc &desc,
		  const WinogradParams &params)
		: desc_(desc), params_(params),
		  filled_(static_cast<uint32_t>(
			  alignUp(desc.channels, geometry.atomChannels(desc.type))))
	{
	}

	uint32_t channels() const { return filled_ * params_.strideX * params_.strideY; }

	/*
	 * Calls visit(tap of the 3x3 kernel, index of the plain element) for the taps that the
	 * plain kernel has.
	 */
	template<typename Visit>
	void forEachTap(uint32_t kernel, uint32_t channel, Visit visit) const
	{
		const uint32_t c = channel % filled_;
		const uint32_t ix = channel / filled_ % params_.strideX;
		const uint32_t iy = channel / filled_ / params_.strideX;

		if (c >= desc_.channels)
			return;
		const uint64_t plane =
			(uint64_t{ kernel } * desc_.channels + c) * desc_.height * desc_.width;
		for (uint32_t r = 0; r < side; r++) {
			const uint32_t y = r * params_.strideY + iy;
			for (uint32_t s = 0; s < side; s++) {
				const uint32_t x = s * params_.strideX + ix;
				if (y < desc_.height && x < desc_.width)
					visit(r * side + s,
					      plane + uint64_t{ y } * desc_.width + x);
			}
		}
	}

private:
	const WeightDesc &desc_;
	const WinogradParams &params_;
	uint32_t filled_;
};

/* Calls visit(kernel, channel, index of the first packed element of this channel's tile). The other
 * elements of the tile follow at distances of cubeChannels. */
template<typename Visit>
void forEachKernel(const CoreGeometry &geometry, const WeightDesc &seen, Visit visit)
{
	const uint32_t group = geometry.groupKernels(seen.type);
	uint64_t cube = 0;

	for (uint32_t k0 = 0; k0 < seen.kernels; k0 += group) {
		const uint32_t kEnd = std::min(k0 + group, seen.kernels);
		for (uint32_t c0 = 0; c0 < seen.channels; c0 += cubeChannels) {
			for (uint32_t k = k0; k < kEnd; k++, cube += tile * tile * cubeChannels)
				for (uint32_t c = 0; c < cubeChannels; c++)
					visit(k, c0 + c, cube + c);
		}
	}
}

Result<WeightDesc> check(const CoreGeometry &geometry, const WeightDesc &desc,
			 const WinogradParams &params, const char *what, uint64_t have,
			 uint64_t need, const char *unit)
{
	auto checked = checkWeights(desc, what, have, need, unit);
	if (!checked)
		return forward(checked);
	return winogradKernel(geometry, desc, params);
}

} /* namespace */

Result<WeightDesc> winogradKernel(const CoreGeometry &geometry, const WeightDesc &desc,
				  const WinogradParams &params)
{
	constexpr const char *what = "extend Winograd kernel";
	return guarded(what, [&]() -> Result<WeightDesc> {
		constexpr uint32_t maxStride = 8; /* the register has three bits, for stride - 1 */
		auto checked = checkWeights(desc, what);
		if (!checked)
			return forward(checked);

		for (auto [stride, size] : { std::pair{ params.strideX, desc.width },
					     std::pair{ params.strideY, desc.height } }) {
			if (stride < 1 || stride > maxStride ||
			    (size + stride - 1) / stride != side)
				return fail(
					ErrorCode::Unsupported, what, "weights " + desc.describe(),
					fmt::format(
						"size {} at stride {}: their quotient, rounded up, "
						"must be {}",
						size, stride, side));
		}
		if (!(params.scale > 0.0f) || !std::isfinite(params.scale))
			return fail(ErrorCode::InvalidArgument, what, "weights " + desc.describe(),
				    fmt::format("scale is {}, must be positive", params.scale));

		const WeightDesc seen{ desc.type, desc.kernels,
				       Extension(geometry, desc, params).channels(), tile, tile };
		checked = checkWeights(seen, what);
		if (!checked)
			return forward(checked);
		return seen;
	});
}

Result<float> winogradScale(const CoreGeometry &geometry, const WeightDesc &desc,
			    const WinogradParams &params, std::span<const float> weights)
{
	return guarded("winograd scale", [&]() -> Result<float> {
		auto seen = check(geometry, desc, params, "scale Winograd weights", weights.size(),
				  desc.elements(), "elements");
		if (!seen)
			return forward(seen);

		const Extension extension(geometry, desc, params);
		double largest = 0;
		forEachKernel(geometry, *seen, [&](uint32_t kernel, uint32_t channel, uint64_t) {
			Kernel w{};
			extension.forEachTap(kernel, channel, [&](uint32_t tap, uint64_t at) {
				w[tap] = weights[at];
			});
			for (double u : transform(w))
				largest = std::max(largest, std::fabs(u));
		});

		if (largest == 0)
			return 1.0f;
		if (desc.type == DataType::Half)
			return largest <= maxHalf ? 1.0f : static_cast<float>(maxHalf / largest);
		const double limit = desc.type == DataType::Int8 ? 127 : 32767;
		/* Round the scale down, so that the largest weight does not get above the limit. */
		return std::nextafter(static_cast<float>(limit / largest), 0.0f);
	});
}

Result<std::vector<std::byte>> packWinogradWeights(const CoreGeometry &geometry,
						   const WeightDesc &desc,
						   const WinogradParams &params,
						   std::span<const float> weights)
{
	return guarded("pack winograd weights", [&]() -> Result<std::vector<std::byte>> {
		auto seen = check(geometry, desc, params, "pack Winograd weights", weights.size(),
				  desc.elements(), "elements");
		if (!seen)
			return forward(seen);

		const Extension extension(geometry, desc, params);
		const uint64_t bytes = elementBytes(desc.type);
		std::vector<std::byte> packed(packedWeightBytes(geometry, *seen));
		forEachKernel(
			geometry, *seen, [&](uint32_t kernel, uint32_t channel, uint64_t first) {
				Kernel w{};
				std::array<float, tile * tile> scaled;

				extension.forEachTap(
					kernel, channel,
					[&](uint32_t tap, uint64_t at) { w[tap] = weights[at]; });
				const Tile u = transform(w);
				std::transform(
					u.begin(), u.end(), scaled.begin(), [&](double value) {
						return static_cast<float>(value * params.scale);
					});
				const auto elements = elementsFromFloat(desc.type, scaled);
				for (uint64_t i = 0; i < u.size(); i++)
					std::memcpy(&packed[(first + i * cubeChannels) * bytes],
						    &elements[i * bytes], bytes);
			});
		return packed;
	});
}

Result<std::vector<float>> unpackWinogradWeights(const CoreGeometry &geometry,
						 const WeightDesc &desc,
						 const WinogradParams &params,
						 std::span<const std::byte> packed)
{
	return guarded("unpack winograd weights", [&]() -> Result<std::vector<float>> {
		auto seen = winogradKernel(geometry, desc, params);
		if (!seen)
			return forward(seen);
		const uint64_t need = seen->elements() * elementBytes(desc.type);
		auto checked = checkWeights(*seen, "unpack Winograd weights",
					    std::min<uint64_t>(packed.size(), need), need);
		if (!checked)
			return forward(checked);

		const Extension extension(geometry, desc, params);
		const std::vector<float> elements = elementsToFloat(desc.type, packed.first(need));
		std::vector<float> weights(desc.elements());
		forEachKernel(
			geometry, *seen, [&](uint32_t kernel, uint32_t channel, uint64_t first) {
				Tile u;

				for (uint64_t i = 0; i < u.size(); i++)
					u[i] = elements[first + i * cubeChannels];
				const Kernel w = inverse(u);
				extension.forEachTap(
					kernel, channel, [&](uint32_t tap, uint64_t at) {
						weights[at] =
							static_cast<float>(w[tap] / params.scale);
					});
			});
		return weights;
	});
}

} /* namespace nvdla */
