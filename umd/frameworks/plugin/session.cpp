/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <fmt/core.h>

#include "cache.h"

namespace nvdla::plugin
{

Result<std::shared_ptr<Session>> Session::open(const Options &options, Log log)
{
	std::string path = options.device;

	if (auto writable = Cache(options.cacheFolder).check(); !writable) {
		writable.error().what = "cache_dir";
		writable.error().code = ErrorCode::InvalidArgument;
		return forward(writable);
	}
	if (path.empty()) {
		const std::vector<std::string> found = Device::enumerate();
		if (found.empty())
			return fail(ErrorCode::NoDevice, "open device", "",
				    "the kernel drives none; load its driver, or use the model of "
				    "the device in this process: device=embedded");
		path = found.front();
	}
	auto device = Device::open(path);
	if (!device)
		return forward(device);
	if (auto core = coreOf(device->info()); !core)
		return forward(core);
	return std::make_shared<Session>(std::move(*device), options, std::move(log));
}

void Session::logTaken(size_t taken, size_t nodes, size_t partitions) const
{
	log_(fmt::format("takes {} of {} nodes in {} partition{}, leaves {}", taken, nodes,
			 partitions, partitions == 1 ? "" : "s", nodes - taken));
}

void Session::logNotKept(const Error &reason) const
{
	if (!toldNotKept_.exchange(true))
		log_(fmt::format("cache_dir: compiled models are not kept: {}", reason.message()));
}

void Session::lose(const Error &reason)
{
	if (!lost_.exchange(true))
		log_(fmt::format("the device is used no more, the CPU goes on: {}",
				 reason.message()));
}

} /* namespace nvdla::plugin */
