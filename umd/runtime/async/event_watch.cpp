/* SPDX-License-Identifier: MIT */
#include "event_watch.h"

#include <cerrno>
#include <cstring>
#include <sys/eventfd.h>

namespace nvdla
{

namespace
{

constexpr const char *watchingCompletions = "watch for completions";

} /* namespace */

Result<EventWatch> EventWatch::create(Loop &loop, std::function<void()> function)
{
	auto state = std::make_unique<State>();

	state->fd = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (!state->fd)
		return fail(ErrorCode::Io, watchingCompletions, "eventfd", std::strerror(errno));
	state->function = std::move(function);
	state->poll.data = state.get();
	if (const int error = uv_poll_init(loop.uv(), &state->poll, state->fd.get()))
		return fail(ErrorCode::Io, watchingCompletions, "eventfd", uv_strerror(error));

	EventWatch watch(std::unique_ptr<State, Close>(state.release()));
	uv_poll_start(&watch.state_->poll, UV_READABLE, [](uv_poll_t *poll, int, int) {
		auto *self = static_cast<State *>(poll->data);
		eventfd_t count;
		if (eventfd_read(self->fd.get(), &count) == 0)
			self->function();
	});
	watch.expect(false);
	return watch;
}

EventWatch::~EventWatch() = default;

void EventWatch::Close::operator()(State *state) const
{
	uv_close(reinterpret_cast<uv_handle_t *>(&state->poll), [](uv_handle_t *handle) {
		const std::unique_ptr<State> gone(static_cast<State *>(handle->data));
	});
}

void EventWatch::expect(bool something)
{
	auto *handle = reinterpret_cast<uv_handle_t *>(&state_->poll);

	something ? uv_ref(handle) : uv_unref(handle);
}

} /* namespace nvdla */
