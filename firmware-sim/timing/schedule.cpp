/* SPDX-License-Identifier: MIT */
#include "timing/schedule.h"

#include <algorithm>
#include <limits>

#include "timing/conv_timing.h"

namespace nvdla::sim
{

namespace
{

/* Engines as bits. */
uint32_t enginesOf(const OperationWork &work)
{
	return (work.conv ? 1U : 0) | (work.sdp ? 2U : 0) | (work.pdp ? 4U : 0) |
	       (work.cdp ? 8U : 0) | (work.move ? (work.move->bdma ? 16U : 32U) : 0);
}

/* What is asked of the memories; each rate is a share of a memory's bandwidth. */
struct Demand {
	double mc = 0;
	double cv = 0;

	Demand &operator+=(const Demand &other)
	{
		mc += other.mc;
		cv += other.cv;
		return *this;
	}
};

Demand demandOf(const MemoryTraffic &traffic, double cycles, const TimingParameters &parameters)
{
	const double least = std::max(cycles, 1.0);

	return { parameters.mc.cycles(traffic.mc) / least,
		 parameters.cv.cycles(traffic.cv) / least };
}

constexpr double kRounding = 1e-6; /* cycles */

/* Something that goes on while time passes; cycles are those with the memories for itself. */
struct Activity {
	double left = 0;
	double passed = 0;
	Demand demand;
	bool running = false;

	double slowdown(const Demand &all) const
	{
		return std::max({ 1.0, demand.mc > 0 ? all.mc : 0, demand.cv > 0 ? all.cv : 0 });
	}

	/** \return whether it has ended */
	bool advance(double cycles)
	{
		left -= cycles;
		passed += cycles;
		return left <= kRounding;
	}
};

struct Operation {
	uint32_t engines = 0;
	Activity work;
	bool done = false;
	/* Of a convolution: */
	double fetching = 0; /* cycles from its begin on in which CDMA has work */
	Activity ahead;	     /* what CDMA does before */
	InBuffer room;	     /* for it */

	bool isFetching() const { return work.running && fetching - work.passed > kRounding; }
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

	/* Starts what can start now. Returns false if all are done. */
	bool start()
	{
		uint32_t taken = 0;
		bool left = false;
		size_t conv = lastConv_; /* the one before, in the engine's order */

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
			if (operation.work.running) {
				conv = list_[i].work.conv ? i : conv;
				continue;
			}
			const double at = allowed(i);
			if (at > now_)
				wake_ = std::min(wake_, at);
			else if (!(operation.engines & taken))
				begin(i);
			else if (list_[i].work.conv)
				fetchAhead(i, conv);
			if (list_[i].work.conv)
				conv = i;
			/* Later operations of the engine wait for this one. */
			taken |= operation.engines;
		}
		return left;
	}

	void begin(size_t index)
	{
		Operation &operation = operations_[index];
		OperationWork work = list_[index].work;

		if (work.conv) {
			lastConv_ = index;
			work.conv->ahead = fetchedAhead(*work.conv, operation.room,
							operation.ahead.passed, parameters_);
			operation.ahead.running = false;
		}
		const OperationTiming timing = timeOperation(work, parameters_);
		const auto cycles = static_cast<double>(timing.cycles);
		operation.fetching =
			static_cast<double>(std::max(timing.dataCycles, timing.weightCycles));
		operation.work = { .left = cycles,
				   .demand = demandOf(work.traffic(), cycles, parameters_),
				   .running = true };
		times_[index].start = now_;
	}

	/* CDMA goes on to the next convolution, \a before is the one in front of it. */
	void fetchAhead(size_t index, size_t before)
	{
		Operation &operation = operations_[index];
		const ConvWork &conv = *list_[index].work.conv;
		const ConvWork *busy = nullptr;

		if (operation.ahead.running || operation.ahead.passed > 0)
			return;
		if (before != kNone && !operations_[before].done) {
			const Activity &other = operations_[before].work;
			if (!other.running || operations_[before].isFetching())
				return;
			busy = &*list_[before].work.conv;
		}
		operation.room = roomAhead(conv, busy);
		const double cycles = cyclesAhead(conv, operation.room, parameters_);
		MemoryTraffic traffic;
		traffic.of(conv.dataRam).readBytes += operation.room.dataBytes;
		traffic.of(conv.weightRam).readBytes += operation.room.weightBytes;
		operation.ahead = { .left = cycles,
				    .demand = demandOf(traffic, cycles, parameters_),
				    .running = cycles > 0 };
	}

	/* Calls \a function for all that goes on. */
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

	/* To the next end of anything, or the next time that something may start. */
	void advance()
	{
		Demand all;
		double step = wake_ - now_;

		forRunning([&](size_t, const Activity &one) { all += one.demand; });
		forRunning([&](size_t i, const Activity &one) {
			step = std::min(step, one.left * one.slowdown(all));
			/* CDMA is free in the middle of an operation. */
			if (operations_[i].isFetching())
				step = std::min(step, (operations_[i].fetching - one.passed) *
							      one.slowdown(all));
		});
		now_ += step;
		forRunning([&](size_t i, Activity &one) {
			if (!one.advance(step / one.slowdown(all)))
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
	size_t first_ = 0;	  /* not done, or about to be seen as done */
	size_t lastConv_ = kNone; /* the convolution that began last */
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
