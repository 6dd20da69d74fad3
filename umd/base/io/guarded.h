/* SPDX-License-Identifier: MIT */
/*
 * Turns exceptions into errors.
 */
#pragma once

#include <string>
#include <utility>

#include <nvdla/error.h>

namespace nvdla
{

/**
 * \brief The error for the exception that is being handled
 *
 * If there is no memory for a message, a text is used that std::string holds without allocation.
 */
Error caughtError(const char *what, const std::string &where) noexcept;

/**
 * \brief Do \a work; its exceptions become errors
 *
 * All public functions, callbacks of libraries and thread functions do their work inside this.
 *
 * \param[in] what the attempted action, for the error
 * \param[in] where the place, for the error
 * \param[in] work a function that returns a Result
 * \return the function's result; NoMemory if there was not enough memory for it
 */
template<typename Work>
auto guarded(const char *what, const std::string &where, Work &&work) noexcept -> decltype(work())
{
	try {
		return work();
	} catch (...) {
		return tl::unexpected<Error>(caughtError(what, where));
	}
}

template<typename Work>
auto guarded(const char *what, Work &&work) noexcept -> decltype(work())
{
	return guarded(what, {}, std::forward<Work>(work));
}

/**
 * \return a copy of \a result; copying may throw
 *
 * A Result's own copy constructor must not throw: an exception in it ends the process.
 */
template<typename T>
Result<T> copyOf(const Result<T> &result)
{
	if (!result)
		return tl::unexpected<Error>(Error(result.error()));
	T value(*result);
	return value;
}

} /* namespace nvdla */
