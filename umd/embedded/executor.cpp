/* SPDX-License-Identifier: MIT */
#include "executor.h"

#include <cerrno>

#include <nvdla/hw/registers.h>

namespace nvdla
{

namespace
{

/*
 * On-chip memory lies above everything the buffers can have, so that no
 * address means one thing to MCIF and another to CVIF.
 */
constexpr uint64_t cvsramBase = uint64_t{ 1 } << 44;

sim::CoreConfig coreConfig()
{
	sim::CoreConfig config;
	config.cvsramBase = cvsramBase;
	return config;
}

} /* namespace */

Executor::Executor(sim::Memory &memory, std::mutex &lock, std::condition_variable &done)
	: lock_(lock), done_(done), core_(coreConfig(), memory, [this] {
		  const std::lock_guard guard(interruptLock_);
		  interruptPending_ = true;
		  interrupted_.notify_one();
	  })
{
}

Executor::~Executor()
{
	{
		const std::lock_guard guard(lock_);
		stopping_ = true;
		queued_.notify_one();
	}
	{
		const std::lock_guard guard(interruptLock_);
		abandoned_ = true;
		interrupted_.notify_one();
	}
	if (worker_.joinable())
		worker_.join();
}

int Executor::start()
{
	static const nvdla_sequencer_ops ops = { .task_done = &Executor::taskDone };
	nvdla_io io = {};
	nvdla_sequencer *sequencer = nullptr;

	bringUp();
	hardwareVersion_ = core_.csbRead(NVDLA_GLB_S_NVDLA_HW_VERSION);
	io.context = this;
	io.read = &Executor::readRegister;
	io.write = &Executor::writeRegister;
	if (const int error = nvdla_sequencer_create(variant_, &io, &ops, this, &sequencer))
		return error;
	sequencer_.reset(sequencer);
	worker_ = std::thread([this] { work(); });
	return 0;
}

uint32_t Executor::readRegister(void *context, uint32_t reg)
{
	return static_cast<Executor *>(context)->core_.csbRead(reg);
}

void Executor::writeRegister(void *context, uint32_t reg, uint32_t value)
{
	static_cast<Executor *>(context)->core_.csbWrite(reg, value);
}

void Executor::taskDone(void *context, nvdla_task *task, int error)
{
	auto *executor = static_cast<Executor *>(context);

	if (executor->running_ == task)
		executor->running_ = nullptr;
	executor->taskError_ = error;
}

/* After reset: clear what stands and let everything interrupt. */
void Executor::bringUp()
{
	core_.csbWrite(NVDLA_GLB_S_INTR_STATUS, variant_->intr_mask);
	core_.csbWrite(NVDLA_GLB_S_INTR_MASK, 0);
}

void Executor::push(std::unique_ptr<EmbeddedJob> job)
{
	queue_.push_back(std::move(job));
	queued_.notify_one();
}

void Executor::work()
{
	std::unique_lock guard(lock_);

	while (true) {
		queued_.wait(guard, [this] { return stopping_ || !queue_.empty(); });
		if (queue_.empty())
			return;
		const std::unique_ptr<EmbeddedJob> job = std::move(queue_.front());
		queue_.pop_front();

		guard.unlock();
		const int error = run(*job);
		guard.lock();
		finish(*job, error);
	}
}

int Executor::run(EmbeddedJob &job)
{
	const auto deadline = Clock::now() + job.timeout;

	for (const EngineTask &task : job.tasks) {
		if (const int error = runTask(task.get(), deadline)) {
			recover();
			return error;
		}
	}
	return 0;
}

int Executor::runTask(nvdla_task *task, Clock::time_point deadline)
{
	running_ = task;
	taskError_ = 0;
	if (const int error = nvdla_sequencer_start(sequencer_.get(), task)) {
		running_ = nullptr;
		return error;
	}

	while (running_) {
		if (!waitForInterrupt(deadline)) {
			const std::lock_guard guard(interruptLock_);
			return abandoned_ ? -ENODEV : -ETIMEDOUT;
		}
		const uint32_t status = core_.csbRead(NVDLA_GLB_S_INTR_STATUS);
		if (!status)
			continue;
		core_.csbWrite(NVDLA_GLB_S_INTR_STATUS, status);
		nvdla_sequencer_irq(sequencer_.get(), status);
	}
	return taskError_;
}

bool Executor::waitForInterrupt(Clock::time_point deadline)
{
	std::unique_lock guard(interruptLock_);

	const bool awake = interrupted_.wait_until(
		guard, deadline, [this] { return interruptPending_ || abandoned_; });
	interruptPending_ = false;
	return awake && !abandoned_;
}

/* The core may be in any state: take the task off it and start over. */
void Executor::recover()
{
	nvdla_sequencer_abort(sequencer_.get());
	running_ = nullptr;
	core_.reset();
	bringUp();
	nvdla_sequencer_reset(sequencer_.get());
}

void Executor::finish(EmbeddedJob &job, int error)
{
	job.fence->error = error;
	job.fence->done = true;
	for (const EmbeddedJob::Use &use : job.buffers)
		(use.write ? use.buffer->writers : use.buffer->readers)--;
	/* Buffers that only the job kept go before anybody can see that it is done. */
	job.buffers.clear();
	done_.notify_all();
}

} /* namespace nvdla */
