/* SPDX-License-Identifier: MIT */
#pragma once

#include <cerrno>

#include <nvdla/error.h>

namespace nvdla
{

/** \return what the system's \a error says of a name: NotFound, InvalidArgument if it cannot be
 * used, else Io, which is not the name's fault */
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
