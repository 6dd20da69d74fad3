/* SPDX-License-Identifier: MIT */
#include "run_profile.h"

#include <algorithm>

#include <fmt/core.h>
#include <nvdla/task.h>

#include "loadable/cubes.h"

namespace nvdla::prof
{

namespace
{

constexpr const char *profilingRun = "profile run";

class Assembler
{
public:
	Assembler(const std::vector<AnyTask> &tasks, const RunReport &report)
		: tasks_(tasks), report_(report)
	{
	}

	Result<Profile> run();

private:
	Result<void> addStep(const RunReport::Step &step);
	void addCpu(const RunReport::Step &step, uint16_t task, size_t index,
		    inspect::OperationText text);
	Result<void> addJob(const RunReport::Step &step);

	const std::vector<AnyTask> &tasks_;
	const RunReport &report_;
	size_t next_ = 0;  /* index in tasks_ of the next step's first task */
	uint64_t now_ = 0; /* time from the run's begin to the next step, ns */
	Profile profile_;
};

OperationProfile onDevice(const DlaTask &task, size_t index, const OperationReport *result,
			  const JobReport &job, uint64_t jobBegin)
{
	OperationProfile operation;

	operation.task = task.id;
	operation.index = index;
	operation.text = inspect::describeOperation(task, index);
	if (!result)
		return operation;
	operation.counters = *result;
	operation.timed = result->started && result->completed && result->startNs >= job.submitNs &&
			  result->endNs >= result->startNs;
	if (operation.timed) {
		operation.startNs = jobBegin + (result->startNs - job.submitNs);
		operation.endNs = jobBegin + (result->endNs - job.submitNs);
	}
	return operation;
}

Result<void> Assembler::addJob(const RunReport::Step &step)
{
	size_t result = 0;

	for (size_t i = next_; i < next_ + step.tasks; i++) {
		const auto *task = std::get_if<DlaTask>(&tasks_[i]);
		if (!task)
			return fail(ErrorCode::InvalidArgument, profilingRun,
				    fmt::format("task {}", i),
				    "ran on the device, but is for the CPU in the loadable");
		const size_t first = profile_.operations.size();
		for (size_t op = 0; op < task->graph.size(); op++, result++) {
			profile_.operations.push_back(onDevice(
				*task, op,
				result < step.results.size() ? &step.results[result] : nullptr,
				step.job, now_));
			if (const auto from = streamProducer(*task, op))
				profile_.operations.back().takesFrom = first + *from;
		}
	}
	return {};
}

void Assembler::addCpu(const RunReport::Step &step, uint16_t task, size_t index,
		       inspect::OperationText text)
{
	OperationProfile operation;

	operation.task = task;
	operation.index = index;
	operation.text = std::move(text);
	operation.timed = true;
	operation.startNs = now_;
	operation.endNs = now_ + static_cast<uint64_t>(step.duration.count());
	profile_.operations.push_back(std::move(operation));
}

Result<void> Assembler::addStep(const RunReport::Step &step)
{
	if (step.tasks > tasks_.size() - next_)
		return fail(ErrorCode::InvalidArgument, profilingRun, "report",
			    fmt::format("has more than the loadable's {} tasks", tasks_.size()));
	const AnyTask *task = step.cpu && step.tasks ? &tasks_[next_] : nullptr;
	const auto *cpu = task ? std::get_if<EmuTask>(task) : nullptr;
	const auto *host = task ? std::get_if<HostTask>(task) : nullptr;
	for (size_t i = 0; cpu && i < cpu->operations.size(); i++)
		addCpu(step, cpu->id, i, inspect::describeOperation(*cpu, i));
	if (host)
		addCpu(step, host->id, 0, inspect::describeOperation(*host));
	if (auto added = cpu || host ? Result<void>() : addJob(step); !added)
		return added;
	next_ += step.tasks;
	now_ += static_cast<uint64_t>(step.duration.count());
	return {};
}

Result<Profile> Assembler::run()
{
	for (const RunReport::Step &step : report_.steps) {
		if (auto added = addStep(step); !added)
			return forward(added);
	}
	profile_.durationNs = now_;
	for (const OperationProfile &operation : profile_.operations)
		profile_.durationNs = std::max(profile_.durationNs, operation.endNs);
	return std::move(profile_);
}

} /* namespace */

Result<Profile> runProfile(const Loadable &loadable, const RunReport &report, std::string name)
{
	auto tasks = tasksInOrder(loadable);
	if (!tasks)
		return forward(tasks);
	auto profile = Assembler(*tasks, report).run();
	if (profile)
		profile->name = std::move(name);
	return profile;
}

} /* namespace nvdla::prof */
