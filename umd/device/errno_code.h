/* SPDX-License-Identifier: MIT */
#pragma once

#include <cerrno>
#include <cstring>

#include <nvdla/error.h>

namespace nvdla
{

/**
 * \brief Error of a call in a child of fork(): the parent opened the device file, and only the
 * parent may use it
 */
constexpr int foreignProcess = -EOWNERDEAD;

/** \brief A negative errno of the device file in words */
inline const char *reasonOf(int error)
{
	if (error == foreignProcess)
		return "was opened by another process; after fork() a child opens its own";
	if (error == -EBUSY)
		return "has as many jobs that have not ended as it may; one that ends makes room";
	return std::strerror(-error);
}

/** \brief The error code for a negative errno that the device file returned */
inline ErrorCode codeOf(int error)
{
	switch (error) {
	case -ENOMEM:
	case -ENOSPC:
		return ErrorCode::NoMemory;
	case -ENODEV:
		return ErrorCode::DeviceLost;
	case -EINVAL:
	case -EACCES:
	case foreignProcess:
		return ErrorCode::InvalidArgument;
	default:
		return ErrorCode::Io;
	}
}

} /* namespace nvdla */
