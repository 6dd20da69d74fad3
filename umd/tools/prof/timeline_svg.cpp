/* SPDX-License-Identifier: MIT */
#include "timeline_svg.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/core.h>

#include "loadable/inspect/colours.h"
#include "loadable/inspect/svg.h"
#include "profile_table.h"
#include "time_axis.h"

namespace nvdla::prof
{

namespace
{

using inspect::Svg;

constexpr double plotWidth = 1200.0;
constexpr double left = 150.0;
constexpr double margin = 24.0;
constexpr double top = 78.0;
constexpr double laneHeight = 34.0;
constexpr double barHeight = 26.0;
constexpr double letterWidth = 6.4;
constexpr double tickEvery = 110.0; /* least distance between ticks, in pixels */

constexpr std::string_view style = ".paper{fill:#ffffff}\n"
				   "text{font-family:'DejaVu Sans','Helvetica "
				   "Neue',Arial,sans-serif;font-size:11px;fill:#222}\n"
				   ".title{font-size:15px;font-weight:bold}\n"
				   ".engine{font-size:12px;font-weight:bold}\n"
				   ".small{fill:#666}\n"
				   ".middle{text-anchor:middle}\n"
				   ".bar{stroke:#444;stroke-width:0.6}\n"
				   ".gauge{fill:#ee8866}\n"
				   ".grid{stroke:#ddd;stroke-width:1}\n"
				   ".stripe{fill:#f7f7f7}\n"
				   ".cut{fill:#ffffff;stroke:#bbb;stroke-dasharray:4 4}\n";

/* Shortens a text to a bar of \a width pixels; empty if the bar has no room for text. */
std::string fitting(const std::string &text, double width)
{
	const auto letters = static_cast<size_t>(std::max(0.0, (width - 8) / letterWidth));

	if (text.size() <= letters)
		return text;
	return letters < 5 ? "" : text.substr(0, letters - 2) + "..";
}

class Timeline
{
public:
	explicit Timeline(const Profile &profile)
		: profile_(profile), axis_(profile, left, plotWidth), lanes_(lanes(profile)),
		  bottom_(laneTop(lanes_.size() + profile.gauges.size())),
		  svg_(left + plotWidth + margin, bottom_ + margin + 12,
		       std::string(style) + inspect::engineColours)
	{
	}

	std::string draw()
	{
		svg_.text(margin, margin + 8, "title", profile_.name);
		svg_.text(margin, margin + 26, "small",
			  fmt::format("{} operations in {}", profile_.operations.size(),
				      timeText(profile_.durationNs)));
		for (size_t i = 1; i < lanes_.size() + profile_.gauges.size(); i += 2)
			svg_.rectangle(left, laneTop(i), plotWidth, laneHeight, 0, "stripe");
		for (const TimeAxis::Part &part : axis_.parts())
			drawTicks(part);
		for (size_t i = 0; i < lanes_.size(); i++)
			drawLane(i);
		for (size_t i = 0; i < profile_.gauges.size(); i++)
			drawGauge(profile_.gauges[i], laneTop(lanes_.size() + i));
		for (const TimeAxis::Part &part : axis_.parts())
			drawCut(part);
		return svg_.finish();
	}

private:
	static double laneTop(size_t lane) { return top + laneHeight * static_cast<double>(lane); }

	double at(uint64_t ns) const { return axis_.at(ns); }

	void drawTicks(const TimeAxis::Part &part)
	{
		const uint64_t step = axis_.tickNs(tickEvery);
		if (part.isCut)
			return;
		for (uint64_t ns = (part.startNs + step - 1) / step * step; ns <= part.endNs;
		     ns += step) {
			svg_.line(at(ns), top, at(ns), bottom_, "grid");
			svg_.text(at(ns), top - 6, "small middle", tickText(ns, step));
		}
	}

	/* Draws a cut, a part of the time axis that is not to scale, over all rows: no operation
	 * runs in its time. */
	void drawCut(const TimeAxis::Part &part)
	{
		if (!part.isCut)
			return;
		svg_.rectangle(part.left, top, part.width, bottom_ - top, 0, "cut");
		svg_.text(part.left + part.width / 2, (top + bottom_) / 2 - 4, "small middle",
			  timeText(part.endNs - part.startNs));
		svg_.text(part.left + part.width / 2, (top + bottom_) / 2 + 10, "small middle",
			  "no operation");
	}

	static std::string tickText(uint64_t ns, uint64_t step)
	{
		const char *unit = step < 1000 ? "ns" : step < 1000000 ? "us" : "ms";
		const double scale = step < 1000 ? 1.0 : step < 1000000 ? 1e3 : 1e6;
		return fmt::format("{:g} {}", static_cast<double>(ns) / scale, unit);
	}

	void drawLane(size_t index)
	{
		const Lane &lane = lanes_[index];
		const double y = laneTop(index);

		if (lane.row == 0) {
			const double share =
				static_cast<double>(busyNs(profile_, lane.engine)) /
				static_cast<double>(std::max<uint64_t>(profile_.durationNs, 1));
			svg_.text(margin, y + 15, "engine", lane.engine);
			svg_.text(margin, y + 28, "small",
				  fmt::format("busy {:.1f}%", 100.0 * share));
		}
		for (size_t operation : lane.operations)
			drawBar(profile_.operations[operation], y + (laneHeight - barHeight) / 2);
	}

	/* Draws utilisation over time as bars, whose height is the share in use. */
	void drawGauge(const Gauge &gauge, double y)
	{
		constexpr double least = 0.001;
		const double floor = y + (laneHeight + barHeight) / 2;

		svg_.text(margin, y + 15, "engine", gauge.name);
		svg_.text(margin, y + 28, "small",
			  fmt::format("used {:.1f}%", 100 * gauge.mean(profile_.durationNs)));
		for (size_t i = 0; i < gauge.steps.size(); i++) {
			const Gauge::Step &step = gauge.steps[i];
			const uint64_t end = i + 1 < gauge.steps.size() ? gauge.steps[i + 1].startNs
									: profile_.durationNs;
			const double height = barHeight * std::min(1.0, step.share);
			if (step.share < least || end <= step.startNs)
				continue;
			svg_.rectangle(at(step.startNs), floor - height, at(end) - at(step.startNs),
				       height, 0, "gauge",
				       fmt::format("{} {:.1f}%", gauge.name, 100 * step.share));
		}
	}

	void drawBar(const OperationProfile &operation, double y)
	{
		constexpr double thinnest = 1.0;
		const double x = at(operation.startNs);
		const double width = std::max(thinnest, at(operation.endNs) - x);
		const std::string label = fitting(operation.text.action, width);

		std::string title = fmt::format(
			"{}.{} {} {}\n{} {}\n{}", operation.task, operation.index,
			operation.text.engine, operation.text.action, operation.text.shape,
			operation.text.types, timeText(operation.durationNs()));
		if (!operation.text.layer.empty())
			title = operation.text.layer + '\n' + title;
		svg_.beginMark("data-op", fmt::format("{}.{}", operation.task, operation.index));
		svg_.rectangle(x, y, width, barHeight, std::min(3.0, width / 3),
			       "bar " + operation.text.engine, title);
		if (!label.empty())
			svg_.text(x + width / 2, y + barHeight / 2 + 4, "middle", label);
		svg_.endMark();
	}

	const Profile &profile_;
	TimeAxis axis_;
	std::vector<Lane> lanes_;
	double bottom_;
	Svg svg_;
};

} /* namespace */

std::string timelineSvg(const Profile &profile)
{
	return Timeline(profile).draw();
}

} /* namespace nvdla::prof */
