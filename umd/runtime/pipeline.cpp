/* SPDX-License-Identifier: MIT */
#include "pipeline.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/io/guarded.h"

namespace nvdla
{

namespace
{

Result<void> cancelled(const std::string &path) noexcept
{
	return guarded(runningNetwork, [&]() -> Result<void> {
		return fail(ErrorCode::Cancelled, runningNetwork, path,
			    "while it waited for its turn");
	});
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

	/* Make the first slot now, so that loading the network fails if the memory does not
	 * suffice. */
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

Result<void> Pipeline::submit(std::shared_ptr<RequestState> request)
{
	RequestList arrival{ request };
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
	arrived_.splice(arrived_.end(), arrival);
	wake();
	return {};
}

bool Pipeline::runHere(const std::shared_ptr<RequestState> &request)
{
	RequestList run{ request };
	Slot *slot;
	{
		const std::lock_guard guard(lock_);
		/* A run in this thread must not overtake waiting requests. Other priorities need a
		 * context, and contexts belong to the loop's thread. */
		if (closed_ || waiting_ > 0 || free_.empty() ||
		    request->options.priority != Priority::Normal)
			return false;
		slot = free_.back();
		free_.pop_back();
		running_.splice(running_.end(), run);
	}
	auto result = slot->run(request, 0);
	{
		const std::lock_guard guard(lock_);
		running_.remove(request);
		free_.push_back(slot);
		/*
		 * Wake the loop while the lock is held: without the lock, the loop may be destroyed
		 * as soon as no request runs.
		 */
		if (waiting_ > 0 || closed_ || onChip_)
			wake();
	}
	complete(*request, std::move(result));
	return true;
}

void Pipeline::cancel(const std::shared_ptr<RequestState> &request, uint64_t run)
{
	const std::lock_guard guard(lock_);

	if (closed_)
		return;
	{
		/* Do nothing if the submission with number \a run has already ended. */
		const std::lock_guard own(request->lock);
		if (request->run != run || !request->inFlight)
			return;
		request->cancelled = true;
	}
	/* A request that waits for room in the queue still belongs to the thread in submit(), which
	 * cancels it. */
	if (request->waitsForRoom) {
		request->givenUp = true;
		room_.notify_all();
		return;
	}
	anyCancelled_ = true;
	wake();
}

/* Called by the loop in its thread after wake(): does all pending work. */
void Pipeline::run() noexcept
{
	/* The loop may hold the last reference to this pipeline. */
	const auto keep = shared_from_this();

	takeArrived();
	if (isClosed())
		cancelAll();
	dropCancelled();
	dispatch();
	giveBackSlots();
	finishIfIdle();
}

void Pipeline::takeArrived()
{
	const std::lock_guard guard(lock_);

	while (!arrived_.empty()) {
		const auto priority = static_cast<size_t>(arrived_.front()->options.priority);
		RequestList &queue = queues_.at(priority);
		queue.splice(queue.end(), arrived_, arrived_.begin());
	}
}

void Pipeline::dropCancelled()
{
	{
		const std::lock_guard guard(lock_);
		if (!std::exchange(anyCancelled_, false))
			return;
	}
	for (RequestList &queue : queues_) {
		for (auto entry = queue.begin(); entry != queue.end();) {
			const auto next = std::next(entry);
			if ((*entry)->cancelled)
				complete(*dequeue(queue, entry).front(), cancelled(path_));
			entry = next;
		}
	}
}

/* Starts waiting requests. If a run ends immediately, it calls this function again; that inner call
 * returns at once, and the outer call continues. */
void Pipeline::dispatch()
{
	if (dispatching_)
		return;
	dispatching_ = true;
	while (Slot *slot = takeSlot())
		start(slot, takeNext());
	dispatching_ = false;
}

/* \return a list with the next request, or an empty list */
Pipeline::RequestList Pipeline::takeNext()
{
	for (auto queue = queues_.rbegin(); queue != queues_.rend(); ++queue) {
		if (!queue->empty())
			return dequeue(*queue, queue->begin());
	}
	return {};
}

Pipeline::RequestList Pipeline::dequeue(RequestList &queue, RequestList::iterator entry)
{
	RequestList request;
	const std::lock_guard guard(lock_);

	request.splice(request.end(), queue, entry);
	waiting_--;
	/*
	 * Notify all threads that wait for room: if only one were notified and its request was
	 * cancelled, the room would stay unused.
	 */
	room_.notify_all();
	return request;
}

/*
 * Returns a free slot, or a new one, if a request waits. Returns nullptr if no request waits, or if
 * all slots are in use and no more can be made.
 */
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
	auto slot = guarded(runningNetwork, [this] { return addSlot(); });
	if (slot)
		return *slot;
	/* Without memory for another slot, continue with the existing ones. */
	const size_t most = std::exchange(maxSlots_, slots_.size());
	static_cast<void>(guarded(runningNetwork, [&]() -> Result<void> {
		common_.device.log(LogLevel::Warning,
				   fmt::format("{}; {} runs at once instead of {}",
					       slot.error().message(), maxSlots_, most));
		return {};
	}));
	return nullptr;
}

Result<Slot *> Pipeline::addSlot()
{
	auto slot = Slot::create(common_);
	if (!slot)
		return forward(slot);
	slots_.reserve(slots_.size() + 1);
	const std::lock_guard guard(lock_);
	free_.reserve(slots_.size() + 1);
	return slots_.emplace_back(std::move(*slot)).get();
}

void Pipeline::start(Slot *slot, RequestList one)
{
	const std::shared_ptr<RequestState> request = one.front();
	{
		const std::lock_guard guard(lock_);
		running_.splice(running_.end(), one);
		request->cancelled = request->cancelled || closed_;
	}
	auto begun = guarded(runningNetwork, [&]() -> Result<void> {
		auto context = contextOf(request->options.priority);
		if (!context)
			return forward(context);
		slot->begin(request, *context,
			    [self = shared_from_this(), slot, request](Result<void> result) {
				    self->slotDone(slot, request, std::move(result));
			    });
		return {};
	});
	if (!begun)
		slotDone(slot, request, std::move(begun));
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
	/* Start the next run before the callback, so that the device is busy during the
	 * callback. */
	dispatch();
	complete(*request, std::move(result));
	/* This function is called by the slot, which must not be freed here, so the loop frees
	 * unneeded slots later. */
	const std::lock_guard guard(lock_);
	if (closed_ || onChip_)
		wake();
}

/*
 * Frees all slots but the first while the network is idle, if slots use on-chip memory. That memory
 * is small, and other networks cannot use a part that a slot holds.
 */
void Pipeline::giveBackSlots()
{
	{
		const std::lock_guard guard(lock_);
		if (!onChip_ || !running_.empty() || slots_.size() <= 1)
			return;
		free_.assign(1, slots_.front().get());
	}
	slots_.resize(1);
}

bool Pipeline::isClosed() const
{
	const std::lock_guard guard(lock_);
	return closed_;
}

/* Calls the application's callback; catches and logs its exceptions. */
void Pipeline::callBack(const Request::Callback &callback, const Result<RunReport> &outcome) const
{
	const auto called = guarded(runningNetwork, "callback", [&]() -> Result<void> {
		callback(outcome);
		return {};
	});

	if (!called)
		static_cast<void>(guarded(runningNetwork, [&]() -> Result<void> {
			device().log(LogLevel::Warning, called.error().message());
			return {};
		}));
}

void Pipeline::complete(RequestState &request, Result<void> result) noexcept
{
	Result<RunReport> outcome =
		result ? Result<RunReport>(std::move(request.report)) : forward(result);
	Request::Callback callback;
	{
		const std::lock_guard guard(request.lock);
		std::swap(callback, request.callback);
		request.result = callback ? guarded(runningNetwork, [&] { return copyOf(outcome); })
					  : std::move(outcome);
		request.inFlight = false;
	}
	request.changed.notify_all();
	if (callback)
		callBack(callback, outcome);
}

void Pipeline::shutDown(std::shared_ptr<Loop> loop)
{
	/* In a child of fork() runs never end, and all resources belong to the parent, so keep
	 * everything. */
	if (!process_.isHere()) {
		leaked_ = shared_from_this();
		return;
	}
	const auto finished = finished_.get_future();
	const bool waits = !loop->inThread() && loop->hasThread();
	{
		const std::lock_guard guard(lock_);
		closed_ = true;
		room_.notify_all();
		if (!waits)
			keptLoop_ = loop;
		/* Running requests check \a cancelled between steps; the loop's thread cancels
		 * waiting ones. */
		for (const auto &request : running_)
			request->cancelled = true;
	}
	loop->post(shared_from_this());
	if (waits)
		finished.wait();
}

void Pipeline::cancelAll()
{
	for (auto request = takeNext(); !request.empty(); request = takeNext())
		complete(*request.front(), cancelled(path_));
}

/* Gives up all resources of the device, because requests, and with them this pipeline, may outlive
 * the network. */
void Pipeline::releaseDevice()
{
	const ResidentMemory shared = std::move(common_.shared);
	const PreparedTasks prepared = std::move(common_.prepared);
	/*
	 * This may be the last reference to the open device, which must not be closed with the lock
	 * held.
	 */
	const Device last = device();
	const std::lock_guard guard(lock_);

	Device(std::move(common_.device));
	common_.loadable.blobs.clear();
}

/* Frees the slots and the device once the network is destroyed and no run is in flight. */
void Pipeline::finishIfIdle()
{
	{
		const std::lock_guard guard(lock_);
		if (!closed_ || !running_.empty() || slots_.empty())
			return;
		free_.clear();
	}
	slots_.clear();
	contexts_.clear();
	releaseDevice();
	/* The thread that waits for finished_ may destroy the loop: drop all references first. */
	std::unique_lock guard(lock_);
	const auto loop = std::move(keptLoop_);
	guard.unlock();
	finished_.set_value();
}

} /* namespace nvdla */
