/* SPDX-License-Identifier: MIT */
#pragma once

#include <cerrno>

#include <nvdla/error.h>

namespace nvdla
{

/** \return the code for errno \a error of a call with a file name: NotFound, InvalidArgument if the
 * name cannot be used, or Io for other failures */
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
