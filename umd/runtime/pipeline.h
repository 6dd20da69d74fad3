/* SPDX-License-Identifier: MIT */
/* A network's runs: those that wait and those in flight. */
#pragma once

#include <array>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "runtime/async/loop.h"
#include "runtime/slot.h"

namespace nvdla
{

/**
 * \brief Slots of a network and the queue of requests for them
 *
 * The thread of the event loop, Slot::Common::loop, starts and ends runs. Any thread may call
 * submit(), cancel() and shutDown(), which only record what to do and wake the loop. As long as a
 * slot is free, the next run is submitted to the device before the previous one is done, so that
 * the device does not wait for the CPU. Slots are created when they are first needed. A thread that
 * calls Request::run() has to wait anyway, so it takes a free slot itself, without the loop.
 */
class Pipeline : public LoopTask, public std::enable_shared_from_this<Pipeline>
{
public:
	/**
	 * \param[in] slots largest number of runs in flight
	 * \param[in] maxQueued largest number of requests that wait for a slot
	 */
	static Result<std::shared_ptr<Pipeline>> create(Slot::Common common, size_t slots,
							size_t maxQueued);

	const Program &program() const { return common_.program; }
	/**
	 * \return the device; once the network is destroyed, it has no open file any more, but
	 * info() is valid
	 */
	Device device() const;
	const std::string &path() const { return path_; }
	const Loadable &loadable() const { return common_.loadable; }
	/** \brief Set a tensor's quantization, also during runs, which do not use it */
	Result<void> quantize(const char *kind, std::vector<TensorDesc> Program::*tensors,
			      size_t index, TensorQuantization quantization);
	/** \return true if the caller is in the loop's thread and must not wait */
	bool inLoopThread() const { return *loopThread_ == std::this_thread::get_id(); }

	/** \brief Queue a request; the caller has set RequestState::inFlight */
	Result<void> submit(std::shared_ptr<RequestState> request);

	/**
	 * \brief Run a request in this thread; the caller has set RequestState::inFlight
	 *
	 * \return false if no slot is free or other requests wait; the caller then has to submit it
	 */
	bool runHere(const std::shared_ptr<RequestState> &request);

	/** \brief Cancel submission number \a run of a request, unless that submission is done */
	void cancel(const std::shared_ptr<RequestState> &request, uint64_t run);

	/**
	 * \brief Let the loop's thread cancel all requests and release the network's resources
	 *
	 * Waits until this is done if the loop has a thread of its own and the caller is another
	 * thread; otherwise waiting could hang. Nothing can be submitted afterwards.
	 *
	 * \param[in] loop the pipeline holds a reference until all resources are released
	 */
	void shutDown(std::shared_ptr<Loop> loop);

	/** \brief The process that loaded the network */
	const OwnProcess &process() const { return process_; }

private:
	using RequestList = std::list<std::shared_ptr<RequestState>>;

	Pipeline(Slot::Common common, size_t slots, size_t maxQueued);

	/* The functions from run() to finishIfIdle() are called in the loop's thread. */
	void run() noexcept override;
	void takeArrived();
	void dropCancelled();
	void dispatch();
	RequestList takeNext();
	RequestList dequeue(RequestList &queue, RequestList::iterator entry);
	Slot *takeSlot();
	Result<Slot *> addSlot();
	void start(Slot *slot, RequestList request);
	Result<uint32_t> contextOf(Priority priority);
	void slotDone(Slot *slot, const std::shared_ptr<RequestState> &request,
		      Result<void> result);
	void cancelAll();
	bool isClosed() const;
	void giveBackSlots();
	void releaseDevice();
	void finishIfIdle();

	void wake() noexcept { common_.loop.post(shared_from_this()); }
	void callBack(const Request::Callback &callback, const Result<RunReport> &outcome) const;
	void complete(RequestState &request, Result<void> result) noexcept;

	const OwnProcess process_;
	Slot::Common common_;
	const std::string path_;
	const std::shared_ptr<const std::atomic<std::thread::id>> loopThread_;
	const size_t maxQueued_;
	const bool onChip_; /* true if each run needs on-chip memory */

	mutable std::mutex lock_; /* guards the following members, and common_.device while it is
				     copied or given up */
	std::condition_variable room_;
	size_t waiting_ = 0; /* requests that were submitted and have no slot */
	bool closed_ = false;
	bool anyCancelled_ = false; /* true if a cancelled request may be in a queue */
	RequestList arrived_;
	std::vector<Slot *> free_; /* free slots; room for all slots is reserved, so that adding one
				      cannot fail */
	RequestList running_;
	std::shared_ptr<Loop> keptLoop_;

	/* Used by the loop's thread only. */
	size_t maxSlots_;
	std::vector<std::unique_ptr<Slot>> slots_;
	std::array<RequestList, 3> queues_; /* waiting requests, by priority */
	std::map<Priority, Context> contexts_;
	bool dispatching_ = false;
	std::promise<void> finished_;
	std::shared_ptr<Pipeline> leaked_; /* self-reference in a child of fork(), where the
					      pipeline is never destroyed */
};

} /* namespace nvdla */
