/* SPDX-License-Identifier: MIT */
/*
 * A file descriptor that becomes readable when a run is done.
 */
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>

#include <nvdla/error.h>
#include <sys/eventfd.h>

#include "base/io/unique_fd.h"

namespace nvdla::python
{

/**
 * \brief A file descriptor that is readable when the run that was announced last is done
 *
 * A run object may be started again before the callback of its previous run was called. That late
 * callback must not wake the waiter for the new run.
 */
class DoneSignal
{
public:
	/** \return true if the descriptor could be made; errno says why not */
	explicit operator bool() const { return bool(event_); }

	int fileno() const { return event_.get(); }

	/** \brief Make the descriptor unreadable for a new run \return the number of the run */
	uint64_t announce()
	{
		const std::lock_guard guard(lock_);
		eventfd_t old;

		eventfd_read(event_.get(), &old);
		return ++run_;
	}

	/**
	 * \brief Make the descriptor readable, because run number \a run is done. Does nothing if
	 * a newer run was announced, because then no thread waits for the old run
	 */
	void done(uint64_t run)
	{
		const std::lock_guard guard(lock_);

		if (run == run_)
			eventfd_write(event_.get(), 1);
	}

private:
	UniqueFd event_{ eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	std::mutex lock_;
	uint64_t run_ = 0;
};

} /* namespace nvdla::python */
