/* SPDX-License-Identifier: MIT */
#include "weight_desc.h"

#include <fmt/core.h>

#include "base/tensor/limits.h"

namespace nvdla
{

namespace
{

/* Limit with which no product exceeds 64 bits and no allocation is absurdly large; no buffer has so
 * many elements. */
constexpr uint64_t maxElements = uint64_t{ 1 } << 32;

} /* namespace */

std::string WeightDesc::describe() const
{
	return fmt::format("{}x{}x{}x{} {}", kernels, channels, height, width, dataTypeName(type));
}

Result<void> checkWeights(const WeightDesc &desc, const char *what)
{
	const struct {
		const char *name;
		uint32_t value;
	} dimensions[] = { { "kernels", desc.kernels },
			   { "channels", desc.channels },
			   { "height", desc.height },
			   { "width", desc.width } };

	for (const auto &dimension : dimensions) {
		if (dimension.value < 1 || dimension.value > maxDimension)
			return fail(ErrorCode::InvalidArgument, what, "weights " + desc.describe(),
				    fmt::format("{} is {}, must be 1 to {}", dimension.name,
						dimension.value, maxDimension));
	}
	if (desc.elements() > maxElements)
		return fail(ErrorCode::InvalidArgument, what, "weights " + desc.describe(),
			    fmt::format("{} elements are more than the {} that can be handled",
					desc.elements(), maxElements));
	if (desc.type != DataType::Int8 && desc.type != DataType::Int16 &&
	    desc.type != DataType::Half)
		return fail(ErrorCode::Unsupported, what, "weights " + desc.describe(),
			    "the core multiplies int8, int16 and fp16");
	return {};
}

Result<void> checkWeights(const WeightDesc &desc, const char *what, uint64_t have, uint64_t need,
			  const char *unit)
{
	auto checked = checkWeights(desc, what);
	if (!checked)
		return checked;
	if (have != need)
		return fail(ErrorCode::InvalidArgument, what, "weights " + desc.describe(),
			    fmt::format("{} {} given, {} needed", have, unit, need));
	return {};
}

uint64_t packedWeightBytes(const CoreGeometry &geometry, const WeightDesc &desc)
{
	return alignUp(desc.elements() * elementBytes(desc.type), geometry.weightSizeAlignment);
}

} /* namespace nvdla */
