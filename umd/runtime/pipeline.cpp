/* SPDX-License-Identifier: MIT */
#include "pipeline.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace nvdla
{

namespace
{

constexpr const char *runningNetwork = "run network";

tl::unexpected<Error> cancelled(const std::string &path)
{
	return fail(ErrorCode::Cancelled, runningNetwork, path, "while it waited for its turn");
}

bool isOnChip(const Program &program, const Loadable &loadable)
{
	return std::any_of(program.own.begin(), program.own.end(), [&](uint16_t id) {
		return loadable.memory(id)->domain == MemoryDomain::Sram;
	});
}

} /* namespace */

Pipeline::Pipeline(Slot::Common common, size_t slots, size_t maxQueued)
	: common_(std::move(common)), path_(common_.device.path()),
	  loopThread_(common_.loop.threadId()), maxQueued_(maxQueued),
	  onChip_(isOnChip(common_.program, common_.loadable)), maxSlots_(slots)
{
}

Result<std::shared_ptr<Pipeline>> Pipeline::create(Slot::Common common, size_t slots,
						   size_t maxQueued)
{
	std::shared_ptr<Pipeline> pipeline(new Pipeline(std::move(common), slots, maxQueued));

	/* What is wrong with the network's memory is said when it is loaded. */
	auto first = Slot::create(pipeline->common_);
	if (!first)
		return forward(first);
	pipeline->free_.push_back(first->get());
	pipeline->slots_.push_back(std::move(*first));
	return pipeline;
}

Result<void> Pipeline::quantize(const char *kind, std::vector<TensorDesc> Program::*tensors,
				size_t index, TensorQuantization quantization)
{
	std::vector<TensorDesc> &descs = common_.program.*tensors;

	if (auto there = checkIndex("set quantization", kind, index, descs); !there)
		return there;
	TensorDesc desc = descs[index];
	desc.quantization = std::move(quantization);
	if (auto checked = desc.check(); !checked)
		return checked;
	descs[index].quantization = std::move(desc.quantization);
	return {};
}

Device Pipeline::device() const
{
	const std::lock_guard guard(lock_);
	return common_.device;
}

/* Unless that submission has ended: then it is another one, or none. */
bool Pipeline::markCancelled(RequestState &request, uint64_t run)
{
	const std::lock_guard guard(request.lock);
	if (request.run != run || !request.inFlight)
		return false;
	request.cancelled = true;
	return true;
}

Result<void> Pipeline::submit(std::shared_ptr<RequestState> request)
{
	std::unique_lock guard(lock_);

	if (waiting_ >= maxQueued_ && !closed_) {
		if (request->options.whenFull == WhenFull::Busy || inLoopThread())
			return fail(ErrorCode::Busy, runningNetwork, path_,
				    fmt::format("{} requests wait already", waiting_));
		request->waitsForRoom = true;
		room_.wait(guard, [this, &request] {
			return waiting_ < maxQueued_ || closed_ || request->givenUp;
		});
		request->waitsForRoom = false;
	}
	if (std::exchange(request->givenUp, false))
		return cancelled(path_);
	if (closed_)
		return fail(ErrorCode::InvalidArgument, runningNetwork, path_,
			    "the network is gone");
	waiting_++;
	common_.loop.post([self = shared_from_this(), request = std::move(request)]() mutable {
		self->enqueue(std::move(request));
	});
	return {};
}

bool Pipeline::runHere(const std::shared_ptr<RequestState> &request)
{
	Slot *slot;
	{
		const std::lock_guard guard(lock_);
		/* Nobody is overtaken, and contexts of other priorities are the loop's. */
		if (closed_ || waiting_ > 0 || free_.empty() ||
		    request->options.priority != Priority::Normal)
			return false;
		slot = free_.back();
		free_.pop_back();
		running_.push_back(request);
	}
	auto result = slot->run(request, 0);
	{
		const std::lock_guard guard(lock_);
		running_.remove(request);
		free_.push_back(slot);
		/* With the lock: the loop may be gone as soon as nothing runs. */
		if (waiting_ > 0 || closed_ || onChip_)
			common_.loop.post([self = shared_from_this()] {
				self->dispatch();
				self->giveBackSlots();
				self->finishIfIdle();
			});
	}
	complete(*request, std::move(result));
	return true;
}

void Pipeline::cancel(std::shared_ptr<RequestState> request, uint64_t run)
{
	const std::lock_guard guard(lock_);

	if (closed_)
		return;
	/* The thread that submits it has it still. */
	if (request->waitsForRoom) {
		request->givenUp = markCancelled(*request, run);
		room_.notify_all();
		return;
	}
	common_.loop.post([self = shared_from_this(), request = std::move(request), run] {
		if (!markCancelled(*request, run))
			return;
		if (!request->queued)
			return;
		self->dequeue(*request);
		complete(*request, cancelled(self->path_));
	});
}

void Pipeline::enqueue(std::shared_ptr<RequestState> request)
{
	RequestList &queue = queues_.at(static_cast<size_t>(request->options.priority));
	RequestState &state = *request;

	state.queued = queue.insert(queue.end(), std::move(request));
	if (closing_) {
		const auto keep = *state.queued.value();
		dequeue(state);
		complete(state, cancelled(path_));
		return;
	}
	dispatch();
}

/* May be called while it runs, from a run that ended at once; it goes on then. */
void Pipeline::dispatch()
{
	if (dispatching_)
		return;
	dispatching_ = true;
	while (Slot *slot = takeSlot())
		start(slot, takeNext());
	dispatching_ = false;
}

std::shared_ptr<RequestState> Pipeline::takeNext()
{
	for (auto queue = queues_.rbegin(); queue != queues_.rend(); ++queue) {
		if (queue->empty())
			continue;
		auto request = queue->front();
		dequeue(*request);
		return request;
	}
	return nullptr;
}

void Pipeline::dequeue(RequestState &request)
{
	const auto entry = *request.queued;

	request.queued.reset();
	queues_.at(static_cast<size_t>(request.options.priority)).erase(entry);
	const std::lock_guard guard(lock_);
	waiting_--;
	/* Of those that wait, one may have been given up. */
	room_.notify_all();
}

/* If there is a request for it. */
Slot *Pipeline::takeSlot()
{
	if (std::ranges::all_of(queues_, [](const RequestList &queue) { return queue.empty(); }))
		return nullptr;
	{
		const std::lock_guard guard(lock_);
		if (!free_.empty()) {
			Slot *const slot = free_.back();
			free_.pop_back();
			return slot;
		}
	}
	if (slots_.size() >= maxSlots_)
		return nullptr;
	auto slot = Slot::create(common_);
	if (slot)
		return slots_.emplace_back(std::move(*slot)).get();
	/* No memory for another one: those there are have to do. */
	common_.device.log(LogLevel::Warning,
			   fmt::format("{}; {} runs at once instead of {}", slot.error().message(),
				       slots_.size(), maxSlots_));
	maxSlots_ = slots_.size();
	return nullptr;
}

void Pipeline::start(Slot *slot, std::shared_ptr<RequestState> request)
{
	RequestState &state = *request;
	{
		const std::lock_guard guard(lock_);
		running_.push_back(request);
	}
	auto context = contextOf(state.options.priority);
	if (!context)
		return slotDone(slot, request, forward(context));
	slot->begin(request, *context,
		    [self = shared_from_this(), slot, request](Result<void> result) {
			    self->slotDone(slot, request, std::move(result));
		    });
}

Result<uint32_t> Pipeline::contextOf(Priority priority)
{
	if (priority == Priority::Normal)
		return 0;
	auto known = contexts_.find(priority);
	if (known == contexts_.end()) {
		auto context = common_.device.createContext(priority);
		if (!context)
			return forward(context);
		known = contexts_.emplace(priority, std::move(*context)).first;
	}
	return known->second.id();
}

void Pipeline::slotDone(Slot *slot, const std::shared_ptr<RequestState> &request,
			Result<void> result)
{
	{
		const std::lock_guard guard(lock_);
		running_.remove(request);
		free_.push_back(slot);
	}
	/* The device first, then the application. */
	dispatch();
	complete(*request, std::move(result));
	giveBackSlots();
	finishIfIdle();
}

/*
 * On-chip memory is small, and what a slot has of it nobody else can use. So a
 * network at rest has only that of its first slot. Later, because a slot may be
 * what calls.
 */
void Pipeline::giveBackSlots()
{
	if (!onChip_ || !isIdle() || slots_.size() <= 1)
		return;
	common_.loop.post([self = shared_from_this()] {
		{
			const std::lock_guard guard(self->lock_);
			if (!self->running_.empty() || self->slots_.size() <= 1)
				return;
			self->free_.assign(1, self->slots_.front().get());
		}
		self->slots_.resize(1);
	});
}

bool Pipeline::isIdle() const
{
	const std::lock_guard guard(lock_);
	return running_.empty();
}

void Pipeline::complete(RequestState &request, Result<void> result)
{
	const Result<RunReport> outcome =
		result ? Result<RunReport>(std::move(request.report)) : forward(result);
	Request::Callback callback;
	{
		const std::lock_guard guard(request.lock);
		request.result = outcome;
		request.inFlight = false;
		std::swap(callback, request.callback);
	}
	request.changed.notify_all();
	if (callback)
		callback(outcome);
}

void Pipeline::shutDown(std::shared_ptr<Loop> loop)
{
	/* In a child of fork() nothing of it ever ends, and all it has is the parent's. */
	if (!process_.isHere()) {
		static_cast<void>(new std::shared_ptr(shared_from_this()));
		return;
	}
	{
		const std::lock_guard guard(lock_);
		closed_ = true;
		room_.notify_all();
	}
	const auto finished = finished_.get_future();
	if (loop->inThread() || !loop->hasThread()) {
		Loop &poster = *loop;
		poster.post([self = shared_from_this(), loop = std::move(loop)]() mutable {
			self->keptLoop_ = std::move(loop);
			self->close();
		});
		return;
	}
	loop->post([self = shared_from_this()] { self->close(); });
	finished.wait();
}

void Pipeline::close()
{
	closing_ = true;
	{
		const std::lock_guard guard(lock_);
		for (const auto &request : running_)
			request->cancelled = true;
	}
	while (auto request = takeNext())
		complete(*request, cancelled(path_));
	finishIfIdle();
}

/* Requests may stay; what they stood for need not. */
void Pipeline::releaseDevice()
{
	const ResidentMemory shared = std::move(common_.shared);
	const PreparedTasks prepared = std::move(common_.prepared);
	/* The last user may be here: it goes without the lock. */
	const Device last = device();
	const std::lock_guard guard(lock_);

	Device(std::move(common_.device));
	common_.loadable.blobs.clear();
}

/* Later, because a slot may be what calls. */
void Pipeline::finishIfIdle()
{
	if (!closing_ || !isIdle())
		return;
	common_.loop.post([self = shared_from_this()]() mutable {
		if (self->slots_.empty())
			return;
		{
			const std::lock_guard guard(self->lock_);
			self->free_.clear();
		}
		self->slots_.clear();
		self->contexts_.clear();
		self->releaseDevice();
		/* Who waits may end the loop: let go of everything before. */
		const auto loop = std::move(self->keptLoop_);
		auto finished = std::move(self->finished_);
		self.reset();
		finished.set_value();
	});
}

} /* namespace nvdla */
