/* SPDX-License-Identifier: MIT */
#pragma once

#include <csignal>

namespace nvdla
{

/**
 * \brief While it is there, threads that the caller makes get no signals
 *
 * Signals are the application's, and its threads expect to be interrupted by them. Those that
 * a thread's own faults raise stay.
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
