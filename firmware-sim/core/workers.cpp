/* SPDX-License-Identifier: MIT */
#include "core/workers.h"

#include <algorithm>
#include <utility>

#include <pthread.h>

#include "arith/float_environment.h"
#include "core/patience.h"

namespace nvdla::sim
{

Workers::Workers(unsigned int threads)
{
	if (threads == 0)
		threads = std::max(1U, std::thread::hardware_concurrency());
	if (sched_getaffinity(0, sizeof(cores_), &cores_) != 0)
		CPU_ZERO(&cores_);
	try {
		for (unsigned int i = 1; i < threads; i++)
			threads_.emplace_back(&Workers::help, this, i);
	} catch (...) {
		endThreads();
		throw;
	}
}

Workers::~Workers()
{
	endThreads();
}

void Workers::endThreads()
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
	/* A helper that is about to sleep either sees calls_ or is already counted in asleep_. */
	calls_ = helpers;
	const unsigned int awake = static_cast<unsigned int>(threads_.size()) - asleep_;
	makeWay(callersCore_);
	if (awake < helpers)
		wake(helpers - awake);
	call(0);
	calls_.fetch_and(~kWanted);
	waitForOthers();
	if (failure_)
		std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Workers::call(unsigned int thread)
{
	try {
		(*work_)(thread);
	} catch (...) {
		const std::lock_guard lock(failureMutex_);
		if (!failure_)
			failure_ = std::current_exception();
	}
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
 * Keeps helpers off the caller's core. Schedulers often place a woken thread on its waker's core.
 * In a virtual machine idle cores may not be scheduled, so the thread would wait for milliseconds.
 * A caller may also land on the core of a polling thread, and both would stay on that core.
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

/* \return false if no further thread is wanted */
bool Workers::answer()
{
	unsigned int calls = calls_;

	while (calls & kWanted)
		if (calls_.compare_exchange_weak(calls, calls - 1 + kWorking))
			return true;
	return false;
}

bool Workers::post(std::function<void()> errand)
{
	Errand state = Errand::None;

	if (looking_ == 0 || !errandState_.compare_exchange_strong(state, Errand::Held))
		return false;
	errand_ = std::move(errand);
	errandState_ = Errand::Offered;
	/* A helper that stops polling either sees the errand or is no longer in looking_. */
	if (looking_ > 0)
		return true;
	state = Errand::Offered;
	return !errandState_.compare_exchange_strong(state, Errand::None);
}

void Workers::doErrand()
{
	Errand state = Errand::Offered;

	if (!errandState_.compare_exchange_strong(state, Errand::Held))
		return;
	const std::function<void()> errand = std::move(errand_);
	errandState_ = Errand::None;
	errand();
}

/* \return false if the threads are to end */
bool Workers::takesPart()
{
	const auto called = [this] {
		return (calls_ & kWanted) || errandState_ == Errand::Offered || stopping_;
	};

	for (;;) {
		doErrand();
		if (stopping_)
			return false;
		if (answer())
			return true;
		/* A helper on the caller's core stops polling and is woken on a free core. */
		looking_++;
		const bool found =
			lookFor([&] { return called() || sched_getcpu() == callersCore_; });
		looking_--;
		if (found && called())
			continue; /* a call, an errand or the end; another thread may take it */
		std::unique_lock lock(mutex_);
		asleep_++;
		/* If other helpers took all calls in the meantime, wait for the next run(). */
		if (!called())
			wake_.wait(lock);
		asleep_--;
	}
}

void Workers::help(unsigned int thread)
{
	const FloatEnvironment floats;

	while (takesPart()) {
		call(thread);
		calls_ -= kWorking;
		if (!callerSleeps_)
			continue;
		const std::lock_guard lock(mutex_);
		done_.notify_one();
	}
}

} /* namespace nvdla::sim */
