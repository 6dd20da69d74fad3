/* SPDX-License-Identifier: MIT */
#include "guarded.h"

#include <new>
#include <stdexcept>
#include <system_error>

namespace nvdla
{

namespace
{

Error errorOf(const char *what, const std::string &where)
{
	constexpr const char *tooLarge = "does not fit into the host's memory";

	try {
		throw;
	} catch (const std::bad_alloc &) {
		return { ErrorCode::NoMemory, what, where, tooLarge };
	} catch (const std::length_error &) {
		return { ErrorCode::NoMemory, what, where, tooLarge };
	} catch (const std::system_error &error) {
		return { ErrorCode::Io, what, where, error.what() };
	} catch (const std::exception &error) {
		return { ErrorCode::Unsupported, what, where, error.what() };
	} catch (...) {
		return { ErrorCode::Unsupported, what, where, "an exception of an unknown type" };
	}
}

} /* namespace */

Error caughtError(const char *what, const std::string &where) noexcept
{
	try {
		return errorOf(what, where);
	} catch (...) {
		return { ErrorCode::NoMemory, "", "", "out of memory" };
	}
}

} /* namespace nvdla */
