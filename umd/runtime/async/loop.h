/* SPDX-License-Identifier: MIT */
/* A libuv loop and the runtime's use of it. */
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include <nvdla/error.h>
#include <uv.h>

#include "base/io/own_process.h"

namespace nvdla
{

/** \brief Work for a loop's thread. It is allocated beforehand, so that Loop::post() allocates
 * nothing and cannot fail */
class LoopTask
{
public:
	virtual ~LoopTask() = default;
	/** \brief Called in the loop's thread: once for all calls of post() since the last time */
	virtual void run() noexcept = 0;

private:
	friend class Loop;
	std::shared_ptr<LoopTask> next_;
	bool posted_ = false;
};

/** \brief A libuv loop with a thread of its own, or one that the application runs; see EventLoop */
class Loop
{
public:
	static Result<std::shared_ptr<Loop>> create();
	static Result<std::shared_ptr<Loop>> attach(uv_loop_t *loop);
	static Result<std::shared_ptr<Loop>> shared();

	/** \brief Ends the loop's own thread, if there is one, when all posted tasks have run */
	~Loop();

	Loop(const Loop &) = delete;
	Loop &operator=(const Loop &) = delete;

	bool inThread() const;
	/** \return id of the loop's thread, in an object that may outlive the loop */
	std::shared_ptr<const std::atomic<std::thread::id>> threadId() const;
	/** \return true if a thread of its own runs the loop, so that other threads may wait for
	 * it */
	bool hasThread() const { return thread_ != nullptr; }

	/** \brief Let \a task run once in the loop's thread, later. Any thread may call this
	 * function */
	void post(std::shared_ptr<LoopTask> task) noexcept;

	/**
	 * \brief Run \a work on libuv's thread pool, then \a done in the loop's thread; only the
	 * loop's thread may call this function
	 *
	 * An exception of \a work becomes an error for \a done, which must not throw.
	 *
	 * \param[in] what description of \a work, for errors
	 */
	Result<void> work(const char *what, std::function<Result<void>()> work,
			  std::function<void(Result<void>)> done);

	uv_loop_t *uv() const;

private:
	struct Core;
	explicit Loop(std::shared_ptr<Core> core) : core_(std::move(core)) {}

	static Result<std::shared_ptr<Loop>> start();
	static Result<std::shared_ptr<Loop>> startOn(uv_loop_t *loop);

	std::shared_ptr<Core> core_;
	std::unique_ptr<std::thread> thread_;
	const OwnProcess process_;
};

} /* namespace nvdla */
