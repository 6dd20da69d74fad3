/* SPDX-License-Identifier: MIT */
#pragma once

#include <cerrno>

#include <nvdla/error.h>

namespace nvdla
{

/** \brief What kind of failure a negative errno of the device file is */
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
		return ErrorCode::InvalidArgument;
	default:
		return ErrorCode::Io;
	}
}

} /* namespace nvdla */
