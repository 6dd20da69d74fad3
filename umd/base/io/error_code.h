/* SPDX-License-Identifier: MIT */
#pragma once

#include <cerrno>

#include <nvdla/error.h>

namespace nvdla
{

/** \return the code for \a error, the errno of a call that got a file's name: NotFound,
 * InvalidArgument if such a file cannot be used, or Io */
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
