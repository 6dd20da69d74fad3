/* SPDX-License-Identifier: MIT */
/* The one error type of the runtime. */
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Kind of failure, by which a program can decide how to continue */
enum class ErrorCode {
	InvalidArgument, /**< the caller passed an invalid value */
	InvalidFile,	 /**< a file (such as a loadable, model or picture) is damaged or has
			    another format */
	Unsupported,	 /**< a valid request that this library or device does not support */
	NotFound,	 /**< no such file or tensor */
	NoDevice,	 /**< no such device */
	Io,		 /**< the operating system refused to read or write */
	NoMemory,	 /**< the host's memory or the device's memory is used up */
	DeviceRefused,	 /**< the driver refused the job or task */
	DeviceFailed,	 /**< the device failed or was reset; it can be used again */
	Timeout,	 /**< a call took longer than allowed, or a job hung */
	Busy,		 /**< the object is in use, or a queue has no room: try again later */
	Cancelled,	 /**< ended early, because the caller cancelled it or freed its network */
	DeviceLost,	 /**< the device is gone: it was removed, or its driver unbound */
};

/** \return a short name of \a code, for messages and for JSON output */
const char *errorName(ErrorCode code);

/**
 * \brief A failure: what went wrong, where, and why
 *
 * \a what is the attempted action ("read loadable"), \a where the
 * place ("memory_list[3].contents"), \a why the violated rule,
 * with both values ("ends at 4096, the memory has 2048 bytes").
 */
struct Error {
	ErrorCode code;
	std::string what;
	std::string where;
	std::string why;

	/**
	 * \return "what: where: why", without empty parts
	 *
	 * One line of UTF-8: control characters and invalid bytes in names from files are written
	 * as \\xNN.
	 */
	std::string message() const;
};

/**
 * \brief Either a value or an Error
 *
 * The library throws nothing. Test a result before using it.
 */
template<typename T>
using Result = tl::expected<T, Error>;

/** \brief Make an error, which converts to a Result of any type */
inline tl::unexpected<Error> fail(ErrorCode code, std::string what, std::string where,
				  std::string why)
{
	return tl::unexpected<Error>(
		Error{ code, std::move(what), std::move(where), std::move(why) });
}

/** \brief Take the error out of \a result; it converts to a Result of any type */
template<typename T>
tl::unexpected<Error> forward(Result<T> &result)
{
	return tl::unexpected<Error>(std::move(result.error()));
}

} /* namespace nvdla */

#pragma GCC visibility pop
