/* SPDX-License-Identifier: MIT */
#include <nvdla/core_geometry.h>

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
	return c_api::guardedCall("nvdla_enumerate", [&]() -> nvdla_status {
		if (!found)
			return missing("enumerate devices", "found");
		for (const std::string &path : Device::enumerate())
			found(path.c_str(), context);
		return NVDLA_STATUS_OK;
	});
}

enum nvdla_status nvdla_device_get_info(const struct nvdla_device *device,
					struct nvdla_device_info *info)
{
	return c_api::guardedCall("nvdla_device_get_info", [&]() -> nvdla_status {
		if (!device || !info)
			return missing("get device info", device ? "info" : "device");
		const Device &of = device->device;
		const DeviceInfo &said = of.info();
		const CoreGeometry *core = findCoreVariant(said.variant);
		const nvdla_device_info all = {
			.size = sizeof(all),
			.path = of.path().c_str(),
			.hw_version = said.hwVersion,
			.atom_bytes = said.atomBytes,
			.max_timeout_ms = said.maxTimeoutMs,
			.priorities = said.priorities,
			.has_statistics = of.has(Feature::Statistics),
			.has_dma_buf = of.has(Feature::DmaBuf),
			.max_buffer_bytes = said.maxBufferBytes,
			.on_chip_bytes = said.onChipBytes,
			.core_clock_hz = said.coreClockHz,
			.variant = core ? core->name : "",
			.engines = said.engines,
			.precisions = said.precisions,
			.capabilities = said.capabilities,
			.max_batch = said.maxBatch,
			.weight_alignment = said.weightAlignment,
			.weight_size_alignment = said.weightSizeAlignment,
			.mac_channels = said.macChannels,
			.int8_kernels = said.int8Kernels,
			.buffer_banks = said.bufferBanks,
			.bank_entries = said.bankEntries,
			.entry_bytes = said.entryBytes,
		};
		return writeSized("get device info", all, info);
	});
}
