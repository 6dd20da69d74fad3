/* SPDX-License-Identifier: MIT */
#include "graph/chip/prediction.h"

#include <algorithm>
#include <cmath>

#include <nvdla/task.h>

#include "graph/prediction/task_work.h"
#include "timing/schedule.h"

namespace nvdla::chip
{

namespace
{

uint64_t nanoseconds(double cycles, const sim::TimingParameters &parameters)
{
	return static_cast<uint64_t>(std::llround(cycles / parameters.clockHz * 1e9));
}

/*
 * Adds a task that begins at \a begin; returns its end, in cycles. Tasks do not overlap: the first
 * operation of a task waits for the last interrupt of the task before.
 */
Result<double> addTask(const Loadable &loadable, const DlaTask &task, double begin,
		       const sim::TimingParameters &parameters, Prediction &prediction)
{
	auto works = taskWork(loadable, task);
	std::vector<sim::ScheduledWork> list;
	double end = begin;

	if (!works)
		return forward(works);
	for (const FusedWork &fused : *works)
		list.push_back({ fused.work, fused.after });
	const auto times = sim::schedule(list, parameters);
	for (size_t i = 0; i < works->size(); i++) {
		PredictedOperation operation;
		operation.task = task.id;
		for (const size_t member : (*works)[i].members)
			operation.members.push_back(
				{ member, inspect::describeOperation(task, member) });
		operation.work = (*works)[i].work;
		operation.timing = sim::timeOperation(operation.work, parameters);
		operation.startNs = nanoseconds(begin + times[i].start, parameters);
		operation.endNs = nanoseconds(begin + times[i].end, parameters);
		end = std::max(end, begin + times[i].end);
		prediction.operations.push_back(std::move(operation));
	}
	return end;
}

} /* namespace */

double PredictedOperation::macUse(const sim::TimingParameters &parameters) const
{
	if (!work.conv || endNs <= startNs)
		return 0;
	const double cycles = static_cast<double>(endNs - startNs) * 1e-9 * parameters.clockHz;
	return static_cast<double>(work.conv->macs()) /
	       (cycles * static_cast<double>(work.conv->multipliers()));
}

uint64_t PredictedOperation::cycles(const sim::TimingParameters &parameters) const
{
	const double seconds = static_cast<double>(endNs - startNs) * 1e-9;

	return static_cast<uint64_t>(seconds * parameters.clockHz + 0.5);
}

std::string PredictedOperation::engines() const
{
	std::string text;

	for (const Member &member : members)
		text += (text.empty() ? "" : "+") + member.text.engine;
	return text;
}

std::string PredictedOperation::shape() const
{
	return inspect::shapeBetween(members.front().text, members.back().text);
}

sim::MemoryTraffic Prediction::traffic() const
{
	sim::MemoryTraffic all;

	for (const PredictedOperation &operation : operations)
		all += operation.work.traffic();
	return all;
}

double Prediction::macUse() const
{
	const double cycles = static_cast<double>(durationNs) * 1e-9 * chip.parameters().clockHz;
	double busy = 0;

	for (const PredictedOperation &operation : operations) {
		if (operation.work.conv)
			busy += static_cast<double>(operation.macs()) /
				static_cast<double>(operation.work.conv->multipliers());
	}
	return cycles > 0 ? busy / cycles : 0;
}

Result<Prediction> predict(const Loadable &loadable, const sim::Chip &chip, std::string name)
{
	const sim::TimingParameters parameters = chip.parameters();
	auto tasks = tasksInOrder(loadable);
	Prediction prediction = { .name = std::move(name), .chip = chip };
	double now = 0;

	if (!tasks)
		return forward(tasks);
	for (const AnyTask &any : *tasks) {
		const auto *task = std::get_if<DlaTask>(&any);
		if (!task) {
			const auto *cpu = std::get_if<EmuTask>(&any);
			prediction.cpuOperations += cpu ? cpu->operations.size() : 1;
			continue;
		}
		if (now > 0)
			now += static_cast<double>(parameters.interruptCycles);
		auto end = addTask(loadable, *task, now, parameters, prediction);
		if (!end)
			return forward(end);
		now = *end;
	}
	prediction.durationNs = nanoseconds(now, parameters);
	std::ranges::stable_sort(prediction.operations, {}, &PredictedOperation::startNs);
	return prediction;
}

} /* namespace nvdla::chip */
