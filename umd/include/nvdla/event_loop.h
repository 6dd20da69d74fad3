/* SPDX-License-Identifier: MIT */
/* The event loop that completes requests. */
#pragma once

#include <memory>

#include <nvdla/error.h>

struct uv_loop_s;

#pragma GCC visibility push(default)

namespace nvdla
{

class Loop;

/**
 * \brief A libuv loop that completes requests
 *
 * Jobs of the device signal eventfds that the loop watches; steps of the CPU run
 * on libuv's thread pool. Callbacks run in the thread that runs the loop, one
 * after the other: they have to be short, and must not wait for a request
 * (functions that wait return an error instead).
 *
 * Copies refer to the same loop, which is destroyed with the last copy and the last
 * Network and Request that use it.
 */
class EventLoop
{
public:
	/** \brief Create a loop that runs in a thread of its own */
	static Result<EventLoop> create();

	/**
	 * \brief Use a loop that the caller runs
	 *
	 * Call this function from the thread that runs \a loop. uv_run() does not return while
	 * requests are in flight. Destroy the last copy in the same thread, and run the loop once
	 * more before uv_loop_close().
	 */
	static Result<EventLoop> attach(uv_loop_s *loop);

	/**
	 * \brief The loop of networks and pools whose options name none; it has its own thread
	 */
	static Result<EventLoop> shared();

	/** \return true if the caller is in the loop's thread, such as in a callback */
	bool isCurrentThread() const;

private:
	friend class DeviceWatch;
	friend class Network;
	explicit EventLoop(std::shared_ptr<Loop> loop) : loop_(std::move(loop)) {}

	std::shared_ptr<Loop> loop_;
};

} /* namespace nvdla */

#pragma GCC visibility pop
