/* SPDX-License-Identifier: MIT */
/*
 * The result of an operation, as an engine returns it to the core.
 */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "timing/work.h"

namespace nvdla::sim
{

/** \brief Value of a read-only status or counter register after an operation */
struct RegisterUpdate {
	uint32_t address; /**< CSB byte address, NVDLA_<UNIT>_<REGISTER> */
	uint32_t value;
};

/**
 * \brief Outcome of one operation
 *
 * The core stores \a updates in the operation's register group when it ends, and gives \a work to
 * the timing model. \a guestError has the reason of a guest error, or is empty; the core reports it
 * once. An operation that \a hangs never raises its interrupt, as on hardware; only a reset ends
 * it.
 */
struct OperationResult {
	std::vector<RegisterUpdate> updates;
	OperationWork work;
	std::string guestError;
	bool hangs = false;
};

/**
 * \brief Guest error of an operation for which the host has no memory
 *
 * Short enough for a std::string without allocation.
 */
inline constexpr const char *kNoHostMemory = "no host memory";

/** \return the result of an operation that hangs, with its guest error */
inline OperationResult hangingOperation(std::string guestError)
{
	OperationResult result;

	result.guestError = std::move(guestError);
	result.hangs = true;
	return result;
}

/** \brief Keep the first of an operation's errors */
inline void noteError(std::string &guestError, std::string_view error)
{
	if (guestError.empty())
		guestError = error;
}

} /* namespace nvdla::sim */
