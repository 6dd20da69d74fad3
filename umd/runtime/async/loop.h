/* SPDX-License-Identifier: MIT */
/*
 * A libuv loop and what the runtime does with it.
 */
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

/** \brief A loop, its own or the caller's; see EventLoop */
class Loop
{
public:
	static Result<std::shared_ptr<Loop>> create();
	static Result<std::shared_ptr<Loop>> attach(uv_loop_t *loop);
	static Result<std::shared_ptr<Loop>> shared();

	/** \brief Ends the loop's thread, if it has one, once everything posted has run */
	~Loop();

	Loop(const Loop &) = delete;
	Loop &operator=(const Loop &) = delete;

	bool inThread() const;
	/** \return id of the loop's thread, which may outlive the loop */
	std::shared_ptr<const std::atomic<std::thread::id>> threadId() const;
	/** \return somebody surely runs it, so that other threads may wait for it */
	bool hasThread() const { return thread_.joinable(); }

	/** \brief Have \a function run in the loop's thread, later; from any thread */
	void post(std::function<void()> function);

	/** \brief Run \a work on libuv's thread pool, then \a done here; from the loop's thread */
	void work(std::function<void()> work, std::function<void()> done);

	uv_loop_t *uv() const;

private:
	struct Core;
	explicit Loop(std::shared_ptr<Core> core) : core_(std::move(core)) {}

	std::shared_ptr<Core> core_;
	std::thread thread_;
	const OwnProcess process_;
};

} /* namespace nvdla */
