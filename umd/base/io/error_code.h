/* SPDX-License-Identifier: MIT */
#pragma once

#include <cerrno>

#include <nvdla/error.h>

namespace nvdla
{

/**
 * \param[in] error errno of a failed system call, one of whose arguments was the name of a file
 * \return NotFound if the file does not exist, InvalidArgument if name or permissions are wrong,
 * otherwise Io
 */
inline ErrorCode codeOfName(int error)
{
	switch (error) {
	case ENOENT:
		return ErrorCode::NotFound;
	case EACCES:
	case EPERM:
	case EROFS:
	case EISDIR:
	case ENOTDIR:
	case ELOOP:
	case ENAMETOOLONG:
		return ErrorCode::InvalidArgument;
	default:
		return ErrorCode::Io;
	}
}

} /* namespace nvdla */
