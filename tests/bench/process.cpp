/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <cstdlib>
#include <ctime>
#include <string>

#include <unistd.h>

namespace nvdla::bench
{

namespace
{

double secondsOf(clockid_t clock)
{
	timespec time;
	clock_gettime(clock, &time);
	return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} /* namespace */

double processSeconds()
{
	return secondsOf(CLOCK_PROCESS_CPUTIME_ID);
}

double wallSeconds()
{
	return secondsOf(CLOCK_MONOTONIC);
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
