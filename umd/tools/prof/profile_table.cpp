/* SPDX-License-Identifier: MIT */
#include "profile_table.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace nvdla::prof
{

namespace
{

using Counters = OperationReport;

struct Column {
	const char *title;
	uint64_t (*value)(const Counters &);
	bool always = false; /* zero says something, too: nothing stalled, nothing was lost */
};

/* Stalls are cycles of the core. */
constexpr std::array columns = {
	Column{ "read stall", [](const Counters &c) -> uint64_t { return c.readStall; }, true },
	Column{ "weight stall", [](const Counters &c) -> uint64_t { return c.weightReadStall; } },
	Column{ "operand stall",
		[](const Counters &c) -> uint64_t {
			return c.operandReadStall[0] + c.operandReadStall[1] +
			       c.operandReadStall[2];
		} },
	Column{ "write stall", [](const Counters &c) -> uint64_t { return c.writeStall; }, true },
	Column{ "saturated", [](const Counters &c) -> uint64_t { return c.saturation; }, true },
	Column{ "NaN in",
		[](const Counters &c) -> uint64_t {
			return uint64_t{ c.nanInput } + c.nanWeight;
		} },
	Column{ "inf in",
		[](const Counters &c) -> uint64_t {
			return uint64_t{ c.infInput } + c.infWeight;
		} },
	Column{ "NaN out", [](const Counters &c) -> uint64_t { return c.nanOutput; }, true },
	Column{ "LUT under", [](const Counters &c) -> uint64_t { return c.lut.underflow; } },
	Column{ "LUT over", [](const Counters &c) -> uint64_t { return c.lut.overflow; } },
};

std::vector<Column> usedColumns(const Profile &profile)
{
	std::vector<Column> used;

	for (const Column &column : columns) {
		const bool any = std::any_of(profile.operations.begin(), profile.operations.end(),
					     [&](const OperationProfile &operation) {
						     return operation.counted() &&
							    (column.always ||
							     column.value(operation.counters));
					     });
		if (any)
			used.push_back(column);
	}
	return used;
}

size_t widthOf(const Column &column)
{
	return std::max<size_t>(std::string_view(column.title).size(), 9) + 2;
}

std::string operationLine(const OperationProfile &operation, uint64_t total, size_t actionWidth,
			  const std::vector<Column> &used)
{
	const double share = total ? 100.0 * static_cast<double>(operation.durationNs()) /
					     static_cast<double>(total)
				   : 0.0;
	std::string line = fmt::format("{:>7} {:<7} {:<{}} {:>12} {:>12} {:>6}",
				       fmt::format("{}.{}", operation.task, operation.index),
				       operation.text.engine, operation.text.action, actionWidth,
				       operation.timed ? timeText(operation.startNs) : "-",
				       operation.timed ? timeText(operation.durationNs()) : "-",
				       operation.timed ? fmt::format("{:.1f}%", share) : "-");

	for (const Column &column : used)
		line += fmt::format("{:>{}}",
				    operation.counted()
					    ? fmt::format("{}", column.value(operation.counters))
					    : "-",
				    widthOf(column));
	return line + "\n";
}

} /* namespace */

std::string timeText(uint64_t ns)
{
	const auto value = static_cast<double>(ns);

	if (ns < 1000)
		return fmt::format("{} ns", ns);
	if (ns < 1000000)
		return fmt::format("{:.3f} us", value / 1e3);
	if (ns < 1000000000)
		return fmt::format("{:.3f} ms", value / 1e6);
	return fmt::format("{:.3f} s", value / 1e9);
}

std::string profileTable(const Profile &profile)
{
	const std::vector<Column> used = usedColumns(profile);
	size_t actionWidth = 10;

	for (const OperationProfile &operation : profile.operations)
		actionWidth = std::max(actionWidth, operation.text.action.size());

	std::string text = fmt::format("{:>7} {:<7} {:<{}} {:>12} {:>12} {:>6}", "op", "engine",
				       "what", actionWidth, "start", "time", "share");
	for (const Column &column : used)
		text += fmt::format("{:>{}}", column.title, widthOf(column));
	text += '\n';
	for (const OperationProfile &operation : profile.operations)
		text += operationLine(operation, profile.durationNs, actionWidth, used);

	text += fmt::format("{}: {}", profile.name, timeText(profile.durationNs));
	for (const Lane &lane : lanes(profile)) {
		if (lane.row == 0 && profile.durationNs)
			text += fmt::format(
				", {} busy {:.1f}%", lane.engine,
				100.0 * static_cast<double>(busyNs(profile, lane.engine)) /
					static_cast<double>(profile.durationNs));
	}
	return text + "\n";
}

} /* namespace nvdla::prof */
