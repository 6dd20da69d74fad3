/* SPDX-License-Identifier: MIT */
#include "executor.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <nvdla/hw/registers.h>

#include "base/io/guarded.h"
#include "device/clock.h"
#include "user/nvdla_engine.h"

namespace nvdla
{

namespace
{

/* Largest number of postponed register writes; when it is reached, all of them are written. */
constexpr size_t mostWrites = 4096;

sim::CoreConfig coreConfig(const EmbeddedOptions &options)
{
	sim::CoreConfig config;
	config.geometry = *options.core;
	config.cvsramSize = options.core->cvsramSize;
	config.cvsramBase = Executor::onChipBase(options);
	config.conv = { options.fp16, sim::ReleasedEntries::MayChange };
	config.threads = options.threads;
	if (options.chip)
		config.timing = options.chip->parameters();
	config.realtime = options.realtime;
	return config;
}

} /* namespace */

Executor::Executor(const EmbeddedOptions &options, sim::Memory &memory, std::mutex &lock,
		   std::condition_variable &done)
	: variant_(&variantOf(*options.core)), lock_(lock), done_(done),
	  recorder_(options.recorder), core_(coreConfig(options), memory, [this] { attend(); })
{
	writes_.reserve(mostWrites);
}

Executor::~Executor()
{
	{
		const std::lock_guard guard(attendLock_);
		stopping_ = true;
		watch_.notify_one();
	}
	if (watcher_.joinable())
		watcher_.join();
}

int Executor::start()
{
	static const nvdla_sequencer_ops ops = { .task_done = &Executor::taskDone,
						 .op_enabled = &Executor::opEnabled,
						 .op_completed = &Executor::opCompleted };
	nvdla_io io = {};
	nvdla_sequencer *sequencer = nullptr;

	bringUp();
	hardwareVersion_ = core_.csbRead(place(NVDLA_GLB_S_NVDLA_HW_VERSION));
	io.context = this;
	io.read = &Executor::readRegister;
	io.write = &Executor::writeRegister;
	io.now = [](void *) -> u64 { return nowNs(); };
	if (const int error = nvdla_sequencer_create(variant_, &io, &ops, this, &sequencer))
		return error;
	sequencer_.reset(sequencer);
	watcher_ = std::thread([this] { watch(); });
	return 0;
}

uint32_t Executor::readRegister(void *context, uint32_t reg)
{
	auto *executor = static_cast<Executor *>(context);

	executor->flush();
	return executor->carryOut([&] { return executor->core_.csbRead(executor->place(reg)); });
}

void Executor::writeRegister(void *context, uint32_t reg, uint32_t value)
{
	auto *executor = static_cast<Executor *>(context);

	if (executor->writes_.size() == mostWrites)
		executor->flush();
	if (executor->recorder_)
		executor->recorder_->write(executor->place(reg), value);
	executor->writes_.push_back({ executor->place(reg), value });
}

/* Does \a work for a callback from kmd/engine, which is C code. An exception (out of memory) fails
 * the job, and does not leave this function. */
template<typename Work>
uint32_t Executor::carryOut(Work work) noexcept
{
	const auto value = guarded("", [&]() -> Result<uint32_t> { return work(); });

	if (!value)
		error_ = -ENOMEM;
	return value.value_or(0);
}

void Executor::flush()
{
	if (writes_.empty())
		return;
	carryOut([this] {
		core_.csbWrite(writes_);
		return 0u;
	});
	writes_.clear();
}

/* Called after an operation was enabled: writes the postponed registers, so that the operation runs
 * while the next ones are prepared. */
void Executor::opEnabled(void *context, [[maybe_unused]] nvdla_task *task,
			 [[maybe_unused]] u32 operation)
{
	static_cast<Executor *>(context)->flush();
}

/* Called when an operation has ended: restarts the job's timeout, as in the kernel driver. */
void Executor::opCompleted(void *context, [[maybe_unused]] nvdla_task *task,
			   [[maybe_unused]] u32 operation)
{
	static_cast<Executor *>(context)->extendDeadline();
}

void Executor::taskDone(void *context, [[maybe_unused]] nvdla_task *task, int error)
{
	auto *executor = static_cast<Executor *>(context);

	executor->running_ = false;
	executor->error_ = error;
}

/* Prepares the core after a reset: clears pending interrupts and unmasks all interrupts. */
void Executor::bringUp()
{
	writeNow(NVDLA_GLB_S_INTR_STATUS, variant_->intr_mask);
	writeNow(NVDLA_GLB_S_INTR_MASK, 0);
}

void Executor::writeNow(uint32_t reg, uint32_t value)
{
	if (recorder_)
		recorder_->write(place(reg), value);
	core_.csbWrite(place(reg), value);
}

void Executor::clearOnChip(uint64_t address, size_t size)
{
	if (recorder_)
		recorder_->clearOnChip(address, size);
	core_.cvsram().write(address, std::vector<std::byte>(size));
}

/*
 * Called by the thread of an operation that has ended, by a helping thread while the operation's
 * thread goes on, or by the thread that has queued a job.
 */
void Executor::attend()
{
	std::unique_lock guard(attendLock_);

	pending_ = true;
	/* Another thread that is in attend() sees pending_ and checks once more. */
	if (attending_)
		return;
	attending_ = true;
	attend(guard);
}

void Executor::attend(std::unique_lock<std::mutex> &guard)
{
	while (pending_ && !failed_) {
		pending_ = false;
		guard.unlock();
		const bool well = carryOut([this] {
			handleInterrupt();
			return advance() ? 1u : 0u;
		});
		guard.lock();
		/* Check the job's deadline here, too: while operations end in quick succession,
		 * attending_ is set all the time, and the watching thread does nothing. */
		failed_ = !well || error_ || isLate();
	}
	/*
	 * Leave the reset of the core to the watching thread: a reset waits for the core's
	 * operations, and this thread may be computing one.
	 */
	attending_ = failed_;
	if (failed_)
		watch_.notify_one();
	attended_.notify_one();
}

void Executor::handleInterrupt()
{
	if (!running_)
		return;
	if (const uint32_t status = core_.csbRead(place(NVDLA_GLB_S_INTR_STATUS))) {
		if (recorder_)
			recorder_->interrupts(place(NVDLA_GLB_S_INTR_STATUS), status);
		core_.csbWrite(place(NVDLA_GLB_S_INTR_STATUS), status);
		nvdla_sequencer_irq(sequencer_.get(), status);
		flush();
	}
}

/* Starts the next task or job, until a task is running or none is left. \return false if the job
 * has failed */
bool Executor::advance()
{
	while (!running_ && (job_ || takeJob())) {
		if (error_)
			return false;
		if (nextTask_ < job_->tasks.size())
			startTask();
		else
			endJob(0);
	}
	return true;
}

bool Executor::takeJob()
{
	{
		const std::lock_guard guard(lock_);
		job_ = queue_.pop();
	}
	if (!job_)
		return false;
	if (recorder_)
		recorder_->begin(job_->buffers);
	nextTask_ = 0;
	error_ = 0;
	job_->result.num_runs = 1;
	job_->result.start_ns = nowNs();
	lastDeadline_ = Clock::now() + NVDLA_TIMEOUT_FACTOR * job_->timeout;
	extendDeadline();
	return true;
}

void Executor::startTask()
{
	job_->result.num_started++;
	running_ = true;
	if (const int error =
		    nvdla_sequencer_start(sequencer_.get(), job_->tasks[nextTask_++].get())) {
		running_ = false;
		error_ = error;
	}
	flush();
}

void Executor::endJob(int error)
{
	const auto job = std::move(job_);

	setDeadline(Clock::time_point::max());
	if (recorder_)
		recorder_->end(job->buffers);
	writeResult(*job, error);
	std::unique_lock guard(lock_);
	const FenceEvents events = job->fence->signal(error);
	/* Free buffers that only the job owns before anybody can notice its end. */
	job->buffers.clear();
	job->resultBuffer.reset();
	guard.unlock();
	/* Notify without the lock, because the woken threads take it. */
	done_.notify_all();
	for (const auto &event : events)
		event->write();
}

void Executor::writeResult(EmbeddedJob &job, int error)
{
	if (!job.resultBuffer)
		return;
	job.result.tasks = job.resultTasks.data();
	job.result.num_tasks = static_cast<u32>(job.resultTasks.size());
	job.result.status = error;
	job.result.end_ns = nowNs();
	nvdla_result_write(&job.result, job.resultBuffer->bytes().data() + job.resultOffset);
}

void Executor::extendDeadline()
{
	setDeadline(std::min(Clock::now() + job_->timeout, lastDeadline_));
}

/*
 * Wakes the watching thread only if the deadline is before the time at which it wakes by itself;
 * otherwise the thread reads the new deadline when it wakes. Most jobs end long before their
 * deadline, so this saves wake-ups.
 */
void Executor::setDeadline(Clock::time_point deadline)
{
	const std::lock_guard guard(attendLock_);

	deadline_ = deadline;
	if (deadline < wakes_)
		watch_.notify_one();
}

void Executor::watch()
{
	std::unique_lock guard(attendLock_);
	const auto free = [this] { return failed_ || !attending_; };

	while (!stopping_) {
		if (!failed_ && !isLate()) {
			wakes_ = deadline_;
			watch_.wait_until(guard, wakes_);
			continue;
		}
		attended_.wait(guard, free);
		if (failed_ || isLate())
			rescue(guard);
	}
	attended_.wait(guard, free);
	attending_ = true;
	guard.unlock();
	if (job_)
		recover();
	while (job_ || takeJob())
		endJob(-ENODEV);
}

/* Resets the core, ends the job that failed or took too long, and goes on with the other jobs. */
void Executor::rescue(std::unique_lock<std::mutex> &guard)
{
	const int error = error_ ? error_ : -ETIMEDOUT;

	attending_ = true;
	failed_ = false;
	guard.unlock();
	recover();
	if (job_)
		endJob(error);
	guard.lock();
	pending_ = true;
	attend(guard);
}

/* Resets the core, which may be in any state, and takes the running task off it. */
void Executor::recover()
{
	nvdla_sequencer_abort(sequencer_.get());
	for (error_ = -ENOMEM; error_;) {
		error_ = 0;
		carryOut([this] {
			core_.reset();
			bringUp();
			return 0u;
		});
		/* Try again later, when other threads may have freed memory. */
		if (error_)
			std::this_thread::sleep_for(std::chrono::milliseconds(10));
	}
	nvdla_sequencer_reset(sequencer_.get());
	running_ = false;
	error_ = 0;
}

} /* namespace nvdla */
