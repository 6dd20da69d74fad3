/* SPDX-License-Identifier: MIT */
#include "timing/schedule.h"

#include <algorithm>
#include <limits>

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

/* What the operations that run ask of a memory; each rate is a share of its bandwidth. */
struct Demand {
	double mc = 0;
	double cv = 0;
};

struct Operation {
	uint32_t engines = 0;
	double left = 0; /* cycles with the memories for itself */
	Demand demand;
	bool running = false;
	bool done = false;
};

class Scheduler
{
public:
	Scheduler(const std::vector<ScheduledWork> &list, const TimingParameters &parameters)
		: list_(list), parameters_(parameters), operations_(list.size()),
		  times_(list.size())
	{
		for (size_t i = 0; i < list.size(); i++) {
			const OperationTiming timing = timeOperation(list[i].work, parameters);
			const MemoryTraffic traffic = list[i].work.traffic();
			const auto cycles =
				static_cast<double>(std::max<uint64_t>(timing.cycles, 1));
			operations_[i] = { .engines = enginesOf(list[i].work),
					   .left = static_cast<double>(timing.cycles),
					   .demand = { parameters.mc.cycles(traffic.mc) / cycles,
						       parameters.cv.cycles(traffic.cv) /
							       cycles } };
		}
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

		wake_ = std::numeric_limits<double>::infinity();
		for (const Operation &operation : operations_)
			taken |= operation.running ? operation.engines : 0;
		for (size_t i = first_; i < operations_.size(); i++) {
			Operation &operation = operations_[i];
			if (operation.done && i == first_)
				first_++;
			if (operation.done)
				continue;
			left = true;
			if (operation.running)
				continue;
			const double at = allowed(i);
			if (!(operation.engines & taken) && at <= now_) {
				operation.running = true;
				times_[i].start = now_;
			} else if (!(operation.engines & taken)) {
				wake_ = std::min(wake_, at);
			}
			/* Later operations of the engine wait for this one. */
			taken |= operation.engines;
		}
		return left;
	}

	/* To the next end of an operation, or the next time that one may start. */
	void advance()
	{
		Demand all;
		for (const Operation &operation : operations_) {
			if (!operation.running)
				continue;
			all.mc += operation.demand.mc;
			all.cv += operation.demand.cv;
		}
		const auto slowdown = [&all](const Operation &operation) {
			double factor = 1;
			if (operation.demand.mc > 0)
				factor = std::max(factor, all.mc);
			if (operation.demand.cv > 0)
				factor = std::max(factor, all.cv);
			return factor;
		};
		double step = wake_ - now_;
		for (const Operation &operation : operations_)
			if (operation.running)
				step = std::min(step, operation.left * slowdown(operation));
		now_ += step;
		for (size_t i = first_; i < operations_.size(); i++) {
			Operation &operation = operations_[i];
			if (!operation.running)
				continue;
			constexpr double rounding = 1e-6;
			operation.left -= step / slowdown(operation);
			if (operation.left > rounding)
				continue;
			operation.running = false;
			operation.done = true;
			times_[i].end = now_;
		}
	}

	const std::vector<ScheduledWork> &list_;
	const TimingParameters &parameters_;
	std::vector<Operation> operations_;
	std::vector<ScheduledTime> times_;
	size_t first_ = 0; /* not done, or about to be seen as done */
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
