/* SPDX-License-Identifier: MIT */
/*
 * Notification of devices that appear and disappear.
 */
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <nvdla/error.h>
#include <nvdla/event_loop.h>

#pragma GCC visibility push(default)

namespace nvdla
{

class FolderWatch;

/**
 * \brief Reports devices that appear or disappear
 *
 * A device appears when this process may open it, which is tried for ten seconds, since the kernel
 * and udev set permissions shortly after they create the file. It disappears with its file. A
 * device that returns at once may not be reported; requests on the old one end as DeviceLost.
 */
class DeviceWatch
{
public:
	/**
	 * \brief Receives "/dev/accel/accelN" and whether it is there, in the loop's thread
	 *
	 * One call at a time. The watch may be destroyed in it.
	 */
	using Callback = std::function<void(const std::string &path, bool present)>;

	/**
	 * \brief Begin to report, existing devices first
	 * \param[in] loop which calls back; without one, EventLoop::shared(). Of a loop that the
	 * caller runs: in its thread; it does not go on for the watch's sake
	 * \return Io if the kernel cannot report devices (no more inotify watches, for example)
	 */
	static Result<DeviceWatch> create(Callback callback, std::optional<EventLoop> loop = {});

	DeviceWatch(DeviceWatch &&) noexcept;
	DeviceWatch &operator=(DeviceWatch &&) noexcept;
	/** \brief Ends it: when this returns no callback runs, except one that it is called from */
	~DeviceWatch();

private:
	explicit DeviceWatch(std::unique_ptr<FolderWatch> watch);

	std::unique_ptr<FolderWatch> watch_;
};

} /* namespace nvdla */

#pragma GCC visibility pop
