/* SPDX-License-Identifier: MIT */
#include <algorithm>

#include <fmt/core.h>

#include "chip/prediction.h"
#include "prof/profile_table.h"

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

std::string engines(const PredictedOperation &operation)
{
	std::string text;

	for (const PredictedOperation::Member &member : operation.members)
		text += (text.empty() ? "" : "+") + member.text.engine;
	return text;
}

/* From the first one's input to the last one's output. */
std::string shape(const PredictedOperation &operation)
{
	const std::string &first = operation.members.front().text.shape;
	const std::string &last = operation.members.back().text.shape;
	const size_t from = first.find(" -> ");
	const size_t to = last.find(" -> ");

	if (from == std::string::npos || to == std::string::npos)
		return first;
	return first.substr(0, from) + last.substr(to);
}

std::string kilobytes(uint64_t bytes)
{
	return bytes ? fmt::format("{:.1f}", static_cast<double>(bytes) / 1e3) : "-";
}

} /* namespace */

std::string predictionTable(const Prediction &prediction)
{
	const sim::TimingParameters parameters = prediction.chip.parameters();
	sim::MemoryTraffic all;
	double macs = 0;
	size_t nameWidth = 4, engineWidth = 6, actionWidth = 4, shapeWidth = 5;

	for (const PredictedOperation &operation : prediction.operations) {
		nameWidth = std::max(nameWidth, names(operation).size());
		engineWidth = std::max(engineWidth, engines(operation).size());
		actionWidth = std::max(actionWidth, operation.members.front().text.action.size());
		shapeWidth = std::max(shapeWidth, shape(operation).size());
	}
	std::string text = fmt::format(
		"{:>{}} {:<{}} {:<{}} {:<{}} {:>12} {:>10} {:>7} {:>10} {:>10}  {}\n", "op",
		nameWidth, "engine", engineWidth, "what", actionWidth, "shape", shapeWidth, "start",
		"cycles", "MAC use", "DRAM kB", "SRAM kB", "bound");
	for (const PredictedOperation &operation : prediction.operations) {
		const sim::MemoryTraffic traffic = operation.work.traffic();
		const double use = operation.macUse(parameters);
		all += traffic;
		macs += operation.work.conv
				? static_cast<double>(operation.work.conv->macs()) /
					  static_cast<double>(operation.work.conv->multipliers())
				: 0;
		text += fmt::format(
			"{:>{}} {:<{}} {:<{}} {:<{}} {:>12} {:>10} {:>7} {:>10} {:>10}  {}\n",
			names(operation), nameWidth, engines(operation), engineWidth,
			operation.members.front().text.action, actionWidth, shape(operation),
			shapeWidth, prof::timeText(operation.startNs),
			static_cast<uint64_t>(
				static_cast<double>(operation.endNs - operation.startNs) * 1e-9 *
					parameters.clockHz +
				0.5),
			operation.work.conv ? fmt::format("{:.1f}%", 100 * use) : "-",
			kilobytes(traffic.mc.total()), kilobytes(traffic.cv.total()),
			sim::boundName(operation.timing.bound));
	}
	const double seconds = static_cast<double>(prediction.durationNs) * 1e-9;
	text += fmt::format("{} on {}: {}", prediction.name, prediction.chip.text(),
			    prof::timeText(prediction.durationNs));
	if (prediction.durationNs)
		text += fmt::format(
			", {:.1f} runs/s, MAC use {:.1f}%, {} kB from and to DRAM, {} kB "
			"SRAM",
			1 / seconds, 100 * macs / (seconds * parameters.clockHz),
			kilobytes(all.mc.total()), kilobytes(all.cv.total()));
	text += '\n';
	if (prediction.cpuOperations)
		text += fmt::format("{} operations on the CPU are not in it\n",
				    prediction.cpuOperations);
	return text;
}

} /* namespace nvdla::chip */
