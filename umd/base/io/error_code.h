/* SPDX-License-Identifier: MIT */
#pragma once

#include <cerrno>

#include <nvdla/error.h>

namespace nvdla
{

/**
 * \param[in] error errno of a system call that failed and had got a file's name
 * \return NotFound, InvalidArgument if the named file cannot be used, or Io
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
