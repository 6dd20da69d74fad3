/* SPDX-License-Identifier: MIT */
#include "core/workers.h"

#include <algorithm>
#include <chrono>

#include <hwy/cache_control.h>

#include <pthread.h>

#include "arith/float_environment.h"

namespace nvdla::sim
{

namespace
{

using Clock = std::chrono::steady_clock;

/* About what it takes to wake a thread, in a virtual machine; whoever has work goes first. */
constexpr auto kPatience = std::chrono::microseconds(100);
/* At first nobody else is let on the core, as coming back takes as long as some operations do. */
constexpr auto kHaste = std::chrono::microseconds(10);

/* \return whether it came to be before the patience ended */
template<typename Condition>
bool lookFor(const Condition &condition)
{
	const auto begin = Clock::now();

	while (!condition()) {
		const auto passed = Clock::now() - begin;
		if (passed >= kPatience)
			return false;
		if (passed < kHaste)
			hwy::Pause();
		else
			std::this_thread::yield();
	}
	return true;
}

} /* namespace */

Workers::Workers(unsigned int threads)
{
	if (threads == 0)
		threads = std::max(1U, std::thread::hardware_concurrency());
	if (sched_getaffinity(0, sizeof(cores_), &cores_) != 0)
		CPU_ZERO(&cores_);
	for (unsigned int i = 1; i < threads; i++)
		threads_.emplace_back(&Workers::help, this, i);
}

Workers::~Workers()
{
	{
		const std::lock_guard lock(mutex_);
		stopping_ = true;
	}
	wake_.notify_all();
	for (std::thread &thread : threads_)
		thread.join();
}

void Workers::run(unsigned int most, const std::function<void(unsigned int)> &work)
{
	const std::unique_lock use(inUse_, std::try_to_lock);
	const unsigned int helpers = std::min(most, threads()) - 1;

	if (!use || most <= 1 || helpers == 0) {
		work(0);
		return;
	}
	work_ = &work;
	callersCore_ = sched_getcpu();
	/* Who is about to sleep sees it, or is counted among those that do. */
	calls_ = helpers;
	const unsigned int awake = static_cast<unsigned int>(threads_.size()) - asleep_;
	makeWay(callersCore_);
	if (awake < helpers)
		wake(helpers - awake);
	work(0);
	calls_.fetch_and(~kWanted);
	waitForOthers();
}

void Workers::rouse()
{
	wake(asleep_);
}

void Workers::wake(unsigned int sleepers)
{
	{
		const std::lock_guard lock(mutex_);
	}
	for (unsigned int i = 0; i < sleepers; i++)
		wake_.notify_one();
}

void Workers::waitForOthers()
{
	const auto done = [this] { return calls_ == 0; };

	if (lookFor(done))
		return;
	std::unique_lock lock(mutex_);
	callerSleeps_ = true;
	done_.wait(lock, done);
	callerSleeps_ = false;
}

/*
 * Schedulers like to put who is woken where the one is who wakes, and in a virtual machine cores
 * that have nothing to do may not be there for them: it would wait for milliseconds. Callers are
 * put where somebody looks for work as well, and both would stay there.
 */
void Workers::makeWay(int core)
{
	cpu_set_t cores = cores_;

	if (core == freeCore_ || core < 0)
		return;
	freeCore_ = core;
	CPU_CLR(core, &cores);
	for (std::thread &thread : threads_)
		if (CPU_COUNT(&cores) > 0)
			pthread_setaffinity_np(thread.native_handle(), sizeof(cores), &cores);
}

/* \return false if nobody wants one more */
bool Workers::answer()
{
	unsigned int calls = calls_;

	while (calls & kWanted)
		if (calls_.compare_exchange_weak(calls, calls - 1 + kWorking))
			return true;
	return false;
}

/* \return false if there is nothing more to come */
bool Workers::takesPart()
{
	const auto called = [this] { return (calls_ & kWanted) || stopping_; };

	while (!stopping_) {
		if (answer())
			return true;
		/* Who is in the caller's way sleeps, and is woken where there is room. */
		if (lookFor([&] { return called() || sched_getcpu() == callersCore_; }) && called())
			continue; /* and there, if nobody else was faster */
		std::unique_lock lock(mutex_);
		asleep_++;
		/* Who is woken too late looks for what follows. */
		if (!called())
			wake_.wait(lock);
		asleep_--;
	}
	return false;
}

void Workers::help(unsigned int thread)
{
	const FloatEnvironment floats;

	while (takesPart()) {
		(*work_)(thread);
		calls_ -= kWorking;
		if (!callerSleeps_)
			continue;
		const std::lock_guard lock(mutex_);
		done_.notify_one();
	}
}

} /* namespace nvdla::sim */
