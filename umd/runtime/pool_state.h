/* SPDX-License-Identifier: MIT */
/*
 * A pool's devices, and the requests that wait for them.
 */
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include <nvdla/network.h>
#include <nvdla/pool.h>

namespace nvdla
{

/**
 * \brief What a Pool stands for
 *
 * Callbacks of requests keep it. The lock guards everything and is not held while something is
 * called that may call back or take long.
 */
class Pool::State : public std::enable_shared_from_this<Pool::State>
{
public:
	/** \brief What fails, in the words of errors */
	static constexpr const char *what = "run network of pool";

	State(EventLoop loop, const PoolOptions &options);

	Result<size_t> addNetwork(const Loadable &loadable);
	Result<void> addDevice(const Device &device);
	const std::vector<TensorDesc> &tensors(size_t network, bool input) const;
	Result<void> submit(PoolRequest request, Callback callback);
	bool inLoopThread() const { return loop_.isCurrentThread(); }
	std::vector<DeviceUse> use() const;
	void shutDown();

private:
	using Clock = std::chrono::steady_clock;

	/* A network on one device, with a request for each slot. */
	struct Resident {
		Network network;
		std::vector<std::shared_ptr<Request>> idle;
	};

	struct Worker {
		Device device;
		std::deque<Resident> residents; /* by number of the network */
		DeviceUse use;
		Clock::time_point busySince = {};
	};

	/* A request of the application's until it is answered. */
	struct Work {
		PoolRequest request;
		Callback callback;
		std::optional<Result<PoolAnswer>> answer = {};
	};
	using WorkPtr = std::shared_ptr<Work>;

	/* A request on its way to a device. */
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

	Result<Resident> load(const Device &device, const Loadable &loadable) const;
	Result<void> checkRequest(const PoolRequest &request) const;
	Worker *freest();
	std::vector<Start> takeStarts();
	void dispatch();
	void start(const Start &start);
	void done(const Start &start, const Result<RunReport> &report);
	void settle(const Start &start, Result<PoolAnswer> answer);
	void leave(const Start &start);
	void answer(const WorkPtr &work, Result<PoolAnswer> answer);
	void answerWaiting(const Error &error);
	void deliver();
	bool anyLeft() const;

	const EventLoop loop_;
	const unsigned slots_;
	const unsigned maxPending_;

	std::mutex growing_; /* of networks_ and workers_ becoming more, with the lock besides */
	mutable std::mutex lock_;
	std::condition_variable room_;
	std::deque<Described> networks_;
	std::deque<Worker> workers_;
	std::deque<WorkPtr> waiting_;
	std::map<uint64_t, std::deque<WorkPtr>> streams_; /* pending, in the order of submission */
	std::deque<WorkPtr> ready_; /* answered, to be called back in this order */
	bool delivering_ = false;
	size_t pending_ = 0;
	bool closed_ = false;
};

} /* namespace nvdla */
