/* SPDX-License-Identifier: MIT */
#include "executor.h"

#include <cerrno>
#include <utility>

#include <nvdla/hw/registers.h>

#include "device/clock.h"

namespace nvdla
{

namespace
{

sim::CoreConfig coreConfig(const EmbeddedOptions &options)
{
	sim::CoreConfig config;
	config.cvsramBase = Executor::cvsramBase;
	config.cvsramSize = Executor::cvsramSize;
	config.fp16 = options.fp16;
	config.threads = options.threads;
	if (options.chip)
		config.timing = options.chip->parameters();
	config.realtime = options.realtime;
	return config;
}

} /* namespace */

Executor::Executor(const EmbeddedOptions &options, sim::Memory &memory, std::mutex &lock,
		   std::condition_variable &done)
	: lock_(lock), done_(done), core_(coreConfig(options), memory, [this] { interrupt(); })
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
		ended_.notify_one();
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
	io.now = [](void *) -> u64 { return nowNs(); };
	if (const int error = nvdla_sequencer_create(variant_, &io, &ops, this, &sequencer))
		return error;
	sequencer_.reset(sequencer);
	worker_ = std::thread([this] { work(); });
	return 0;
}

uint32_t Executor::readRegister(void *context, uint32_t reg)
{
	auto *executor = static_cast<Executor *>(context);

	executor->flush();
	return executor->core_.csbRead(reg);
}

void Executor::writeRegister(void *context, uint32_t reg, uint32_t value)
{
	static_cast<Executor *>(context)->writes_.push_back({ reg, value });
}

void Executor::flush()
{
	if (writes_.empty())
		return;
	core_.csbWrite(writes_);
	writes_.clear();
}

void Executor::taskDone(void *context, nvdla_task *task, int error)
{
	auto *executor = static_cast<Executor *>(context);
	const std::lock_guard guard(executor->interruptLock_);

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

void Executor::push(uint32_t context, std::unique_ptr<EmbeddedJob> job)
{
	queue_.push(context, std::move(job));
	queued_.notify_one();
}

void Executor::clearOnChip(uint64_t address, size_t size)
{
	core_.cvsram().write(address, std::vector<std::byte>(size));
}

void Executor::work()
{
	std::unique_lock guard(lock_);

	while (true) {
		queued_.wait(guard, [this] { return stopping_ || !queue_.empty(); });
		const std::unique_ptr<EmbeddedJob> job = queue_.pop();
		if (!job)
			return;

		guard.unlock();
		const int error = run(*job);
		writeResult(*job, error);
		guard.lock();
		finish(*job, error);
	}
}

int Executor::run(EmbeddedJob &job)
{
	const auto deadline = Clock::now() + job.timeout;

	job.result.num_runs = 1;
	job.result.start_ns = nowNs();
	for (const EngineTask &task : job.tasks) {
		job.result.num_started++;
		if (const int error = runTask(task.get(), deadline)) {
			recover();
			return error;
		}
	}
	return 0;
}

void Executor::writeResult(EmbeddedJob &job, int error)
{
	if (!job.resultBuffer)
		return;
	const auto tasks = job.taskPointers();
	job.result.tasks = tasks.data();
	job.result.num_tasks = static_cast<u32>(tasks.size());
	job.result.status = error;
	job.result.end_ns = nowNs();
	nvdla_result_write(&job.result, job.resultBuffer->bytes().data() + job.resultOffset);
}

int Executor::runTask(nvdla_task *task, Clock::time_point deadline)
{
	std::unique_lock guard(interruptLock_);

	running_ = task;
	taskError_ = 0;
	handling_ = true;
	guard.unlock();
	const int error = nvdla_sequencer_start(sequencer_.get(), task);
	flush();
	guard.lock();
	if (error) {
		running_ = nullptr;
		taskError_ = error;
	}
	handleInterrupts(guard);

	ended_.wait_until(guard, deadline,
			  [this] { return !handling_ && (!running_ || abandoned_); });
	/* From here on an interrupt is nobody's. */
	const bool late = std::exchange(running_, nullptr);
	ended_.wait(guard, [this] { return !handling_; });
	if (late)
		return abandoned_ ? -ENODEV : -ETIMEDOUT;
	return taskError_;
}

/* Called in the thread of the operation that is done, which goes on with the next one at once. */
void Executor::interrupt()
{
	std::unique_lock guard(interruptLock_);

	interruptPending_ = true;
	/* Whoever is at it looks once more. */
	if (handling_)
		return;
	handling_ = true;
	handleInterrupts(guard);
}

void Executor::handleInterrupts(std::unique_lock<std::mutex> &guard)
{
	while (interruptPending_ && running_ && !abandoned_) {
		interruptPending_ = false;
		guard.unlock();
		if (const uint32_t status = core_.csbRead(NVDLA_GLB_S_INTR_STATUS)) {
			core_.csbWrite(NVDLA_GLB_S_INTR_STATUS, status);
			nvdla_sequencer_irq(sequencer_.get(), status);
			flush();
		}
		guard.lock();
	}
	handling_ = false;
	if (!running_ || abandoned_)
		ended_.notify_one();
}

/* The core may be in any state: take the task off it and start over. */
void Executor::recover()
{
	nvdla_sequencer_abort(sequencer_.get());
	core_.reset();
	bringUp();
	nvdla_sequencer_reset(sequencer_.get());
}

void Executor::finish(EmbeddedJob &job, int error)
{
	job.fence->signal(error);
	/* Buffers that only the job kept go before anybody can see that it is done. */
	job.buffers.clear();
	job.resultBuffer.reset();
	done_.notify_all();
}

} /* namespace nvdla */
