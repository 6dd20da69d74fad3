/* SPDX-License-Identifier: MIT */
/*
 * A pool's devices, and the requests that wait for them.
 */
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <nvdla/network.h>
#include <nvdla/pool.h>

namespace nvdla
{

/**
 * \brief State of a Pool
 *
 * Callbacks of requests keep a reference to the state. The lock guards all members. It is not held
 * during calls that may take long or call callbacks. The memory that a request needs until its
 * answer is allocated at submission.
 */
class Pool::State : public std::enable_shared_from_this<Pool::State>
{
public:
	/** \brief Name of the action that failed, in errors of these functions */
	static constexpr const char *what = "run network of pool";

	State(EventLoop loop, const PoolOptions &options);

	Result<size_t> addNetwork(const Loadable &loadable);
	Result<void> addDevice(const Device &device);
	const std::vector<TensorDesc> &tensors(size_t network, bool input) const;
	Result<void> submit(PoolRequest request, Callback callback);
	bool inLoopThread() const { return loop_.isCurrentThread(); }
	std::vector<DeviceUse> use() const;
	void shutDown() noexcept;

private:
	struct Work;
	using WorkPtr = std::shared_ptr<Work>;
	using WorkList = std::list<WorkPtr>;
	using Clock = std::chrono::steady_clock;

	/* A network on one device, with a request for each slot. */
	struct Resident {
		Network network;
		std::vector<std::shared_ptr<Request>> idle;
	};

	struct Worker {
		Device device;
		std::vector<std::unique_ptr<Resident>> residents; /* index: number of the network */
		DeviceUse use;
		Clock::time_point busySince = {};
	};

	/* A request of the application, until it is answered. */
	struct Work {
		PoolRequest request;
		Callback callback;
		std::optional<Result<PoolAnswer>> answer = {};
		WorkList::iterator place = {}; /* place in waiting_ or running_ */
	};

	/* A run to start: the device, the idle Request of the network there, and the application's
	 * request. */
	struct Start {
		Worker &worker;
		std::shared_ptr<Request> run;
		WorkPtr work;
	};

	struct Described {
		Loadable loadable;
		std::vector<TensorDesc> inputs;
		std::vector<TensorDesc> outputs;
	};

	Result<std::unique_ptr<Resident>> load(const Device &device,
					       const Loadable &loadable) const;
	Result<void> checkRequest(const PoolRequest &request) const;
	Worker *freest();
	WorkList &waitingLike(const Work &work);
	WorkPtr takeNext();
	std::optional<Start> takeStart();
	void dispatch() noexcept;
	Result<void> start(const Start &start);
	Result<PoolAnswer> answerOf(const Start &start, const Result<RunReport> &report);
	Result<PoolAnswer> notStarted(const Error &error) const noexcept;
	void settle(const Start &start, Result<PoolAnswer> answer) noexcept;
	void ended(const Start &start, Result<PoolAnswer> answer) noexcept;
	void leave(const Start &start);
	void answer(const WorkPtr &work, Result<PoolAnswer> answer);
	void answerWaiting(ErrorCode code, const char *why);
	void deliver() noexcept;
	void callBack(const WorkPtr &work) noexcept;
	bool anyLeft() const;

	const EventLoop loop_;
	const unsigned slots_;
	const unsigned maxPending_;

	std::mutex growing_; /* held while networks are loaded; networks_ and workers_ grow only
				while both mutexes are held */
	mutable std::mutex lock_;
	std::condition_variable room_;
	std::deque<Described> networks_;
	std::deque<Worker> workers_;
	std::array<WorkList, 3> waiting_; /* waiting requests, by priority */
	WorkList running_;
	/* Unanswered requests of each stream, in the order of submission. */
	std::map<uint64_t, WorkList> streams_;
	WorkList ready_; /* answered requests, in the order of their
			  * callbacks */
	bool dispatching_ = false;
	bool delivering_ = false;
	size_t pending_ = 0;
	bool closed_ = false;
};

} /* namespace nvdla */
