/* SPDX-License-Identifier: MIT */
#include <algorithm>

#include <fmt/core.h>

#include "graph/chip/prediction.h"
#include "tools/prof/profile_table.h"

namespace nvdla::chip
{

namespace
{

std::string names(const PredictedOperation &operation)
{
	std::string text = fmt::format("{}.{}", operation.task, operation.members.front().index);

	for (size_t i = 1; i < operation.members.size(); i++)
		text += fmt::format("+{}", operation.members[i].index);
	return text;
}

} /* namespace */

std::string kilobytes(uint64_t bytes)
{
	return bytes ? fmt::format("{:.1f}", static_cast<double>(bytes) / 1e3) : "-";
}

std::string predictionSummary(const Prediction &prediction)
{
	const double seconds = static_cast<double>(prediction.durationNs) * 1e-9;
	const sim::MemoryTraffic all = prediction.traffic();
	std::string text = fmt::format("{} on {}: {}", prediction.name, prediction.chip.text(),
				       prof::timeText(prediction.durationNs));

	if (prediction.durationNs)
		text += fmt::format(", {:.1f} runs/s, MAC use {:.1f}%, {} kB from and to DRAM",
				    1 / seconds, 100 * prediction.macUse(),
				    kilobytes(all.mc.total()));
	if (all.cv.total())
		text += fmt::format(", {} kB SRAM", kilobytes(all.cv.total()));
	text += '\n';
	if (prediction.cpuOperations == 1)
		text += "1 operation on the CPU is not in it\n";
	else if (prediction.cpuOperations)
		text += fmt::format("{} operations on the CPU are not in it\n",
				    prediction.cpuOperations);
	return text;
}

std::string predictionTable(const Prediction &prediction)
{
	const sim::TimingParameters parameters = prediction.chip.parameters();
	size_t nameWidth = 4, engineWidth = 6, actionWidth = 4, shapeWidth = 5;

	for (const PredictedOperation &operation : prediction.operations) {
		nameWidth = std::max(nameWidth, names(operation).size());
		engineWidth = std::max(engineWidth, operation.engines().size());
		actionWidth = std::max(actionWidth, operation.members.front().text.action.size());
		shapeWidth = std::max(shapeWidth, operation.shape().size());
	}
	std::string text = fmt::format(
		"{:>{}} {:<{}} {:<{}} {:<{}} {:>12} {:>10} {:>7} {:>10} {:>10}  {}\n", "op",
		nameWidth, "engine", engineWidth, "what", actionWidth, "shape", shapeWidth, "start",
		"cycles", "MAC use", "DRAM kB", "SRAM kB", "bound");
	for (const PredictedOperation &operation : prediction.operations) {
		const sim::MemoryTraffic traffic = operation.work.traffic();
		const double use = operation.macUse(parameters);
		text += fmt::format(
			"{:>{}} {:<{}} {:<{}} {:<{}} {:>12} {:>10} {:>7} {:>10} {:>10}  {}\n",
			names(operation), nameWidth, operation.engines(), engineWidth,
			operation.members.front().text.action, actionWidth, operation.shape(),
			shapeWidth, prof::timeText(operation.startNs), operation.cycles(parameters),
			operation.work.conv ? fmt::format("{:.1f}%", 100 * use) : "-",
			kilobytes(traffic.mc.total()), kilobytes(traffic.cv.total()),
			sim::boundName(operation.timing.bound));
	}
	return text + predictionSummary(prediction);
}

} /* namespace nvdla::chip */
