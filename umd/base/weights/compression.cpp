/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "base/io/guarded.h"
#include "weight_desc.h"

namespace nvdla
{

namespace
{

bool isZero(std::span<const std::byte> element)
{
	return std::all_of(element.begin(), element.end(),
			   [](std::byte byte) { return byte == std::byte{ 0 }; });
}

std::byte bit(uint64_t index)
{
	return std::byte{ 1 } << (index % 8);
}

/* Kernel groups: number of elements in a full group, and number of groups. */
struct Groups {
	Groups(const CoreGeometry &geometry, const WeightDesc &desc)
		: elements(desc.kernelElements() * geometry.groupKernels(desc.type)),
		  count((desc.elements() + elements - 1) / elements)
	{
	}

	uint64_t elements;
	uint64_t count;
};

tl::unexpected<Error> broken(const WeightDesc &desc, std::string why)
{
	return fail(ErrorCode::InvalidArgument, "expand weights", "weights " + desc.describe(),
		    std::move(why));
}

} /* namespace */

Result<CompressedWeights> compressWeights(const CoreGeometry &geometry, const WeightDesc &desc,
					  std::span<const std::byte> packed)
{
	return guarded("compress weights", [&]() -> Result<CompressedWeights> {
		auto checked = checkWeights(desc, "compress weights", packed.size(),
					    packedWeightBytes(geometry, desc));
		if (!checked)
			return forward(checked);

		const uint64_t bytes = elementBytes(desc.type);
		const Groups groups(geometry, desc);
		CompressedWeights compressed;
		std::vector<uint32_t> sizes(groups.count);

		compressed.mask.resize(
			alignUp((desc.elements() + 7) / 8, geometry.weightSizeAlignment));
		for (uint64_t i = 0; i < desc.elements(); i++) {
			const auto element = packed.subspan(i * bytes, bytes);
			if (isZero(element))
				continue;
			compressed.mask[i / 8] |= bit(i);
			compressed.weights.insert(compressed.weights.end(), element.begin(),
						  element.end());
			sizes[i / groups.elements] += static_cast<uint32_t>(bytes);
		}
		/* Weights that are all zero keep one unit of weightSizeAlignment bytes, because the
		 * hardware cannot fetch 0 bytes. */
		compressed.weights.resize(alignUp(std::max<uint64_t>(compressed.weights.size(), 1),
						  geometry.weightSizeAlignment));
		compressed.groupSizes.resize(
			alignUp(sizes.size() * sizeof(uint32_t), geometry.weightSizeAlignment));
		std::memcpy(compressed.groupSizes.data(), sizes.data(),
			    sizes.size() * sizeof(uint32_t));
		return compressed;
	});
}

Result<std::vector<std::byte>> expandWeights(const CoreGeometry &geometry, const WeightDesc &desc,
					     const CompressedWeights &compressed)
{
	return guarded("expand weights", [&]() -> Result<std::vector<std::byte>> {
		auto checked = checkWeights(desc, "expand weights");
		if (!checked)
			return forward(checked);

		const uint64_t bytes = elementBytes(desc.type);
		const Groups groups(geometry, desc);
		if (compressed.mask.size() < (desc.elements() + 7) / 8)
			return broken(desc, fmt::format("the mask has {} bytes for {} elements",
							compressed.mask.size(), desc.elements()));
		if (compressed.groupSizes.size() < groups.count * sizeof(uint32_t))
			return broken(desc,
				      fmt::format("{} bytes of group sizes for {} groups",
						  compressed.groupSizes.size(), groups.count));

		std::vector<std::byte> packed(packedWeightBytes(geometry, desc));
		uint64_t from = 0;
		for (uint64_t group = 0; group < groups.count; group++) {
			const uint64_t start = from;
			const uint64_t end =
				std::min((group + 1) * groups.elements, desc.elements());
			for (uint64_t i = group * groups.elements; i < end; i++) {
				if ((compressed.mask[i / 8] & bit(i)) == std::byte{ 0 })
					continue;
				if (from + bytes > compressed.weights.size())
					return broken(
						desc,
						fmt::format("group {} ends behind the {} bytes "
							    "of elements",
							    group, compressed.weights.size()));
				std::memcpy(&packed[i * bytes], &compressed.weights[from], bytes);
				from += bytes;
			}
			uint32_t size;
			std::memcpy(&size, &compressed.groupSizes[group * sizeof(size)],
				    sizeof(size));
			if (size != from - start)
				return broken(
					desc,
					fmt::format("group {} has {} bytes by its mask, {} by "
						    "its size",
						    group, from - start, size));
		}
		return packed;
	});
}

} /* namespace nvdla */
