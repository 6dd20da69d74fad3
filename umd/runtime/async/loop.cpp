/* SPDX-License-Identifier: MIT */
#include "loop.h"

#include <mutex>
#include <utility>

#include <nvdla/event_loop.h>

#include "base/io/guarded.h"
#include "device/block_signals.h"

namespace nvdla
{

namespace
{

constexpr const char *startingLoop = "start event loop";

tl::unexpected<Error> uvFailure(int error)
{
	return fail(error == UV_ENOMEM ? ErrorCode::NoMemory : ErrorCode::Io, startingLoop, "",
		    uv_strerror(error));
}

} /* namespace */

/* The loop, its libuv handle and its tasks. The object stays until libuv has closed the handle,
 * which may be after the Loop was destroyed. */
struct Loop::Core {
	uv_loop_t own;
	uv_loop_t *loop = nullptr;
	uv_async_t wakeUp;
	std::atomic<std::thread::id> thread;
	/* For an attached loop: keeps this object while the handle is open. */
	std::shared_ptr<Core> self;

	std::mutex lock; /* guards the following members */
	std::shared_ptr<LoopTask> first;
	LoopTask *last = nullptr;
	bool ended = false; /* true: close the handle when all posted tasks have run */

	bool attached() const { return loop != &own; }
	bool inThread() const { return thread == std::this_thread::get_id(); }
	void drain();
	void end();
	void close();
	void run();
};

void Loop::Core::drain()
{
	std::unique_lock guard(lock);
	std::shared_ptr<LoopTask> task = std::move(first);
	last = nullptr;
	guard.unlock();

	/* With no task posted, the handle must not keep uv_run() of an attached loop from
	 * returning. */
	if (attached())
		uv_unref(reinterpret_cast<uv_handle_t *>(&wakeUp));
	while (task) {
		guard.lock();
		auto next = std::move(task->next_);
		task->posted_ = false;
		guard.unlock();
		task->run();
		task = std::move(next);
	}
	guard.lock();
	if (ended && !first)
		close();
}

/*
 * The lock keeps drain(), in the loop's thread, from closing the handle before uv_async_send()
 * has returned.
 */
void Loop::Core::end()
{
	const std::lock_guard guard(lock);

	ended = true;
	uv_async_send(&wakeUp);
}

void Loop::Core::close()
{
	if (uv_is_closing(reinterpret_cast<uv_handle_t *>(&wakeUp)))
		return;
	uv_close(reinterpret_cast<uv_handle_t *>(&wakeUp), [](uv_handle_t *handle) {
		/* Take the handle's reference to the Core. If it is the last one, the end of this
		 * function frees the Core, and the handle with it. */
		const auto keep = std::move(static_cast<Core *>(handle->data)->self);
	});
}

void Loop::Core::run()
{
	thread = std::this_thread::get_id();
	uv_run(loop, UV_RUN_DEFAULT);
	uv_loop_close(loop);
}

Result<std::shared_ptr<Loop>> Loop::create()
{
	return guarded(startingLoop, [] { return start(); });
}

Result<std::shared_ptr<Loop>> Loop::start()
{
	auto core = std::make_shared<Core>();

	if (const int error = uv_loop_init(&core->own))
		return uvFailure(error);
	core->loop = &core->own;
	core->wakeUp.data = core.get();
	const int error = uv_async_init(core->loop, &core->wakeUp, [](uv_async_t *handle) {
		static_cast<Core *>(handle->data)->drain();
	});
	if (error) {
		uv_loop_close(core->loop);
		return uvFailure(error);
	}
	const BlockSignals quiet;
	auto begun = guarded(startingLoop, [&]() -> Result<std::shared_ptr<Loop>> {
		std::shared_ptr<Loop> loop(new Loop(core));
		loop->thread_ = std::make_unique<std::thread>([core] { core->run(); });
		return loop;
	});
	if (!begun) {
		/* Run the loop in this thread until the handle is closed. */
		core->end();
		core->run();
	}
	return begun;
}

Result<std::shared_ptr<Loop>> Loop::attach(uv_loop_t *loop)
{
	return guarded(startingLoop, [loop] { return startOn(loop); });
}

Result<std::shared_ptr<Loop>> Loop::startOn(uv_loop_t *loop)
{
	auto core = std::make_shared<Core>();

	core->loop = loop;
	core->thread = std::this_thread::get_id();
	core->wakeUp.data = core.get();
	const int error = uv_async_init(loop, &core->wakeUp, [](uv_async_t *handle) {
		static_cast<Core *>(handle->data)->drain();
	});
	if (error)
		return uvFailure(error);
	uv_unref(reinterpret_cast<uv_handle_t *>(&core->wakeUp));
	core->self = core;
	auto attached = guarded(startingLoop, [&]() -> Result<std::shared_ptr<Loop>> {
		return std::shared_ptr<Loop>(new Loop(core));
	});
	if (!attached)
		core->close();
	return attached;
}

Result<std::shared_ptr<Loop>> Loop::shared()
{
	static std::mutex lock;
	static std::weak_ptr<Loop> known;
	const std::lock_guard guard(lock);

	if (auto loop = known.lock(); loop && loop->process_.isHere())
		return loop;
	auto loop = create();
	if (loop)
		known = *loop;
	return loop;
}

Loop::~Loop()
{
	/* The thread does not exist in a child of fork(), so nothing can be joined there. */
	if (!process_.isHere()) {
		static_cast<void>(thread_.release());
		return;
	}
	if (inThread())
		core_->close();
	else
		core_->end();

	if (!thread_)
		return;
	/* A callback may drop the last reference in the loop's thread, which cannot join itself. */
	if (inThread())
		thread_->detach();
	else
		thread_->join();
}

bool Loop::inThread() const
{
	return core_->inThread();
}

std::shared_ptr<const std::atomic<std::thread::id>> Loop::threadId() const
{
	return { core_, &core_->thread };
}

void Loop::post(std::shared_ptr<LoopTask> task) noexcept
{
	/*
	 * The lock keeps drain(), in the loop's thread, from closing the handle before
	 * uv_async_send() has returned.
	 */
	const std::lock_guard guard(core_->lock);

	if (!std::exchange(task->posted_, true)) {
		LoopTask *const last = task.get();
		(core_->first ? core_->last->next_ : core_->first) = std::move(task);
		core_->last = last;
	}
	if (core_->attached() && inThread())
		uv_ref(reinterpret_cast<uv_handle_t *>(&core_->wakeUp));
	uv_async_send(&core_->wakeUp);
}

Result<void> Loop::work(const char *what, std::function<Result<void>()> work,
			std::function<void(Result<void>)> done)
{
	struct Work {
		uv_work_t request;
		const char *what;
		std::function<Result<void>()> work;
		std::function<void(Result<void>)> done;
		Result<void> result;
	};
	auto item = std::make_unique<Work>(Work{ {}, what, std::move(work), std::move(done), {} });

	item->request.data = item.get();
	const int error = uv_queue_work(
		core_->loop, &item->request,
		[](uv_work_t *request) {
			Work &item = *static_cast<Work *>(request->data);
			item.result = guarded(item.what, item.work);
		},
		[](uv_work_t *request, [[maybe_unused]] int status) {
			const std::unique_ptr<Work> item(static_cast<Work *>(request->data));
			item->done(std::move(item->result));
		});
	if (error)
		return fail(ErrorCode::Io, what, "", uv_strerror(error));
	static_cast<void>(item.release());
	return {};
}

uv_loop_t *Loop::uv() const
{
	return core_->loop;
}

Result<EventLoop> EventLoop::create()
{
	auto loop = Loop::create();
	if (!loop)
		return forward(loop);
	return EventLoop(std::move(*loop));
}

Result<EventLoop> EventLoop::attach(uv_loop_s *loop)
{
	auto attached = Loop::attach(loop);
	if (!attached)
		return forward(attached);
	return EventLoop(std::move(*attached));
}

Result<EventLoop> EventLoop::shared()
{
	auto loop = Loop::shared();
	if (!loop)
		return forward(loop);
	return EventLoop(std::move(*loop));
}

bool EventLoop::isCurrentThread() const
{
	return loop_->inThread();
}

} /* namespace nvdla */
