/* SPDX-License-Identifier: MIT */
#include "time_axis.h"

#include <algorithm>
#include <utility>

namespace nvdla::prof
{

namespace
{

/* Idle times of at least longShare of the run are cut out of the axis, if they add up to at least
 * muchShare of the run. */
constexpr double longShare = 0.1;
constexpr double muchShare = 0.3;
constexpr double cutWidth = 90.0;

using Times = std::vector<std::pair<uint64_t, uint64_t>>;

/* Returns the periods of at least \a shortest ns in which no operation runs. */
Times idleTimes(const Profile &profile, uint64_t shortest)
{
	Times busy;
	for (const OperationProfile &operation : profile.operations)
		if (operation.timed)
			busy.emplace_back(operation.startNs, operation.endNs);
	std::sort(busy.begin(), busy.end());
	busy.emplace_back(profile.durationNs, profile.durationNs);

	Times idle;
	uint64_t end = 0;
	for (const auto &[startNs, endNs] : busy) {
		if (startNs >= end + shortest)
			idle.emplace_back(end, startNs);
		end = std::max(end, endNs);
	}
	return idle;
}

uint64_t sum(const Times &times)
{
	uint64_t ns = 0;
	for (const auto &[start, end] : times)
		ns += end - start;
	return ns;
}

} /* namespace */

TimeAxis::TimeAxis(const Profile &profile, double left, double width)
{
	const uint64_t duration = std::max<uint64_t>(profile.durationNs, 1);
	const auto share = [duration](double of) {
		return std::max<uint64_t>(
			1, static_cast<uint64_t>(of * static_cast<double>(duration)));
	};
	Times cuts;
	/* Without timed operations, the whole run would be one idle time and be cut out. */
	if (std::any_of(profile.operations.begin(), profile.operations.end(),
			[](const OperationProfile &operation) { return operation.timed; }))
		cuts = idleTimes(profile, share(longShare));
	if (sum(cuts) < share(muchShare))
		cuts.clear();
	const double plain = width - cutWidth * static_cast<double>(cuts.size());
	nsPerPixel_ = static_cast<double>(duration - std::min(sum(cuts), duration - 1)) / plain;

	const auto add = [this, &left](uint64_t start, uint64_t end, bool isCut) {
		const double pixels =
			isCut ? cutWidth : static_cast<double>(end - start) / nsPerPixel_;
		if (end > start)
			parts_.push_back({ start, end, isCut, left, pixels });
		left += end > start ? pixels : 0;
	};
	uint64_t end = 0;
	for (const auto &[start, next] : cuts) {
		add(end, start, false);
		add(start, next, true);
		end = next;
	}
	add(end, duration, false);
}

double TimeAxis::at(uint64_t ns) const
{
	const auto after = std::find_if(parts_.begin(), parts_.end(),
					[ns](const Part &part) { return ns <= part.endNs; });
	const Part &part = after == parts_.end() ? parts_.back() : *after;
	const double share = static_cast<double>(ns - std::min(ns, part.startNs)) /
			     static_cast<double>(part.endNs - part.startNs);
	return part.left + part.width * share;
}

uint64_t TimeAxis::tickNs(double pixels) const
{
	const double wanted = nsPerPixel_ * pixels;
	for (uint64_t decade = 1;; decade *= 10)
		for (const uint64_t factor : { 1, 2, 5 })
			if (static_cast<double>(decade * factor) >= wanted)
				return decade * factor;
}

} /* namespace nvdla::prof */
