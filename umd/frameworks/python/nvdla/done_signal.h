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
 * \brief A file descriptor that becomes readable when the newest run (that of the last announce())
 * is done
 *
 * A run object may be started again before the callback of its previous run was called. The numbers
 * of runs keep that late callback from waking the thread that waits for the new run.
 */
class DoneSignal
{
public:
	/** \return true if the descriptor exists; otherwise errno has the reason */
	explicit operator bool() const { return bool(event_); }

	int fileno() const { return event_.get(); }

	/** \brief Begin a new run: make the descriptor unreadable \return the number of the run */
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
