/* SPDX-License-Identifier: MIT */
#include "core/core.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <new>
#include <utility>

#include "arith/float_environment.h"
#include "core/patience.h"

namespace nvdla::sim
{

namespace
{

const char *engineName(Engine engine)
{
	constexpr std::array<const char *, engineCount> names = { "BDMA", "convolution", "SDP",
								  "PDP",  "CDP",	 "RUBIK" };
	return names[index(engine)];
}

} /* namespace */

Core::Core(const CoreConfig &config, Memory &dram, Interrupt interrupt)
	: config_(config), dram_(dram), interrupt_(std::move(interrupt)),
	  cvsram_(config.cvsramBase, config.cvsramSize), glb_(config_.geometry),
	  scheduler_(config_.geometry), workers_(config.threads),
	  conv_(workers_, config_.conv, config_.geometry)
{
	glb_.reset();
	asleep_.reserve(threads_.size());
	coming_ = static_cast<unsigned int>(threads_.size());
	try {
		for (unsigned int i = 0; i < threads_.size(); i++)
			threads_[i].thread = std::thread(&Core::work, this, i);
	} catch (...) {
		endThreads();
		throw;
	}
}

Core::~Core()
{
	endThreads();
}

void Core::endThreads()
{
	{
		std::unique_lock lock(mutex_);
		stopping_ = true;
		stopEngines(lock);
		for (Thread &one : threads_)
			one.woken.notify_one();
		changed_.notify_all();
	}
	for (Thread &one : threads_) {
		if (one.thread.joinable())
			one.thread.join();
	}
	/* A thread of workers_ may still run a callback. */
	std::unique_lock lock(mutex_);
	changed_.wait(lock, [this] { return delivering_ == 0; });
}

/* Assigns each engine an operation that can begin. \a changed: only this unit has changed. */
void Core::dispatch(std::optional<Unit> changed)
{
	for (size_t i = 0; i < engineCount; i++) {
		const auto engine = static_cast<Engine>(i);
		if (!changed || Scheduler::takesPart(*changed, engine))
			begin(engine);
	}
	callThreads();
}

void Core::begin(Engine engine)
{
	Slot &slot = slots_[index(engine)];

	if (slot.busy)
		return;
	try {
		slot.job = scheduler_.begin(engine);
	} catch (const std::bad_alloc &) { /* the operation can begin later */
		errors_.addNoMemory(engineName(engine), "operation");
	}
	if (!slot.job)
		return;
	slot.busy = true;
	slot.cancel = false;
	news_++;
	if (engine == Engine::Conv && workers_.anyAsleep() && conv_.isShared(slot.job->inputs))
		toWake_ |= kHelpers;
}

/* Calls sleeping threads if fewer threads look for work than operations wait for one. */
void Core::callThreads()
{
	const auto jobs =
		std::ranges::count_if(slots_, [](const Slot &slot) { return slot.job != nullptr; });

	for (; coming_ < static_cast<unsigned int>(jobs); coming_++) {
		threads_[asleep_.back()].isCalled = true;
		toWake_ |= 1U << asleep_.back();
		asleep_.pop_back();
	}
}

void Core::wakeThreads(uint32_t calls)
{
	for (uint32_t rest = calls & ~kHelpers; rest; rest &= rest - 1)
		threads_[static_cast<size_t>(std::countr_zero(rest))].woken.notify_one();
	if (calls & kHelpers)
		workers_.rouse();
}

/* \return an engine whose operation waits for a thread; null if there is none */
Core::Slot *Core::waiting()
{
	const auto slot =
		std::ranges::find_if(slots_, [](const Slot &one) { return one.job != nullptr; });

	return slot == slots_.end() ? nullptr : &*slot;
}

/* Like waiting(). If no operation waits, waits while a helper (a thread of workers_) reports a
 * completion, after which the guest may enable the next operation. */
Core::Slot *Core::next(std::unique_lock<std::mutex> &lock)
{
	const auto aHelperTells = [this] {
		return std::ranges::any_of(slots_,
					   [](const Slot &one) { return one.helperTells.load(); });
	};
	Slot *slot;

	while (!(slot = waiting()) && aHelperTells()) {
		const unsigned int news = news_;
		lock.unlock();
		const bool looksOn = lookFor([&] { return news_ != news; });
		lock.lock();
		if (!looksOn)
			return waiting();
	}
	return slot;
}

/* \return false if the core is being destroyed */
bool Core::sleep(std::unique_lock<std::mutex> &lock, unsigned int thread)
{
	Thread &self = threads_[thread];

	asleep_.push_back(thread);
	self.woken.wait(lock, [&] { return self.isCalled || stopping_; });
	self.isCalled = false;
	return !stopping_;
}

void Core::work(unsigned int thread)
{
	const FloatEnvironment floats;
	std::unique_lock lock(mutex_);

	do {
		while (Slot *slot = next(lock)) {
			coming_--;
			carryOut(lock, *slot);
		}
		coming_--;
	} while (sleep(lock, thread));
}

/* Runs an operation. Afterwards coming_ counts this thread again. */
void Core::carryOut(std::unique_lock<std::mutex> &lock, Slot &slot)
{
	const std::unique_ptr<Job> job = std::move(slot.job);
	const auto begin = config_.realtime ? Clock::now() : Clock::time_point{};

	lock.unlock();
	MemoryPort port(dram_, cvsram_, &slot.cancel);
	OperationResult result = runJob(*job, port);
	lock.lock();
	if (config_.realtime)
		waitForChip(lock, slot, begin, result);

	result.hangs = result.hangs || hangs(*job);
	waitUntilTold(lock, slot);
	slot.busy = false;
	coming_++;
	if (slot.cancel) {
		changed_.notify_all();
		return;
	}
	slot.end = conclude(*job, result, port);
	tell(lock, slot);
}

/* Waits for the report of the engine's previous operation, because reports are in order. Does not
 * wait for a cancelled operation, which is not reported. */
void Core::waitUntilTold(std::unique_lock<std::mutex> &lock, Slot &slot)
{
	const auto may = [&slot] { return !slot.tells || slot.cancel; };

	if (may())
		return;
	lock.unlock();
	lookFor(may);
	lock.lock();
	changed_.wait(lock, may);
}

/* Reports that an operation is done. If a helper is polling for work, the helper makes the report,
 * so that this thread can run the next operation. */
void Core::tell(std::unique_lock<std::mutex> &lock, Slot &slot)
{
	slot.tells = true;
	slot.helperTells = true;
	lock.unlock();
	const auto telling = [this, &slot] {
		deliver(std::move(slot.end));
		const std::lock_guard again(mutex_);
		slot.tells = false;
		slot.helperTells = false;
		delivered();
	};
	if (!workers_.post(telling)) {
		slot.helperTells = false;
		telling();
	}
	lock.lock();
}

/* Waits until the operation would be done on the chip, or is cancelled. */
void Core::waitForChip(std::unique_lock<std::mutex> &lock, Slot &slot,
		       std::chrono::steady_clock::time_point begin, const OperationResult &result)
{
	const uint64_t cycles = timeOperation(result.work, config_.timing).cycles;
	constexpr double longest = 1e9; /* seconds; ten times as much would overflow the clock */
	const std::chrono::duration<double> duration(
		std::min(static_cast<double>(cycles) / config_.timing.clockHz, longest));
	const auto end = begin + std::chrono::duration_cast<Clock::duration>(duration);

	slot.cancelled.wait_until(lock, end, [&slot] { return slot.cancel.load(); });
}

/* Completes the units of an operation, and begins operations that waited for them. \return reports
 * to make without the lock */
Core::Messages Core::conclude(const Job &job, OperationResult &result, const MemoryPort &port)
{
	Messages messages;
	try {
		complete(job, result, port, messages);
	} catch (const std::bad_alloc &) { /* without memory, the operation never ends */
		errors_.addNoMemory(engineName(job.engine), "operation");
	}
	dispatch();
	messages.errors = errors_.take();
	messages.calls = std::exchange(toWake_, 0);
	delivering_++;
	changed_.notify_all();
	return messages;
}

void Core::delivered()
{
	delivering_--;
	news_++;
	changed_.notify_all();
}

/* Completes all units but CDMA, which keeps running; \a job then has only CDMA. */
void Core::concludeSums(Job &job, OperationResult sums, const MemoryPort &port)
{
	Slot &slot = slots_[index(Engine::Conv)];
	std::unique_lock lock(mutex_);
	waitUntilTold(lock, slot);
	if (slot.cancel)
		return;
	Job done = job;
	std::erase_if(done.units, [](const UnitGroup &use) { return use.unit == Unit::Cdma; });
	std::erase_if(job.units, [](const UnitGroup &use) { return use.unit != Unit::Cdma; });
	job.recorded = true;
	Messages messages = conclude(done, sums, port);
	lock.unlock();
	deliver(std::move(messages));
	lock.lock();
	delivered();
}

/* \return true if a test ordered a fault. If only CDMA's part hangs, the rest of the job
 * completes. */
bool Core::hangs(Job &job) const
{
	if (config_.neverEnds && config_.neverEnds())
		return true;
	if (job.engine != Engine::Conv || !config_.cdmaNeverEnds || !config_.cdmaNeverEnds())
		return false;
	std::erase_if(job.units, [](const UnitGroup &use) { return use.unit == Unit::Cdma; });
	return job.units.empty();
}

/* Runs a job. Units that are done before the others may be removed from the job. */
OperationResult Core::runJob(Job &job, MemoryPort &port)
{
	try {
		if (job.engine == Engine::Bdma)
			return run(job.bdma, port);
		if (job.engine == Engine::Conv)
			return conv_.run(job.inputs, port, [&](OperationResult sums) {
				concludeSums(job, std::move(sums), port);
			});
		return runOperation(job.engine, job.inputs, port, workers_);
	} catch (const std::bad_alloc &) {
		return hangingOperation(kNoHostMemory);
	}
}

/* Completes the units of a job; has no effect if it throws std::bad_alloc. */
void Core::complete(const Job &job, OperationResult &result, const MemoryPort &port,
		    Messages &messages)
{
	addErrors(engineName(job.engine), result, port);
	if (result.hangs)
		return;
	OperationTiming timing;
	if (config_.operationDone || asksForTiming(job.inputs) || job.engine == Engine::Bdma)
		timing = timeOperation(result.work, config_.timing);
	std::ranges::move(performanceRegisters(job.inputs, timing),
			  std::back_inserter(result.updates));
	messages.interrupt = glb_.raise(scheduler_.finish(job, result, timing));
	if (job.recorded || !config_.operationDone)
		return;
	const bool fetching = job.engine == Engine::Conv &&
			      std::ranges::none_of(job.units, [](const UnitGroup &use) {
				      return use.unit == Unit::Cdma;
			      });
	messages.record = { .engine = job.engine,
			    .units = job.inputs.units,
			    .work = result.work,
			    .timing = timing,
			    .moved = { port.traffic(RamType::Mc), port.traffic(RamType::Cv) },
			    .fetching = fetching };
}

/* \return true if no engine computes; callbacks may still be running. */
bool Core::stopped() const
{
	return std::none_of(slots_.begin(), slots_.end(),
			    [](const Slot &slot) { return slot.busy; });
}

bool Core::idle()
{
	std::unique_lock lock(mutex_);
	return stopped() && !delivering_;
}

void Core::waitIdle()
{
	std::unique_lock lock(mutex_);
	changed_.wait(lock, [this] { return stopped() && !delivering_ && !resetting_; });
}

/* Cancels all operations and waits for their end; engines check the flag for each line. */
void Core::stopEngines(std::unique_lock<std::mutex> &lock)
{
	resetting_ = true;
	for (Slot &slot : slots_) {
		slot.cancel = true;
		slot.cancelled.notify_one();
		if (slot.job) {
			slot.job.reset();
			slot.busy = false;
		}
	}
	changed_.notify_all();
	changed_.wait(lock, [this] { return stopped(); });
}

void Core::reset()
{
	std::unique_lock lock(mutex_);
	changed_.wait(lock, [this] { return !resetting_ || stopping_; });
	if (stopping_) /* the destructor has already abandoned all operations */
		return;
	stopEngines(lock);
	glb_.reset();
	scheduler_.reset();
	sdpPort_.configure(0);
	cdpPort_.configure(0);
	errors_.reset();
	conv_.reset();
	resetting_ = false;
	changed_.notify_all();
}

void Core::addErrors(const char *unit, const OperationResult &result, const MemoryPort &port)
{
	if (!result.guestError.empty())
		errors_.add([&] { return GuestError{ unit, "operation", result.guestError, {} }; });
	if (!port.faulted())
		return;
	errors_.add([&] {
		return GuestError{ unit, "operation",
				   port.faultType() == RamType::Mc
					   ? "access outside the system memory"
					   : "access outside the CVSRAM",
				   hex(port.faultAddress()) };
	});
}

void Core::deliver(Messages messages)
{
	wakeThreads(messages.calls);
	try {
		if (config_.diagnostics)
			for (const GuestError &error : messages.errors)
				config_.diagnostics(error);
		if (messages.record)
			config_.operationDone(*messages.record);
	} catch (const std::bad_alloc &) {
		const std::lock_guard lock(mutex_);
		errors_.lose();
	}
	if (messages.interrupt && interrupt_)
		interrupt_();
}

} /* namespace nvdla::sim */
