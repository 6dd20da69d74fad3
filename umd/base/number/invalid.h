/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>
#include <utility>

#include <nvdla/error.h>

namespace nvdla
{

/** \return InvalidArgument for the action \a what: \a where is the argument, \a why the reason */
inline tl::unexpected<Error> invalid(const char *what, std::string where, std::string why)
{
	return fail(ErrorCode::InvalidArgument, what, std::move(where), std::move(why));
}

} /* namespace nvdla */
