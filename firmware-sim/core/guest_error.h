/* SPDX-License-Identifier: MIT */
/* Errors of the guest, each reported once. */
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace nvdla::sim
{

/** \brief A mistake of the guest's driver; the model reports it and continues */
struct GuestError {
	std::string unit;   /**< unit in the register description, or "CSB" */
	std::string where;  /**< register or operation of the error */
	std::string reason; /**< the error, without variable numbers */
	std::string detail; /**< the variable numbers; may be empty */
};

/** \return an address, formatted for messages */
std::string hex(uint64_t value);

/** \brief Receiver of guest errors; called without any lock of the core held, from any thread */
using Diagnostics = std::function<void(const GuestError &)>;

/**
 * \brief Queue of guest errors to report
 *
 * Each (unit, register, reason) is reported only once until the next reset, and the number of
 * reports is limited, so that a guest cannot fill a log.
 *
 * Not thread-safe: the caller holds the core's lock.
 */
class GuestErrors
{
public:
	static constexpr size_t maximum = 256;

	/**
	 * \brief Add the error that \a make returns
	 *
	 * Never throws: if the host has no memory for the error, take() returns an error that says
	 * that one was lost.
	 */
	template<typename Make>
	void add(const Make &make)
	{
		try {
			addMade(make());
		} catch (const std::bad_alloc &) {
			isLost_ = true;
		}
	}
	/** \brief Add the error that the host has no memory for an operation of \a unit */
	void addNoMemory(const char *unit, const char *where);
	/** \brief Record that an error was lost because the host had no memory */
	void lose() { isLost_ = true; }

	/** \return the errors since the last call */
	std::vector<GuestError> take();

	/** \brief Forget which errors were reported, so that they can be reported again */
	void reset();

private:
	void addMade(GuestError error);

	std::set<std::tuple<std::string, std::string, std::string>> seen_;
	std::vector<GuestError> waiting_;
	bool isLost_ = false;
};

} /* namespace nvdla::sim */
