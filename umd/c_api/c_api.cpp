/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <string>

using namespace nvdla;

using c_api::bytesAt;
using c_api::failure;
using c_api::missing;
using c_api::readSized;
using c_api::statusOf;

static_assert(NVDLA_STATUS_CANCELLED == static_cast<int>(ErrorCode::Cancelled) + 1);
static_assert(NVDLA_STATUS_TIMEOUT == static_cast<int>(ErrorCode::Timeout) + 1);

namespace
{

thread_local std::string lastError;

} /* namespace */

nvdla_status c_api::failure(const Error &error)
{
	lastError = error.message();
	return statusOf(error.code);
}

nvdla_status c_api::missing(const char *function, const char *argument)
{
	return failure({ ErrorCode::InvalidArgument, function, argument, "must not be NULL" });
}

namespace
{

nvdla_status load(nvdla_device *device, Result<Loadable> loadable, nvdla_network **network,
		  const LoadOptions &options = {})
{
	if (!loadable)
		return failure(loadable.error());
	auto loaded = Network::load(device->device, *loadable, options);
	if (!loaded)
		return failure(loaded.error());
	*network = new nvdla_network{ std::move(*loaded) };
	return NVDLA_STATUS_OK;
}

} /* namespace */

const char *nvdla_last_error(void)
{
	return lastError.c_str();
}

const char *nvdla_status_name(enum nvdla_status status)
{
	return status == NVDLA_STATUS_OK ? "ok" : errorName(static_cast<ErrorCode>(status - 1));
}

enum nvdla_status nvdla_device_open(const char *path, struct nvdla_device **device)
{
	if (!path || !device)
		return missing("open device", path ? "device" : "path");
	auto opened = Device::open(path);
	if (!opened)
		return failure(opened.error());
	*device = new nvdla_device{ std::move(*opened) };
	return NVDLA_STATUS_OK;
}

void nvdla_device_free(struct nvdla_device *device)
{
	delete device;
}

enum nvdla_status nvdla_network_load_file(struct nvdla_device *device, const char *path,
					  struct nvdla_network **network)
{
	if (!device || !path || !network)
		return missing("load network", "device, path or network");
	return load(device, Loadable::readFile(path), network);
}

enum nvdla_status nvdla_network_load(struct nvdla_device *device, const void *data, size_t size,
				     struct nvdla_network **network)
{
	if (!device || !data || !network)
		return missing("load network", "device, data or network");
	return load(device, Loadable::read(bytesAt(data, size)), network);
}

enum nvdla_status nvdla_network_load_with(struct nvdla_device *device, const void *data,
					  size_t size, const struct nvdla_load_options *options,
					  struct nvdla_network **network)
{
	nvdla_load_options given = {};
	LoadOptions loadOptions;

	if (!device || !data || !network)
		return missing("load network", "device, data or network");
	if (options) {
		if (const auto read = readSized("load network", options, given))
			return read;
	}
	if (given.slots)
		loadOptions.slots = given.slots;
	if (given.max_queued)
		loadOptions.maxQueued = given.max_queued;
	return load(device, Loadable::read(bytesAt(data, size)), network, loadOptions);
}

void nvdla_network_free(struct nvdla_network *network)
{
	delete network;
}
