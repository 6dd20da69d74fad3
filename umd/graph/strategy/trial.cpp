/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include <algorithm>

#include <fmt/core.h>
#include <nvdla/task.h>

#include "graph/graph_parts.h"
#include "graph/prediction/task_work.h"
#include "graph/small_graph.h"
#include "timing/chip.h"
#include "timing/schedule.h"

namespace nvdla::assembly
{

Result<sim::TimingParameters> chipOf(const Strategy &strategy)
{
	sim::Chip chip;

	for (const auto &[name, value] : strategy.chip) {
		const sim::ChipOption *option = sim::findChipOption(name);
		const std::string problem =
			option ? option->set(chip, value) : "is no option of a chip";
		if (!problem.empty())
			return fail(ErrorCode::InvalidArgument, what,
				    fmt::format("strategy, chip '{}'", name), problem);
	}
	return chip.parameters();
}

std::optional<TrialResult> timeOf(const Loadable &loadable, const sim::TimingParameters &parameters)
{
	const auto tasks = tasksInOrder(loadable);
	TrialResult result;

	if (!tasks)
		return std::nullopt;
	for (const AnyTask &any : *tasks) {
		const auto *task = std::get_if<DlaTask>(&any);
		if (!task) {
			result.onCpu = true;
			continue;
		}
		const auto works = chip::taskWork(loadable, *task);
		if (!works)
			return std::nullopt;
		std::vector<sim::ScheduledWork> list;
		for (const chip::FusedWork &fused : *works) {
			list.push_back({ fused.work, fused.after });
			result.convolutions += fused.work.conv.has_value();
			result.fusedPoolings +=
				fused.work.sdp.has_value() && fused.work.pdp.has_value();
		}
		double end = 0;
		for (const sim::ScheduledTime &time : sim::schedule(list, parameters))
			end = std::max(end, time.end);
		result.cycles += end;
	}
	return result;
}

std::optional<TrialResult> tryOperations(const Graph &graph,
					 const std::map<std::string, Surface> &shapes,
					 const std::vector<size_t> &members,
					 const CoreGeometry &core,
					 const sim::TimingParameters &parameters)
{
	SmallGraph small(graph, shapes);
	std::vector<op::Any> operations;

	for (const size_t member : members)
		operations.push_back(graph.operations()[member]);
	if (small.add(operations))
		return std::nullopt;
	const auto assembled = assemble(std::move(small.graph), { .core = core });
	return assembled ? timeOf(assembled->loadable, parameters) : std::nullopt;
}

} /* namespace nvdla::assembly */
