/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdlib>

#include <nvdla/error.h>

namespace nvdla::fuzz
{

/** \return whether there is a value; an error without a place and a reason ends the process */
template<typename T>
bool isWell(const Result<T> &result)
{
	if (!result && (result.error().where.empty() || result.error().why.empty()))
		std::abort();
	return result.has_value();
}

} /* namespace nvdla::fuzz */
