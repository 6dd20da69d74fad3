/* SPDX-License-Identifier: MIT */
#include "profile_table.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/core.h>

namespace nvdla::prof
{

namespace
{

using Counters = OperationReport;

struct Column {
	const char *title;
	uint64_t (*value)(const Counters &);
	bool always = false; /* shown even if all values are zero */
};

/* Stalls are in clock cycles of the core; the other columns count values. */
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

/* Returns the sum of a counter over the operations of a row; nothing if none was counted. */
std::optional<uint64_t> sumOf(const Profile &profile, const Row &row, const Column &column)
{
	std::optional<uint64_t> sum;

	for (size_t index : row.operations) {
		const OperationProfile &operation = profile.operations[index];
		if (operation.counted())
			sum = sum.value_or(0) + column.value(operation.counters);
	}
	return sum;
}

double shareOf(const Profile &profile, const Row &row)
{
	return profile.durationNs ? static_cast<double>(row.durationNs) /
					    static_cast<double>(profile.durationNs)
				  : 0.0;
}

std::string rowLine(const Profile &profile, const Row &row, const FirstColumns &first,
		    const std::vector<Column> &used)
{
	std::string line = first.of(row);

	line += fmt::format(" {:>12} {:>12} {:>6}", row.timed ? timeText(row.startNs) : "-",
			    row.timed ? timeText(row.durationNs) : "-",
			    row.timed ? fmt::format("{:.1f}%", 100 * shareOf(profile, row)) : "-");
	for (const Column &column : used) {
		const auto sum = sumOf(profile, row, column);
		line += fmt::format("{:>{}}", sum ? std::to_string(*sum) : "-", widthOf(column));
	}
	return line + "\n";
}

/* Returns the text of a CSV cell, quoted if it contains separators. */
std::string cell(const std::string &text)
{
	if (text.find_first_of(",\"\r\n") == std::string::npos)
		return text;
	std::string quoted = "\"";
	for (char letter : text)
		quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
	return quoted + '"';
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

std::string profileTable(const Profile &profile, const View &view)
{
	const std::vector<Column> used = usedColumns(profile);
	const std::vector<Row> rows = rowsOf(profile, view);
	const FirstColumns first(rows);

	std::string text =
		first.titles() + fmt::format(" {:>12} {:>12} {:>6}", "start", "time", "share");
	for (const Column &column : used)
		text += fmt::format("{:>{}}", column.title, widthOf(column));
	text += '\n';
	for (const Row &row : rows)
		text += rowLine(profile, row, first, used);

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

std::string profileCsv(const Profile &profile, const View &view)
{
	std::string text = "op,engine,layer,what,shape,types,start_ns,time_ns,share";

	for (const Column &column : columns)
		text += fmt::format(",{}", column.title);
	text += '\n';
	for (const Row &row : rowsOf(profile, view)) {
		text += fmt::format("{},{},{},{},{},{}", row.name, row.engines, cell(row.layer),
				    cell(row.action), cell(row.shape), cell(row.types));
		text += row.timed ? fmt::format(",{},{},{:.6f}", row.startNs, row.durationNs,
						shareOf(profile, row))
				  : ",,,";
		for (const Column &column : columns) {
			const auto sum = sumOf(profile, row, column);
			text += "," + (sum ? std::to_string(*sum) : std::string());
		}
		text += '\n';
	}
	return text;
}

} /* namespace nvdla::prof */
