/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <string>

#include "runtime/c_api/version.h"

using namespace nvdla;

using c_api::bytesAt;
using c_api::failure;
using c_api::missing;
using c_api::readSized;
using c_api::statusOf;

static_assert(NVDLA_STATUS_CANCELLED == static_cast<int>(ErrorCode::Cancelled) + 1);
static_assert(NVDLA_STATUS_DEVICE_LOST == static_cast<int>(ErrorCode::DeviceLost) + 1);
static_assert(NVDLA_LOG_INFO == static_cast<int>(LogLevel::Info));
static_assert(NVDLA_STATUS_TIMEOUT == static_cast<int>(ErrorCode::Timeout) + 1);

namespace
{

thread_local std::string lastError;

} /* namespace */

std::string c_api::wordsOf(const Error &error) noexcept
{
	auto words = guarded("", [&]() -> Result<std::string> { return error.message(); });

	return words ? std::move(*words) : std::move(words.error().why);
}

nvdla_status c_api::failure(const Error &error) noexcept
{
	lastError = wordsOf(error);
	return statusOf(error.code);
}

nvdla_status c_api::missing(const char *function, const char *argument)
{
	return failure({ ErrorCode::InvalidArgument, function, argument, "must not be NULL" });
}

namespace
{

nvdla_status load(nvdla_device *device, Result<Loadable> loadable, nvdla_network **network,
		  const LoadOptions &options = {}, std::optional<ElementOrder> order = {})
{
	if (!loadable)
		return failure(loadable.error());
	auto loaded = Network::load(device->device, *loadable, options);
	if (!loaded)
		return failure(loaded.error());
	*network = new nvdla_network{ std::move(*loaded), order };
	return NVDLA_STATUS_OK;
}

} /* namespace */

const char *nvdla_version(void)
{
	return NVDLA_VERSION;
}

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
	return c_api::guardedCall("nvdla_device_open", [&]() -> nvdla_status {
		return nvdla_device_open_with(path, nullptr, device);
	});
}

enum nvdla_status nvdla_device_open_with(const char *path, const struct nvdla_open_options *options,
					 struct nvdla_device **device)
{
	return c_api::guardedCall("nvdla_device_open_with", [&]() -> nvdla_status {
		nvdla_open_options given = {};
		Log log;

		if (!path || !device)
			return missing("open device", path ? "device" : "path");
		if (const auto read = readSized("open device", options, given))
			return read;
		if (given.log)
			log = [given](LogLevel level, const std::string &message) {
				given.log(static_cast<nvdla_log_level>(level), message.c_str(),
					  given.log_context);
			};
		auto opened = Device::open(path, std::move(log));
		if (!opened)
			return failure(opened.error());
		*device = new nvdla_device{ std::move(*opened) };
		return NVDLA_STATUS_OK;
	});
}

void nvdla_device_free(struct nvdla_device *device)
{
	delete device;
}

enum nvdla_status nvdla_network_load_file(struct nvdla_device *device, const char *path,
					  struct nvdla_network **network)
{
	return c_api::guardedCall("nvdla_network_load_file", [&]() -> nvdla_status {
		if (!device || !path || !network)
			return missing("load network", "device, path or network");
		return load(device, Loadable::readFile(path), network);
	});
}

enum nvdla_status nvdla_network_load(struct nvdla_device *device, const void *data, size_t size,
				     struct nvdla_network **network)
{
	return c_api::guardedCall("nvdla_network_load", [&]() -> nvdla_status {
		if (!device || !data || !network)
			return missing("load network", "device, data or network");
		return load(device, Loadable::read(bytesAt(data, size)), network);
	});
}

enum nvdla_status nvdla_network_load_with(struct nvdla_device *device, const void *data,
					  size_t size, const struct nvdla_load_options *options,
					  struct nvdla_network **network)
{
	return c_api::guardedCall("nvdla_network_load_with", [&]() -> nvdla_status {
		nvdla_load_options given = {};
		LoadOptions loadOptions;

		if (!device || !data || !network)
			return missing("load network", "device, data or network");
		if (const auto read = readSized("load network", options, given))
			return read;
		if (given.slots)
			loadOptions.slots = given.slots;
		if (given.max_queued)
			loadOptions.maxQueued = given.max_queued;
		loadOptions.loop = c_api::loopOf(given.loop);
		const auto order = c_api::orderOf("load network", given.order);
		if (!order)
			return failure(order.error());
		return load(device, Loadable::read(bytesAt(data, size)), network, loadOptions,
			    *order);
	});
}

void nvdla_network_free(struct nvdla_network *network)
{
	delete network;
}
