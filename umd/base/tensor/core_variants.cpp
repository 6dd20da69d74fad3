/* SPDX-License-Identifier: MIT */
#include <nvdla/core_geometry.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <drm/nvdla_accel.h>
#include <fmt/core.h>

#include "user/nvdla_engine.h"

namespace nvdla
{

namespace
{

constexpr DataType precisionTypes[] = { DataType::Int8, DataType::Int16, DataType::Half };

/* Makes a geometry from the driver's table of cores. Most members come from the driver's answer to
 * DRM_IOCTL_NVDLA_DEV_QUERY, the other members from the table itself. */
CoreGeometry geometryOf(const nvdla_variant &variant)
{
	drm_nvdla_device_info said = {};

	nvdla_variant_tell(&variant, &said);
	return { .name = variant.name,
		 .variant = said.variant,
		 .engines = said.engines,
		 .precisions = said.precisions,
		 .capabilities = said.capabilities,
		 .hasOnChipMemory = nvdla_variant_sram_bytes(&variant, 1) > 0,
		 .imageStrideInKernel = variant.image_stride_in_kernel,
		 .maxBatch = said.max_batch,
		 .atomBytes = said.atom_bytes,
		 .macChannels = said.mac_channels,
		 .int8Kernels = said.int8_kernels,
		 .weightAlignment = said.weight_alignment,
		 .weightSizeAlignment = said.weight_size_alignment,
		 .weightSlack = variant.weight_slack,
		 .bufferBanks = said.cbuf_banks,
		 .bankEntries = said.cbuf_bank_entries,
		 .entryBytes = said.cbuf_entry_bytes,
		 .poolingLineBytes = variant.pdp_line_bytes };
}

} /* namespace */

bool CoreGeometry::has(DataType type) const
{
	const auto found = std::ranges::find(precisionTypes, type);

	return found != std::end(precisionTypes) &&
	       precisions >> (found - std::begin(precisionTypes)) & 1;
}

std::string CoreGeometry::typeNames() const
{
	std::vector<std::string> names;
	std::string text;

	for (const DataType type : precisionTypes) {
		if (has(type))
			names.emplace_back(dataTypeName(type));
	}
	for (size_t i = 0; i < names.size(); i++)
		text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
	return text;
}

std::span<const CoreGeometry> coreVariants()
{
	static const std::vector<CoreGeometry> variants = [] {
		std::vector<CoreGeometry> all;
		std::ranges::transform(nvdla_variants, std::back_inserter(all), geometryOf);
		return all;
	}();

	return variants;
}

std::string coreVariantNames()
{
	std::string names;

	for (const CoreGeometry &variant : coreVariants())
		names += fmt::format("{}{}", names.empty() ? "" : ", ", variant.name);
	return names;
}

Result<CoreGeometry> findCoreVariant(std::string_view name)
{
	const auto found = std::ranges::find(coreVariants(), name, &CoreGeometry::name);

	if (found == coreVariants().end())
		return fail(ErrorCode::InvalidArgument, "variant", fmt::format("'{}'", name),
			    fmt::format("is not known; there are: {}", coreVariantNames()));
	return *found;
}

const CoreGeometry *findCoreVariant(uint32_t variant)
{
	const auto found = std::ranges::find(coreVariants(), variant, &CoreGeometry::variant);

	return found == coreVariants().end() ? nullptr : &*found;
}

Result<CoreGeometry> coreOf(const DeviceInfo &device)
{
	if (const CoreGeometry *core = findCoreVariant(device.variant))
		return *core;
	return fail(ErrorCode::Unsupported, "variant", fmt::format("{}", device.variant),
		    fmt::format("of the device's core is not known; there are: {}",
				coreVariantNames()));
}

std::string capabilityNames(uint32_t capabilities)
{
	constexpr std::pair<Capability, const char *> names[] = {
		{ Capability::Winograd, "winograd" },
		{ Capability::Compression, "compression" },
		{ Capability::SdpY, "sdp-y" },
	};
	std::string text;

	for (const auto &[capability, name] : names) {
		if (capabilities & static_cast<uint32_t>(capability))
			text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
	}
	return text;
}

} /* namespace nvdla */
