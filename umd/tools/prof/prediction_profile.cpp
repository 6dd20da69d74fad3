/* SPDX-License-Identifier: MIT */
#include "tools/prof/prediction_profile.h"

#include <algorithm>
#include <functional>
#include <map>

namespace nvdla::chip
{

namespace
{

/*
 * Returns the utilisation of a resource over time: the sum of the shares of all operations that run
 * at the same time.
 *
 * \a share returns an operation's share of the resource while the operation runs, 0 to 1.
 */
prof::Gauge gaugeOf(const Prediction &prediction, const char *name,
		    const std::function<double(const PredictedOperation &)> &share)
{
	std::map<uint64_t, double> changes;
	prof::Gauge gauge = { .name = name };
	double now = 0;

	for (const PredictedOperation &operation : prediction.operations) {
		changes[operation.startNs] += share(operation);
		changes[operation.endNs] -= share(operation);
	}
	for (const auto &[time, change] : changes) {
		now += change;
		gauge.steps.push_back({ time, std::clamp(now, 0.0, 1.0) });
	}
	return gauge;
}

/* Returns \a cycles (of the core's clock) divided by the operation's duration: 0 to 1. */
double shareOf(const PredictedOperation &operation, double cycles, double clockHz)
{
	const double seconds = static_cast<double>(operation.endNs - operation.startNs) * 1e-9;

	return seconds > 0 ? cycles / (seconds * clockHz) : 0;
}

std::vector<prof::Gauge> gaugesOf(const Prediction &prediction)
{
	const sim::TimingParameters parameters = prediction.chip.parameters();
	const auto memory = [&](sim::RamType ram) {
		return [&, ram](const PredictedOperation &operation) {
			const sim::Traffic traffic = operation.work.traffic().of(ram);
			return shareOf(operation, parameters.of(ram).cycles(traffic),
				       parameters.clockHz);
		};
	};
	std::vector<prof::Gauge> gauges = {
		gaugeOf(prediction, "MACs",
			[&](const PredictedOperation &operation) {
				return operation.macUse(parameters);
			}),
		gaugeOf(prediction, "DRAM", memory(sim::RamType::Mc)),
		gaugeOf(prediction, "SRAM", memory(sim::RamType::Cv)),
	};

	std::erase_if(gauges, [&](const prof::Gauge &gauge) {
		return gauge.mean(prediction.durationNs) <= 0;
	});
	return gauges;
}

} /* namespace */

prof::Profile predictionProfile(const Prediction &prediction)
{
	prof::Profile profile;

	profile.name = prediction.name + " on " + prediction.chip.text();
	profile.durationNs = prediction.durationNs;
	for (const PredictedOperation &operation : prediction.operations) {
		for (const PredictedOperation::Member &member : operation.members) {
			prof::OperationProfile shown;
			shown.task = operation.task;
			shown.index = member.index;
			shown.text = member.text;
			shown.startNs = operation.startNs;
			shown.endNs = operation.endNs;
			shown.timed = true;
			if (&member != &operation.members.front())
				shown.takesFrom = profile.operations.size() - 1;
			profile.operations.push_back(std::move(shown));
		}
	}
	profile.gauges = gaugesOf(prediction);
	return profile;
}

} /* namespace nvdla::chip */
