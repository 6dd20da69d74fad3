/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include <hwy/targets.h>
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

double elapsedSecondsOf(const std::function<void()> &call)
{
	const double start = now(CLOCK_MONOTONIC);
	call();
	return now(CLOCK_MONOTONIC) - start;
}

double secondsOf(unsigned int threads, const std::function<void()> &call)
{
	if (threads > 1)
		return elapsedSecondsOf(call);
	const double start = processSeconds();
	call();
	return processSeconds() - start;
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

void restrictHost(char **argv, unsigned int threads, const std::string &isa)
{
	if (isa == "avx2")
		hwy::DisableTargets(HWY_AVX2 - 1);
	else if (!isa.empty())
		hwy::DisableTargets(HWY_AVX3 - 1);
	if (std::getenv("OMP_NUM_THREADS"))
		return;
	setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
	if (!isa.empty())
		setenv("ONEDNN_MAX_CPU_ISA", isa == "avx2" ? "AVX2" : "AVX512_CORE_VNNI", 1);
	execv("/proc/self/exe", argv);
}

} /* namespace nvdla::bench */
