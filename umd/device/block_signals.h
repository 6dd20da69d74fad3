/* SPDX-License-Identifier: MIT */
#pragma once

#include <csignal>

namespace nvdla
{

/**
 * \brief Threads that the caller creates during the object's lifetime get no signals
 *
 * Signals belong to the application, whose threads expect to be interrupted by them. Signals raised
 * by a thread's own faults stay unblocked.
 */
class BlockSignals
{
public:
	BlockSignals()
	{
		sigset_t blocked;

		sigfillset(&blocked);
		for (const int fault : { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS })
			sigdelset(&blocked, fault);
		pthread_sigmask(SIG_SETMASK, &blocked, &before_);
	}
	~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

	BlockSignals(const BlockSignals &) = delete;
	BlockSignals &operator=(const BlockSignals &) = delete;

private:
	sigset_t before_;
};

} /* namespace nvdla */
