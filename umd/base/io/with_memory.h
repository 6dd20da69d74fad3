/* SPDX-License-Identifier: MIT */
#pragma once

#include <new>
#include <string>

#include <nvdla/error.h>

namespace nvdla
{

/**
 * \brief Do what takes as much memory as a file says
 * \param[in] work a function that returns a Result
 * \param[in] where for the error: what it is for
 * \return the function's result, or NoMemory if there is not that much
 */
template<typename Work>
auto withMemory(const char *what, const std::string &where, Work work) -> decltype(work())
{
	try {
		return work();
	} catch (const std::bad_alloc &) {
		return fail(ErrorCode::NoMemory, what, where,
			    "does not fit into the host's memory");
	}
}

} /* namespace nvdla */
