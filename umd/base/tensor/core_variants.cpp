/* SPDX-License-Identifier: MIT */
#include <nvdla/core_geometry.h>

#include <algorithm>

#include <fmt/core.h>

namespace nvdla
{

namespace
{

constexpr CoreGeometry variants[] = { nvFull };

} /* namespace */

std::span<const CoreGeometry> coreVariants()
{
	return variants;
}

std::string coreVariantNames()
{
	std::string names;

	for (const CoreGeometry &variant : variants)
		names += fmt::format("{}{}", names.empty() ? "" : ", ", variant.name);
	return names;
}

Result<CoreGeometry> findCoreVariant(std::string_view name)
{
	const auto found = std::ranges::find(variants, name, &CoreGeometry::name);

	if (found == std::end(variants))
		return fail(ErrorCode::InvalidArgument, "variant", fmt::format("'{}'", name),
			    fmt::format("is not known; there are: {}", coreVariantNames()));
	return *found;
}

const CoreGeometry *findCoreVariant(uint32_t variant)
{
	const auto found = std::ranges::find(variants, variant, &CoreGeometry::variant);

	return found == std::end(variants) ? nullptr : &*found;
}

} /* namespace nvdla */
