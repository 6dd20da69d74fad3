/* SPDX-License-Identifier: MIT */
/*
 * The border that no exception passes.
 */
#pragma once

#include <string>
#include <utility>

#include <nvdla/error.h>

namespace nvdla
{

/**
 * \brief The error that stands for the exception which is being handled
 *
 * Without memory for words it has those that fit into a string as it is.
 */
Error caughtError(const char *what, const std::string &where) noexcept;

/**
 * \brief Do \a work, whose exceptions become errors
 *
 * Public functions, callbacks of libraries and the functions of threads do what they do in here.
 *
 * \param[in] what for the error: what is attempted
 * \param[in] where for the error: what it is for
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
 * \return a copy of \a result, which may throw
 *
 * A Result's own copy constructor may not: an exception in it ends the process.
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
