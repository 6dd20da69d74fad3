/* SPDX-License-Identifier: MIT */
/*
 * Runs jobs on the device model, one at a time.
 */
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/core.h"
#include "device/embedded/embedded_options.h"
#include "device/embedded/engine.h"
#include "device/embedded/job_queue.h"
#include "device/embedded/recorder.h"

namespace nvdla
{

/**
 * \brief Owner of the core, of the interrupt handler, and of the watching thread, which resets the
 * core if a job fails or takes too long
 *
 * The thread that submits a job starts it if no job runs; otherwise the thread that ends the
 * previous job starts it. Interrupts are handled in the thread of the operation that raises them,
 * or in a helping thread that looks for work. So no thread has to be woken from one operation of a
 * job to the next, nor for the job's fence, unless two operations can run at the same time.
 *
 * A job waits only for fences of jobs that were submitted before it, so at least one job of a queue
 * can always run.
 */
class Executor
{
public:
	/**
	 * First address of the on-chip memory: above all buffers, or in traces below all buffers.
	 * So no address is valid in both system memory and on-chip memory, which the core reaches
	 * by different interfaces (MCIF and CVIF).
	 */
	static uint64_t onChipBase(const EmbeddedOptions &options)
	{
		return options.recorder ? Recorder::onChipBase : uint64_t{ 1 } << 44;
	}

	/**
	 * \param[in] options configuration of the core
	 * \param[in] memory the core's system memory
	 * \param[in] lock the device's lock, which guards all fences and the job queue
	 * \param[in] done notified when a job's fence is signalled
	 */
	Executor(const EmbeddedOptions &options, sim::Memory &memory, std::mutex &lock,
		 std::condition_variable &done);
	/** \brief Fails all unfinished jobs with -ENODEV */
	~Executor();

	/** \return 0 or a negative errno */
	int start();

	/** \return the driver's description of \a core */
	static const nvdla_variant &variantOf(const sim::Geometry &core)
	{
		return nvdla_variants[core.pciVariant];
	}
	const nvdla_variant &variant() const { return *variant_; }
	uint32_t hardwareVersion() const { return hardwareVersion_; }

	/** \brief Contexts of the open file; the caller must hold the device's lock */
	JobQueue &queue() { return queue_; }
	/**
	 * \brief Handle a new interrupt, or a new job in the queue
	 *
	 * Called without any lock, by the thread that raised the interrupt or queued the job.
	 */
	void attend();

	/** \brief Let the calling thread carry out the core's operations */
	std::unique_ptr<sim::Core::LentThread> lendThread()
	{
		return std::make_unique<sim::Core::LentThread>(core_);
	}

	/** \brief Zero a range of the on-chip memory; no job may use it meanwhile */
	void clearOnChip(uint64_t address, size_t size);

private:
	using Clock = std::chrono::steady_clock;

	static uint32_t readRegister(void *context, uint32_t reg);
	/* Postpones the write, so that the core gets many writes in one call, before it is read or
	 * waited for. */
	static void writeRegister(void *context, uint32_t reg, uint32_t value);
	static void opEnabled(void *context, nvdla_task *task, u32 operation);
	static void opCompleted(void *context, nvdla_task *task, u32 operation);
	static void taskDone(void *context, nvdla_task *task, int error);

	/** \return byte offset, in this core, of the register that \a reg names */
	uint32_t place(uint32_t reg) const { return nvdla_variant_register(variant_, reg); }
	template<typename Work>
	uint32_t carryOut(Work work) noexcept;
	/** \brief Do the postponed register writes */
	void flush();
	/** \brief Write a register immediately; \a reg is its name */
	void writeNow(uint32_t reg, uint32_t value);
	void bringUp();
	void watch();
	/** \brief Handle all events. The caller has set attending_, which this function clears
	 * unless the job has failed */
	void attend(std::unique_lock<std::mutex> &guard);
	/** \brief Reset the core, and end the job that has failed or is late */
	void rescue(std::unique_lock<std::mutex> &guard);
	bool isLate() const { return Clock::now() >= deadline_; }
	void setDeadline(Clock::time_point deadline);
	/** \brief Restart the running job's timeout after the end of an operation */
	void extendDeadline();

	/* Called only by the thread that has set attending_. */
	void handleInterrupt();
	bool advance();
	bool takeJob();
	void startTask();
	void endJob(int error);
	static void writeResult(EmbeddedJob &job, int error);
	void recover();

	const nvdla_variant *variant_;
	uint32_t hardwareVersion_ = 0;

	std::mutex &lock_;
	std::condition_variable &done_;
	JobQueue queue_;

	std::mutex attendLock_; /* guards the members down to deadline_ */
	std::condition_variable watch_;
	std::condition_variable attended_;
	bool pending_ = false;	 /* true: an interrupt or a new job is not handled yet */
	bool attending_ = false; /* true: a thread is in attend(), or the core waits for rescue() */
	/* True: the job failed or is late, and the watching thread has to end it. */
	bool failed_ = false;
	bool stopping_ = false;
	/* Time at which the watching thread wakes by itself. */
	Clock::time_point wakes_ = Clock::time_point::max();
	Clock::time_point deadline_ = Clock::time_point::max(); /* deadline of the running job */

	const std::shared_ptr<Recorder> recorder_; /* null: jobs are not recorded */
	sim::Core core_;
	/* The following members belong to the attending thread. */
	EngineSequencer sequencer_;
	std::vector<sim::CsbWrite> writes_;
	std::unique_ptr<EmbeddedJob> job_;
	Clock::time_point lastDeadline_; /* latest end of the running job, which the end of an
					    operation does not postpone */
	size_t nextTask_ = 0;
	bool running_ = false; /* true: task number nextTask_ - 1 is running */
	int error_ = 0;

	std::thread watcher_;
};

} /* namespace nvdla */
