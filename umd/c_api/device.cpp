/* SPDX-License-Identifier: MIT */
#include "objects.h"

using namespace nvdla;

using c_api::failure;
using c_api::missing;
using c_api::writeSized;

nvdla_status c_api::noSize(const char *function)
{
	return failure({ ErrorCode::InvalidArgument, function, "size",
			 "has to be the sizeof of the struct that it is in" });
}

enum nvdla_status nvdla_enumerate(nvdla_found found, void *context)
{
	if (!found)
		return missing("enumerate devices", "found");
	for (const std::string &path : Device::enumerate())
		found(path.c_str(), context);
	return NVDLA_STATUS_OK;
}

enum nvdla_status nvdla_device_get_info(const struct nvdla_device *device,
					struct nvdla_device_info *info)
{
	if (!device || !info)
		return missing("get device info", device ? "info" : "device");
	const Device &of = device->device;
	const drm_nvdla_device_info &said = of.info();
	const nvdla_device_info all = {
		.size = sizeof(all),
		.path = of.path().c_str(),
		.hw_version = said.hw_version,
		.atom_bytes = said.atom_bytes,
		.max_timeout_ms = said.max_timeout_ms,
		.priorities = said.priorities,
		.has_statistics = of.has(DRM_NVDLA_FEATURE_STATISTICS),
		.has_dma_buf = of.has(DRM_NVDLA_FEATURE_PRIME),
		.max_buffer_bytes = said.max_bo_bytes,
		.on_chip_bytes = said.cvsram_bytes,
		.core_clock_hz = said.core_clock_hz,
	};
	return writeSized("get device info", all, info);
}
