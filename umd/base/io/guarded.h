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
 * \brief Make an error of the exception that is being handled
 *
 * If there is no memory for the message, the error has a text that is short enough for a
 * std::string without allocation.
 */
Error caughtError(const char *what, const std::string &where) noexcept;

/**
 * \brief Do \a work; its exceptions become errors
 *
 * All public functions, callbacks and functions of threads do their work inside of guarded(), so
 * that no exception leaves the library.
 *
 * \param[in] what the attempted action, for the error
 * \param[in] where the object of the action, such as a file, for the error
 * \param[in] work a function that returns a Result
 * \return the function's result, or the error for its exception: NoMemory, Io or Unsupported
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
 * \return a copy of \a result
 *
 * An exception in a Result's own copy constructor ends the process, because tl::expected copies the
 * value in a noexcept function. This function lets the exception out.
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
