/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include <unistd.h>

namespace nvdla::bench
{

namespace
{

double now(clockid_t clock)
{
	timespec time;
	clock_gettime(clock, &time);
	return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} /* namespace */

double processSeconds()
{
	return now(CLOCK_PROCESS_CPUTIME_ID);
}

double secondsOf(unsigned int threads, const std::function<void()> &call)
{
	const clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;

	const double start = now(clock);
	call();
	return now(clock) - start;
}

void wakeThreads(unsigned int threads, const std::function<void()> &call)
{
	if (threads > 1)
		call();
}

void letOneDnnSleep(unsigned int threads)
{
	constexpr auto kUntilAsleep = std::chrono::milliseconds(20);

	if (threads > 1)
		std::this_thread::sleep_for(kUntilAsleep);
}

void restrictOneDnn(char **argv, unsigned int threads, bool avx2)
{
	if (std::getenv("OMP_NUM_THREADS"))
		return;
	setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
	if (avx2)
		setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
	execv("/proc/self/exe", argv);
}

} /* namespace nvdla::bench */
