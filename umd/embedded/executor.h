/* SPDX-License-Identifier: MIT */
/*
 * Runs jobs on the device model, one at a time and in the order of submission.
 */
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/core.h"
#include "embedded/buffer_table.h"
#include "embedded/engine.h"
#include "embedded/fence.h"

namespace nvdla
{

/** \brief A checked submit on its way over the hardware */
struct EmbeddedJob {
	struct Use {
		std::shared_ptr<EmbeddedBuffer> buffer;
		bool write;
	};

	std::vector<EngineTask> tasks;
	std::vector<Use> buffers;
	std::shared_ptr<EmbeddedFence> fence = std::make_shared<EmbeddedFence>();
	std::chrono::milliseconds timeout{ 0 };
};

/**
 * \brief Owner of the core and of the thread that plays the interrupt handler
 *
 * Because jobs run in order, the fences that a job could wait for (those of
 * earlier jobs) are done when its turn comes.
 */
class Executor
{
public:
	/**
	 * \param[in] memory what the core reaches as system memory
	 * \param[in] lock guards fences and the use counts of buffers
	 * \param[in] done is notified when those change
	 */
	Executor(sim::Memory &memory, std::mutex &lock, std::condition_variable &done);
	/** \brief Fails what has not been done with -ENODEV */
	~Executor();

	/** \return 0 or a negative errno */
	int start();

	const nvdla_variant &variant() const { return *variant_; }
	uint32_t hardwareVersion() const { return hardwareVersion_; }

	/** \brief Queue a job; the caller has the lock and has counted the buffers' uses */
	void push(std::unique_ptr<EmbeddedJob> job);

private:
	using Clock = std::chrono::steady_clock;

	static uint32_t readRegister(void *context, uint32_t reg);
	static void writeRegister(void *context, uint32_t reg, uint32_t value);
	static void taskDone(void *context, nvdla_task *task, int error);

	void bringUp();
	void work();
	int run(EmbeddedJob &job);
	int runTask(nvdla_task *task, Clock::time_point deadline);
	bool waitForInterrupt(Clock::time_point deadline);
	void recover();
	void finish(EmbeddedJob &job, int error);

	const nvdla_variant *variant_ = nvdla_variant_nv_full();
	uint32_t hardwareVersion_ = 0;

	std::mutex &lock_;
	std::condition_variable &done_;
	std::condition_variable queued_;
	std::deque<std::unique_ptr<EmbeddedJob>> queue_;
	bool stopping_ = false;

	std::mutex interruptLock_;
	std::condition_variable interrupted_;
	bool interruptPending_ = false;
	bool abandoned_ = false;

	/* Used by the worker thread only, once that runs. */
	nvdla_task *running_ = nullptr;
	int taskError_ = 0;

	sim::Core core_;
	EngineSequencer sequencer_;
	std::thread worker_;
};

} /* namespace nvdla */
