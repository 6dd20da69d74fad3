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
#include "embedded/embedded_options.h"
#include "embedded/engine.h"
#include "embedded/job_queue.h"

namespace nvdla
{

/**
 * \brief Owner of the core, of the thread that starts jobs, and of the interrupt handler
 *
 * Interrupts are handled in the thread of the operation that raises them: a task goes from
 * operation to operation without waking any thread unless two can be carried out at a time.
 *
 * A job waits for fences of jobs that were submitted before it and for no
 * others, so that there is always one whose turn it is.
 */
class Executor
{
public:
	/**
	 * First address of the on-chip memory. It lies above everything the buffers
	 * can have, so that no address means one thing to MCIF and another to CVIF.
	 */
	static constexpr uint64_t cvsramBase = uint64_t{ 1 } << 44;
	static constexpr size_t cvsramSize = sim::nvFull.cvsramSize;

	/**
	 * \param[in] options how the core computes
	 * \param[in] memory what the core reaches as system memory
	 * \param[in] lock guards fences and the use counts of buffers
	 * \param[in] done is notified when those change
	 */
	Executor(const EmbeddedOptions &options, sim::Memory &memory, std::mutex &lock,
		 std::condition_variable &done);
	/** \brief Fails what has not been done with -ENODEV */
	~Executor();

	/** \return 0 or a negative errno */
	int start();

	const nvdla_variant &variant() const { return *variant_; }
	uint32_t hardwareVersion() const { return hardwareVersion_; }

	/** \brief Contexts of the open file; the caller has the lock */
	JobQueue &queue() { return queue_; }
	/** \brief Queue a job in a context that exists; the caller has the lock */
	void push(uint32_t context, std::unique_ptr<EmbeddedJob> job);

	/** \brief Zero a range of the on-chip memory that no job uses */
	void clearOnChip(uint64_t address, size_t size);

private:
	using Clock = std::chrono::steady_clock;

	static uint32_t readRegister(void *context, uint32_t reg);
	/* Done later, with those that follow, but before anything is read or waited for. */
	static void writeRegister(void *context, uint32_t reg, uint32_t value);
	static void taskDone(void *context, nvdla_task *task, int error);

	/** \brief Do what was to be written */
	void flush();
	void bringUp();
	void work();
	int run(EmbeddedJob &job);
	int runTask(nvdla_task *task, Clock::time_point deadline);
	static void writeResult(EmbeddedJob &job, int error);
	void interrupt();
	/** \brief Handle what is pending; the caller has set handling_, which is cleared */
	void handleInterrupts(std::unique_lock<std::mutex> &guard);
	void recover();
	void finish(EmbeddedJob &job, int error);

	const nvdla_variant *variant_ = nvdla_variant_nv_full();
	uint32_t hardwareVersion_ = 0;

	std::mutex &lock_;
	std::condition_variable &done_;
	std::condition_variable queued_;
	JobQueue queue_;
	bool stopping_ = false;

	std::mutex interruptLock_; /* everything down to the task's error */
	std::condition_variable ended_;
	bool interruptPending_ = false;
	bool handling_ = false; /* a thread is at the sequencer */
	bool abandoned_ = false;
	nvdla_task *running_ = nullptr;
	int taskError_ = 0;

	sim::Core core_;
	/* These two are of the thread that set handling_; while no task runs, the worker's. */
	EngineSequencer sequencer_;
	std::vector<sim::CsbWrite> writes_;
	std::thread worker_;
};

} /* namespace nvdla */
