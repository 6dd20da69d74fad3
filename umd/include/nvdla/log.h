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
 * Each device has a function of its own (Device::open()); without one no messages are written. The
 * function is called from any thread, from several at once, and delays the requests that log: it
 * has to return quickly, and must not wait for a request.
 */
using Log = std::function<void(LogLevel level, const std::string &message)>;

} /* namespace nvdla */

#pragma GCC visibility pop
