/* SPDX-License-Identifier: MIT */
/* Notification of devices that appear and disappear. */
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
 * A device appears when its file exists and this process may open it. This is tried for ten
 * seconds, because the kernel and udev set permissions shortly after they create the file. It
 * disappears with its file. A device that reappears immediately may not be reported; requests on
 * the old device end as DeviceLost.
 */
class DeviceWatch
{
public:
	/**
	 * \brief Receives "/dev/accel/accelN" and whether the device is present, in the loop's
	 * thread
	 *
	 * One call at a time. The callback may destroy the watch.
	 */
	using Callback = std::function<void(const std::string &path, bool present)>;

	/**
	 * \brief Begin to report, existing devices first
	 * \param[in] loop loop that runs the callback; without one, EventLoop::shared(). If the
	 * caller runs the loop, call this in the loop's thread; the watch does not keep uv_run()
	 * from returning
	 * \return Io if the kernel cannot report devices (no more inotify watches, for example)
	 */
	static Result<DeviceWatch> create(Callback callback, std::optional<EventLoop> loop = {});

	DeviceWatch(DeviceWatch &&) noexcept;
	DeviceWatch &operator=(DeviceWatch &&) noexcept;
	/**
	 * \brief Ends the watch: afterwards no callback runs, except the one from which it is
	 * destroyed
	 */
	~DeviceWatch();

private:
	explicit DeviceWatch(std::unique_ptr<FolderWatch> watch);

	std::unique_ptr<FolderWatch> watch_;
};

} /* namespace nvdla */

#pragma GCC visibility pop
