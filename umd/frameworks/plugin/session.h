/* SPDX-License-Identifier: MIT */
/*
 * The device that a plug-in uses. After the first failed run, the plug-in leaves everything to the
 * framework.
 */
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include <nvdla/core_geometry.h>
#include <nvdla/device.h>

#include "options.h"

namespace nvdla::plugin
{

/** \brief A function that shows a line of text to the user */
using Log = std::function<void(const std::string &)>;

/**
 * \brief An open device and the options of the plug-in
 *
 * When a run has failed, the device counts as lost: everything is left to the framework from then
 * on, and one line of the log says so. All functions may be called from several threads at once.
 */
class Session
{
public:
	/** \return a session with the device of the options; NoDevice if there is none;
	 * InvalidArgument if the cache's folder cannot be used; or the error of Device::open() */
	static Result<std::shared_ptr<Session>> open(const Options &options, Log log);

	/** \brief Use a device that is open already */
	Session(Device device, Options options, Log log)
		: device_(std::move(device)), core_(coreOf(device_.info()).value_or(nvFull)),
		  options_(std::move(options)), log_(std::move(log))
	{
	}

	const Device &device() const { return device_; }
	/** \brief The core of the device, for which partitions are compiled */
	const CoreGeometry &core() const { return core_; }
	const Options &options() const { return options_; }
	void log(const std::string &line) const { log_(line); }
	/** \brief Log how many of a model's nodes the device computes, in how many partitions */
	void logTaken(size_t taken, size_t nodes, size_t partitions) const;
	/** \brief Log that the cache cannot keep a compiled partition; only the first call does */
	void logNotKept(const Error &reason) const;

	bool isLost() const { return lost_; }
	/** \brief Stop using the device; the first call logs \a reason */
	void lose(const Error &reason);

private:
	Device device_;
	CoreGeometry core_;
	Options options_;
	Log log_;
	std::atomic<bool> lost_{ false };
	mutable std::atomic<bool> toldNotKept_{ false };
};

} /* namespace nvdla::plugin */
