/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>
#include <utility>

#include <nvdla/error.h>

namespace nvdla
{

/** \return the error of a wrong argument: \a where names it, \a why has its value */
inline tl::unexpected<Error> invalid(const char *what, std::string where, std::string why)
{
	return fail(ErrorCode::InvalidArgument, what, std::move(where), std::move(why));
}

} /* namespace nvdla */
