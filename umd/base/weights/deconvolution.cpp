/* SPDX-License-Identifier: MIT */
#include <cstring>

#include <fmt/core.h>

#include "base/io/guarded.h"
#include "weight_desc.h"

namespace nvdla
{

namespace
{

WeightDesc setDesc(const WeightDesc &desc, uint32_t strideX, uint32_t strideY)
{
	return { desc.type, desc.kernels, desc.channels, (desc.height + strideY - 1) / strideY,
		 (desc.width + strideX - 1) / strideX };
}

/* Rubik's D_DECONV_STRIDE fields have five bits and hold stride - 1. */
constexpr uint32_t maxStride = 32;

Result<void> checkStrides(const WeightDesc &desc, uint32_t strideX, uint32_t strideY,
			  const char *what)
{
	for (uint32_t stride : { strideX, strideY }) {
		if (stride < 1 || stride > maxStride)
			return fail(
				ErrorCode::InvalidArgument, what, "weights " + desc.describe(),
				fmt::format("stride is {}, must be 1 to {}", stride, maxStride));
	}
	return {};
}

/*
 * Calls move(byte offset in the whole kernels, set, byte offset in the set) for every element. A
 * set of kernels has the taps of one phase of the stride: tap i of phase p is tap p + stride * i of
 * the whole kernel. The taps of a set are stored in reverse order.
 */
template<typename Move>
void forEachTap(const WeightDesc &desc, uint32_t strideX, uint32_t strideY, Move move)
{
	const WeightDesc set = setDesc(desc, strideX, strideY);
	const uint64_t bytes = elementBytes(desc.type);
	const uint64_t planes = uint64_t{ desc.kernels } * desc.channels;
	uint64_t from = 0;

	for (uint64_t plane = 0; plane < planes; plane++) {
		for (uint32_t r = 0; r < desc.height; r++) {
			const uint64_t line = plane * set.height + (set.height - 1 - r / strideY);
			for (uint32_t s = 0; s < desc.width; s++, from += bytes) {
				const uint64_t to =
					line * set.width + (set.width - 1 - s / strideX);
				move(from, (r % strideY) * strideX + s % strideX, to * bytes);
			}
		}
	}
}

} /* namespace */

Result<DeconvolutionSets> splitDeconvolution(const WeightDesc &desc, uint32_t strideX,
					     uint32_t strideY, std::span<const std::byte> weights)
{
	constexpr const char *what = "split deconvolution";
	return guarded(what, [&]() -> Result<DeconvolutionSets> {
		const uint64_t bytes = elementBytes(desc.type);
		auto checked = checkWeights(desc, what, weights.size(), desc.elements() * bytes);
		if (!checked)
			return forward(checked);
		checked = checkStrides(desc, strideX, strideY, what);
		if (!checked)
			return forward(checked);

		DeconvolutionSets split;
		split.desc = setDesc(desc, strideX, strideY);
		split.sets.assign(size_t{ strideX } * strideY,
				  std::vector<std::byte>(split.desc.elements() * bytes));
		forEachTap(desc, strideX, strideY, [&](uint64_t from, size_t set, uint64_t to) {
			std::memcpy(&split.sets[set][to], &weights[from], bytes);
		});
		return split;
	});
}

Result<std::vector<std::byte>> mergeDeconvolution(const WeightDesc &desc, uint32_t strideX,
						  uint32_t strideY, const DeconvolutionSets &sets)
{
	constexpr const char *what = "merge deconvolution";
	return guarded(what, [&]() -> Result<std::vector<std::byte>> {
		const uint64_t bytes = elementBytes(desc.type);
		auto checked = checkWeights(desc, what, sets.sets.size(),
					    uint64_t{ strideX } * strideY, "kernel sets");
		if (!checked)
			return forward(checked);
		checked = checkStrides(desc, strideX, strideY, what);
		if (!checked)
			return forward(checked);
		const uint64_t setBytes = setDesc(desc, strideX, strideY).elements() * bytes;
		for (const auto &set : sets.sets) {
			checked = checkWeights(desc, what, set.size(), setBytes);
			if (!checked)
				return forward(checked);
		}

		std::vector<std::byte> weights(desc.elements() * bytes);
		forEachTap(desc, strideX, strideY, [&](uint64_t to, size_t set, uint64_t from) {
			std::memcpy(&weights[to], &sets.sets[set][from], bytes);
		});
		return weights;
	});
}

} /* namespace nvdla */
