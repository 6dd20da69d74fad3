/* SPDX-License-Identifier: MIT */
/*
 * Packs weights for direct convolution and image input in blocks of channels. In memory, one block
 * of channels of all kernels of a group comes before the next block of channels.
 */
#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "base/io/guarded.h"
#include "weight_desc.h"

namespace nvdla
{

namespace
{

struct WeightPosition {
	uint32_t kernel, channel, line, column;
};

/*
 * Calls visit(position of the first channel, number of channels) for every run of adjacent
 * channels, in the order in memory. \a lines: number of kernel lines in a block (post-extension); 1
 * for direct convolution.
 */
template<typename Visit>
void forEachRun(const CoreGeometry &geometry, const WeightDesc &desc, uint32_t lines, Visit visit)
{
	const uint32_t group = geometry.groupKernels(desc.type);
	const uint32_t block = geometry.macChannels / lines;

	for (uint32_t k0 = 0; k0 < desc.kernels; k0 += group) {
		const uint32_t kEnd = std::min(k0 + group, desc.kernels);
		for (uint32_t c0 = 0; c0 < desc.channels; c0 += block) {
			const uint32_t count = std::min(block, desc.channels - c0);
			for (uint32_t r0 = 0; r0 < desc.height; r0 += lines) {
				const uint32_t rEnd = std::min(r0 + lines, desc.height);
				for (uint32_t s = 0; s < desc.width; s++)
					for (uint32_t k = k0; k < kEnd; k++)
						for (uint32_t r = r0; r < rEnd; r++)
							visit(WeightPosition{ k, c0, r, s }, count);
			}
		}
	}
}

/*
 * Moves elements between plain and packed weights. move(plain, packed, bytes) gets the byte offsets
 * of an element and its size. An image kernel with C channels is packed as one column: channel c of
 * column s becomes channel s * C + c.
 */
template<typename Move>
void forEachElement(const CoreGeometry &geometry, const WeightDesc &plain, bool image,
		    uint32_t lines, Move move)
{
	const WeightDesc seen = image ? imageKernel(plain) : plain;
	const uint64_t bytes = elementBytes(plain.type);
	const uint64_t plane = uint64_t{ plain.height } * plain.width;
	uint64_t to = 0;

	forEachRun(geometry, seen, lines, [&](WeightPosition at, uint32_t count) {
		const uint64_t line =
			plain.kernelElements() * at.kernel + uint64_t{ at.line } * plain.width;
		for (uint32_t i = 0; i < count; i++, to += bytes) {
			uint32_t c = at.channel + i;
			uint32_t s = at.column;
			if (image) {
				s = c / plain.channels;
				c %= plain.channels;
			}
			move((line + c * plane + s) * bytes, to, bytes);
		}
	});
}

Result<void> checkLines(const CoreGeometry &geometry, const WeightDesc &desc, uint32_t lines,
			const char *what)
{
	if (lines != 1 && lines != 2 && lines != 4)
		return fail(ErrorCode::InvalidArgument, what, "weights " + desc.describe(),
			    fmt::format("channel post-extension is {} lines, must be 1, 2 or 4",
					lines));
	const uint64_t channels = uint64_t{ desc.channels } * desc.width;
	const uint32_t limit = geometry.macChannels / lines;
	if (lines > 1 && channels > limit)
		return fail(ErrorCode::InvalidArgument, what, "weights " + desc.describe(),
			    fmt::format("a kernel line has {} channels, post-extension by {} lines "
					"takes at most {}",
					channels, lines, limit));
	return {};
}

Result<std::vector<std::byte>> pack(const CoreGeometry &geometry, const WeightDesc &desc,
				    bool image, uint32_t lines, std::span<const std::byte> weights)
{
	constexpr const char *what = "pack weights";
	auto checked =
		checkWeights(desc, what, weights.size(), desc.elements() * elementBytes(desc.type));
	if (!checked)
		return forward(checked);
	checked = checkLines(geometry, desc, lines, what);
	if (!checked)
		return forward(checked);

	std::vector<std::byte> packed(packedWeightBytes(geometry, desc));
	forEachElement(geometry, desc, image, lines,
		       [&](uint64_t plain, uint64_t to, uint64_t bytes) {
			       std::memcpy(&packed[to], &weights[plain], bytes);
		       });
	return packed;
}

Result<std::vector<std::byte>> unpack(const CoreGeometry &geometry, const WeightDesc &desc,
				      bool image, uint32_t lines, std::span<const std::byte> packed)
{
	constexpr const char *what = "unpack weights";
	const uint64_t need = desc.elements() * elementBytes(desc.type);
	/* Any number of padding bytes may follow the elements. */
	auto checked = checkWeights(desc, what, std::min<uint64_t>(packed.size(), need), need);
	if (!checked)
		return forward(checked);
	checked = checkLines(geometry, desc, lines, what);
	if (!checked)
		return forward(checked);

	std::vector<std::byte> weights(need);
	forEachElement(geometry, desc, image, lines,
		       [&](uint64_t plain, uint64_t from, uint64_t bytes) {
			       std::memcpy(&weights[plain], &packed[from], bytes);
		       });
	return weights;
}

} /* namespace */

WeightDesc imageKernel(const WeightDesc &desc)
{
	return { desc.type, desc.kernels, desc.channels * desc.width, desc.height, 1 };
}

Result<std::vector<std::byte>> packDirectWeights(const CoreGeometry &geometry,
						 const WeightDesc &desc,
						 std::span<const std::byte> weights)
{
	return guarded("pack direct weights", [&]() -> Result<std::vector<std::byte>> {
		return pack(geometry, desc, false, 1, weights);
	});
}

Result<std::vector<std::byte>> unpackDirectWeights(const CoreGeometry &geometry,
						   const WeightDesc &desc,
						   std::span<const std::byte> packed)
{
	return guarded("unpack direct weights", [&]() -> Result<std::vector<std::byte>> {
		return unpack(geometry, desc, false, 1, packed);
	});
}

Result<std::vector<std::byte>> packImageWeights(const CoreGeometry &geometry,
						const WeightDesc &desc,
						std::span<const std::byte> weights, uint32_t lines)
{
	return guarded("pack image weights", [&]() -> Result<std::vector<std::byte>> {
		return pack(geometry, desc, true, lines, weights);
	});
}

Result<std::vector<std::byte>> unpackImageWeights(const CoreGeometry &geometry,
						  const WeightDesc &desc,
						  std::span<const std::byte> packed, uint32_t lines)
{
	return guarded("unpack image weights", [&]() -> Result<std::vector<std::byte>> {
		return unpack(geometry, desc, true, lines, packed);
	});
}

} /* namespace nvdla */
