/* SPDX-License-Identifier: MIT */
#include "timing/schedule.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "timing/conv_timing.h"

namespace nvdla::sim
{

namespace
{

/* \return the engines of an operation, as bits */
uint32_t enginesOf(const OperationWork &work)
{
	return (work.conv ? 1U : 0) | (work.sdp ? 2U : 0) | (work.pdp ? 4U : 0) |
	       (work.cdp ? 8U : 0) | (work.move ? (work.move->bdma ? 16U : 32U) : 0);
}

/* Requested or granted bandwidth of each memory, as shares of all of it. */
struct Share {
	double mc = 0;
	double cv = 0;
};

Share shareOf(const MemoryTraffic &traffic, double cycles, const TimingParameters &parameters)
{
	const double least = std::max(cycles, 1.0);

	return { parameters.mc.cycles(traffic.mc) / least,
		 parameters.cv.cycles(traffic.cv) / least };
}

/* Max-min fairness. \return the share of a user that requests more; others get their request. */
double fairShare(std::vector<double> asked)
{
	double left = 1;
	size_t others = asked.size();

	std::ranges::sort(asked);
	for (const double share : asked) {
		if (share * static_cast<double>(others) > left)
			return left / static_cast<double>(others);
		left -= share;
		others--;
	}
	return 1;
}

constexpr double kRounding = 1e-6; /* cycles; shorter remainders are rounding errors */

/* A running activity; cycles count as if no other activity used the memories. */
struct Activity {
	double left = 0;
	double passed = 0;
	double fetching = 0; /* initial cycles in which CDMA fetches */
	Share fetch;	     /* shares that CDMA requests in these cycles */
	Share rest;	     /* shares that all other traffic requests, in all cycles */
	bool running = false;

	bool isFetching() const { return running && fetching - passed > kRounding; }

	Share asked() const
	{
		if (!isFetching())
			return { std::min(rest.mc, 1.0), std::min(rest.cv, 1.0) };
		return { std::min(rest.mc + fetch.mc, 1.0), std::min(rest.cv + fetch.cv, 1.0) };
	}

	double slowdown(const Share &fair) const
	{
		return std::max({ 1.0, asked().mc / fair.mc, asked().cv / fair.cv });
	}

	/** \return cycles until the activity ends or requests less bandwidth */
	double unchanged() const { return isFetching() ? std::min(left, fetching - passed) : left; }
};

struct Operation {
	uint32_t engines = 0;
	Activity work;
	Activity ahead; /* fetches of a convolution before it begins */
	InBuffer room;	/* bytes of the buffer for these fetches */
	bool done = false;
};

constexpr size_t kNone = std::numeric_limits<size_t>::max();

class Scheduler
{
public:
	Scheduler(const std::vector<ScheduledWork> &list, const TimingParameters &parameters)
		: list_(list), parameters_(parameters), operations_(list.size()),
		  times_(list.size())
	{
		for (size_t i = 0; i < list.size(); i++)
			operations_[i].engines = enginesOf(list[i].work);
	}

	std::vector<ScheduledTime> run()
	{
		while (start())
			advance();
		return times_;
	}

private:
	/* Returns when an operation may start, infinity if that is not known yet. */
	double allowed(size_t index) const
	{
		double at = list_[index].notBefore;

		for (const size_t before : list_[index].after) {
			if (!operations_[before].done)
				return std::numeric_limits<double>::infinity();
			at = std::max(at, times_[before].end +
						  static_cast<double>(parameters_.interruptCycles));
		}
		return at;
	}

	/* Starts the operations that can start now. Returns false if all are done. */
	bool start()
	{
		uint32_t taken = 0;
		bool left = false;
		size_t conv = kNone; /* the previous convolution, unless it is done */

		wake_ = std::numeric_limits<double>::infinity();
		for (const Operation &operation : operations_)
			taken |= operation.work.running ? operation.engines : 0;
		for (size_t i = first_; i < operations_.size(); i++) {
			Operation &operation = operations_[i];
			if (operation.done && i == first_)
				first_++;
			if (operation.done)
				continue;
			left = true;
			if (!operation.work.running)
				attend(i, taken, conv);
			if (list_[i].work.conv)
				conv = i;
			/* Later operations of the engine wait for this one. */
			taken |= operation.engines;
		}
		return left;
	}

	/* Handles a waiting operation: starts it, or lets CDMA fetch for it, if possible. */
	void attend(size_t index, uint32_t taken, size_t conv)
	{
		const double at = allowed(index);

		if (at > now_)
			wake_ = std::min(wake_, at);
		else if (!(operations_[index].engines & taken))
			begin(index);
		else if (list_[index].work.conv)
			fetchAhead(index, conv);
	}

	void begin(size_t index)
	{
		Operation &operation = operations_[index];
		OperationWork work = list_[index].work;

		if (work.conv) {
			work.conv->ahead = fetchedAhead(*work.conv, operation.room,
							operation.ahead.passed, parameters_);
			operation.ahead.running = false;
		}
		const OperationTiming timing = timeOperation(work, parameters_);
		const auto cycles = static_cast<double>(timing.cycles);
		const auto fetching =
			static_cast<double>(std::max(timing.dataCycles, timing.weightCycles));
		OperationWork rest = work;
		rest.conv.reset();
		work = { .conv = work.conv };
		operation.work = { .left = cycles,
				   .fetching = fetching,
				   .fetch = shareOf(work.traffic(), fetching, parameters_),
				   .rest = shareOf(rest.traffic(), cycles, parameters_),
				   .running = true };
		times_[index].start = now_;
	}

	/* Lets CDMA fetch the next convolution; \a before is the running convolution, if any. */
	void fetchAhead(size_t index, size_t before)
	{
		Operation &operation = operations_[index];
		const ConvWork &conv = *list_[index].work.conv;
		const ConvWork *busy = nullptr;

		if (operation.ahead.running || operation.ahead.passed > 0)
			return;
		if (before != kNone) {
			const Activity &other = operations_[before].work;
			if (!other.running || other.isFetching())
				return;
			busy = &*list_[before].work.conv;
		}
		operation.room = roomAhead(conv, busy);
		const double cycles = cyclesAhead(conv, operation.room, parameters_);
		MemoryTraffic traffic;
		traffic.of(conv.dataRam).readBytes += operation.room.dataBytes;
		traffic.of(conv.weightRam).readBytes += operation.room.weightBytes;
		operation.ahead = { .left = cycles,
				    .fetching = cycles,
				    .fetch = shareOf(traffic, cycles, parameters_),
				    .running = cycles > 0 };
	}

	/* Calls \a function for all running activities. */
	template<typename Function>
	void forRunning(const Function &function)
	{
		for (size_t i = first_; i < operations_.size(); i++) {
			if (operations_[i].work.running)
				function(i, operations_[i].work);
			if (operations_[i].ahead.running)
				function(i, operations_[i].ahead);
		}
	}

	Share fairShares()
	{
		std::vector<double> mc;
		std::vector<double> cv;

		forRunning([&](size_t, const Activity &one) {
			mc.push_back(one.asked().mc);
			cv.push_back(one.asked().cv);
		});
		return { fairShare(std::move(mc)), fairShare(std::move(cv)) };
	}

	/* Advance to the next change of an activity, or the next time that an operation may
	 * start. */
	void advance()
	{
		const Share fair = fairShares();
		double step = wake_ - now_;

		forRunning([&](size_t, const Activity &one) {
			step = std::min(step, one.unchanged() * one.slowdown(fair));
		});
		now_ += step;
		forRunning([&](size_t i, Activity &one) {
			const double cycles = step / one.slowdown(fair);
			one.left -= cycles;
			one.passed += cycles;
			if (one.left > kRounding)
				return;
			one.running = false;
			if (&one != &operations_[i].work)
				return;
			operations_[i].done = true;
			times_[i].end = now_;
		});
	}

	const std::vector<ScheduledWork> &list_;
	const TimingParameters &parameters_;
	std::vector<Operation> operations_;
	std::vector<ScheduledTime> times_;
	size_t first_ = 0; /* the first operation that is not known to be done */
	double now_ = 0;
	double wake_ = 0;
};

} /* namespace */

std::vector<ScheduledTime> schedule(const std::vector<ScheduledWork> &operations,
				    const TimingParameters &parameters)
{
	return Scheduler(operations, parameters).run();
}

} /* namespace nvdla::sim */
