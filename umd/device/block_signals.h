/* SPDX-License-Identifier: MIT */
#pragma once

#include <csignal>

namespace nvdla
{

/**
 * \brief While this object exists, threads that the caller creates start with all signals blocked
 *
 * So signals go to the application's own threads, which expect to be interrupted by them. Signals
 * for a thread's own faults, such as SIGSEGV, stay unblocked.
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
