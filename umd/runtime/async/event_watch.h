/* SPDX-License-Identifier: MIT */
/* An eventfd that a loop watches. */
#pragma once

#include <functional>
#include <memory>

#include "base/io/unique_fd.h"
#include "runtime/async/loop.h"

namespace nvdla
{

/** \brief Calls a function whenever its eventfd was written to. Only the thread of the loop that
 * create() gets may use a watch */
class EventWatch
{
public:
	static Result<EventWatch> create(Loop &loop, std::function<void()> function);
	EventWatch(EventWatch &&other) noexcept = default;
	EventWatch &operator=(EventWatch &&) = delete;
	~EventWatch();

	int fd() const { return state_->fd.get(); }

	/** \brief Set whether an event is expected: while \a something is true, the loop keeps
	 * running to wait for the event */
	void expect(bool something);

private:
	/*
	 * Allocated separately, because libuv uses this memory until its close callback, which
	 * comes after the watch is destroyed.
	 */
	struct State {
		uv_poll_t poll;
		UniqueFd fd;
		std::function<void()> function;
	};
	struct Close {
		void operator()(State *state) const;
	};
	explicit EventWatch(std::unique_ptr<State, Close> state) : state_(std::move(state)) {}

	std::unique_ptr<State, Close> state_;
};

} /* namespace nvdla */
