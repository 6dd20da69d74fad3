/* SPDX-License-Identifier: MIT */
#include <nvdla/device_watch.h>

#include "device/drm_device.h"
#include "runtime/async/folder_watch.h"

namespace nvdla
{

Result<DeviceWatch> DeviceWatch::create(Callback callback, std::optional<EventLoop> loop)
{
	auto runs = loop ? Result<EventLoop>(std::move(*loop)) : EventLoop::shared();
	if (!runs)
		return forward(runs);
	auto watch = FolderWatch::create(runs->loop_, DrmDevice::folder, DrmDevice::enumerate,
					 std::move(callback));
	if (!watch)
		return forward(watch);
	return DeviceWatch(std::move(*watch));
}

DeviceWatch::DeviceWatch(std::unique_ptr<FolderWatch> watch) : watch_(std::move(watch))
{
}

DeviceWatch::DeviceWatch(DeviceWatch &&) noexcept = default;
DeviceWatch &DeviceWatch::operator=(DeviceWatch &&) noexcept = default;
DeviceWatch::~DeviceWatch() = default;

} /* namespace nvdla */
