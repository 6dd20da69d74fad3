/* SPDX-License-Identifier: MIT */
#include "loop.h"

#include <mutex>
#include <vector>

#include <nvdla/event_loop.h>

#include "device/block_signals.h"

namespace nvdla
{

namespace
{

tl::unexpected<Error> uvFailure(int error)
{
	return fail(ErrorCode::Io, "start event loop", "", uv_strerror(error));
}

} /* namespace */

/* What libuv's handles refer to; stays until they are closed. */
struct Loop::Core {
	uv_loop_t own;
	uv_loop_t *loop = nullptr;
	uv_async_t wakeUp;
	std::atomic<std::thread::id> thread;
	std::shared_ptr<Core> self; /* while the handle of an attached loop is open */

	std::mutex lock;
	std::vector<std::function<void()>> posted;

	bool attached() const { return loop != &own; }
	bool inThread() const { return thread == std::this_thread::get_id(); }
	void drain();
	void close();
	void run();
};

void Loop::Core::drain()
{
	std::vector<std::function<void()>> batch;
	{
		const std::lock_guard guard(lock);
		batch.swap(posted);
	}
	/* An attached loop does not live for the sake of this handle. */
	if (attached())
		uv_unref(reinterpret_cast<uv_handle_t *>(&wakeUp));
	for (std::function<void()> &function : batch) {
		function();
		function = nullptr;
	}
}

void Loop::Core::close()
{
	uv_close(reinterpret_cast<uv_handle_t *>(&wakeUp), [](uv_handle_t *handle) {
		/* May free the handle with the object around it. */
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
	std::shared_ptr<Loop> loop(new Loop(core));
	const BlockSignals quiet;
	loop->thread_ = std::thread([core] { core->run(); });
	return loop;
}

Result<std::shared_ptr<Loop>> Loop::attach(uv_loop_t *loop)
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
	return std::shared_ptr<Loop>(new Loop(core));
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
	/* In a child of fork() there is no such thread, to be waited for or let go. */
	if (!process_.isHere()) {
		static_cast<void>(new std::thread(std::move(thread_)));
		return;
	}
	if (inThread())
		core_->close();
	else
		post([core = core_] { core->close(); });

	if (!thread_.joinable())
		return;
	/* The last user may have been a callback; the thread ends by itself then. */
	if (inThread())
		thread_.detach();
	else
		thread_.join();
}

bool Loop::inThread() const
{
	return core_->inThread();
}

std::shared_ptr<const std::atomic<std::thread::id>> Loop::threadId() const
{
	return { core_, &core_->thread };
}

void Loop::post(std::function<void()> function)
{
	/* What is posted may close the handle: it must not run before the handle was used. */
	const std::lock_guard guard(core_->lock);

	core_->posted.push_back(std::move(function));
	if (core_->attached() && inThread())
		uv_ref(reinterpret_cast<uv_handle_t *>(&core_->wakeUp));
	uv_async_send(&core_->wakeUp);
}

void Loop::work(std::function<void()> work, std::function<void()> done)
{
	struct Work {
		uv_work_t request;
		std::function<void()> work;
		std::function<void()> done;
	};
	auto *item = new Work{ {}, std::move(work), std::move(done) };

	item->request.data = item;
	uv_queue_work(
		core_->loop, &item->request,
		[](uv_work_t *request) { static_cast<Work *>(request->data)->work(); },
		[](uv_work_t *request, [[maybe_unused]] int status) {
			const std::unique_ptr<Work> item(static_cast<Work *>(request->data));
			item->done();
		});
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
