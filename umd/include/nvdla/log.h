/* SPDX-License-Identifier: MIT */
/*
 * Messages of the library to an application, beside the results of calls.
 */
#pragma once

#include <functional>
#include <string>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Importance of a message */
enum class LogLevel {
	Warning, /**< a failure, or work that continues with less than was requested */
	Info,	 /**< progress of the library, for finding faults */
};

/**
 * \brief Receives a message: one line of UTF-8, without a line end
 *
 * It is a device's (Device::open()), there is no global one; without one nothing is written
 * anywhere. Called from any thread, from several at once, and while requests wait for it: it has to
 * be quick, and calls nothing that waits for a request.
 */
using Log = std::function<void(LogLevel level, const std::string &message)>;

} /* namespace nvdla */

#pragma GCC visibility pop
