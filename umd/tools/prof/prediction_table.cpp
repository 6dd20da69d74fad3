/* SPDX-License-Identifier: MIT */
#include "tools/prof/prediction_table.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "tools/prof/prediction_profile.h"
#include "tools/prof/profile_table.h"

namespace nvdla::chip
{

namespace
{

using Operations = std::set<const PredictedOperation *>;

/* Returns the prediction for each operation of predictionProfile(), in the same order. Fused
 * operations share one prediction. */
std::vector<const PredictedOperation *> predictionsOf(const Prediction &prediction)
{
	std::vector<const PredictedOperation *> all;

	for (const PredictedOperation &operation : prediction.operations)
		all.insert(all.end(), operation.members.size(), &operation);
	return all;
}

/* Returns the utilisation of the multipliers over \a cycles, in percent; "-" if none of the
 * operations is a convolution. */
std::string macUseOf(const Operations &operations, double cycles)
{
	double busy = 0;
	bool convolutions = false;

	for (const PredictedOperation *operation : operations) {
		if (!operation->work.conv)
			continue;
		convolutions = true;
		busy += static_cast<double>(operation->macs()) /
			static_cast<double>(operation->work.conv->multipliers());
	}
	return convolutions && cycles > 0 ? fmt::format("{:.1f}%", 100 * busy / cycles) : "-";
}

/* Returns the unit or memory that limits the speed of the longest operation. */
const char *boundOf(const Operations &operations)
{
	const PredictedOperation *longest =
		*std::ranges::max_element(operations, {}, [](const PredictedOperation *operation) {
			return operation->endNs - operation->startNs;
		});

	return sim::boundName(longest->timing.bound);
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
		text += "1 operation on the CPU is not included\n";
	else if (prediction.cpuOperations)
		text += fmt::format("{} operations on the CPU are not included\n",
				    prediction.cpuOperations);
	return text;
}

std::string predictionTable(const Prediction &prediction, const prof::View &view)
{
	const prof::Profile profile = predictionProfile(prediction);
	const std::vector<const PredictedOperation *> predictions = predictionsOf(prediction);
	const std::vector<prof::Row> rows = prof::rowsOf(profile, view);
	const double clockHz = prediction.chip.parameters().clockHz;
	prof::FirstColumns first(rows);
	size_t shapeWidth = 5;

	for (const prof::Row &row : rows)
		shapeWidth = std::max(shapeWidth, row.shape.size());
	std::string text = fmt::format("{} {:<{}} {:>12} {:>10} {:>7} {:>10} {:>10}  {}\n",
				       first.titles(), "shape", shapeWidth, "start", "cycles",
				       "MAC use", "DRAM kB", "SRAM kB", "bound");
	for (const prof::Row &row : rows) {
		const double cycles = static_cast<double>(row.durationNs) * 1e-9 * clockHz;
		Operations operations;
		sim::MemoryTraffic traffic;
		for (size_t index : row.operations)
			operations.insert(predictions[index]);
		for (const PredictedOperation *operation : operations)
			traffic += operation->work.traffic();
		text += fmt::format("{} {:<{}} {:>12} {:>10.0f} {:>7} {:>10} {:>10}  {}\n",
				    first.of(row), row.shape, shapeWidth,
				    prof::timeText(row.startNs), cycles,
				    macUseOf(operations, cycles), kilobytes(traffic.mc.total()),
				    kilobytes(traffic.cv.total()), boundOf(operations));
	}
	return text + predictionSummary(prediction);
}

} /* namespace nvdla::chip */
