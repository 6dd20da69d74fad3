/* SPDX-License-Identifier: MIT */
#include "load_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

namespace nvdla::top
{

namespace
{

/** \brief A column: the sum of the counters whose names begin with \a start and end with \a end */
struct Column {
	std::string_view title;
	std::string_view start;
	std::string_view end;
};

constexpr std::array columns = {
	Column{ "rd stall", "", "read_stall_cycles" },
	Column{ "wr stall", "", "write_stall_cycles" },
	Column{ "saturated", "saturation", "" },
	Column{ "NaN", "nan_", "" },
	Column{ "inf", "inf_", "" },
	Column{ "LUT miss", "lut_", "flow" },
};

/* Widths in characters. A terminal of 80 characters has room for bars of eight. */
constexpr size_t numberWidth = 7;
constexpr size_t tableWidth = 70; /* without bars */
constexpr size_t leastBar = 4;	  /* with less room there are no bars */
constexpr size_t mostBar = 40;

size_t widthOf(const Column &column)
{
	return std::max(column.title.size() + 1, numberWidth);
}

/** \return "4711", "47.11k", "4.711M": at most 6 characters */
std::string shortNumber(double value)
{
	constexpr std::array units = { "", "k", "M", "G", "T" };
	size_t unit = 0;

	if (value < 10000)
		return fmt::format("{:.0f}", value);
	while (value >= 1000 && unit + 1 < units.size()) {
		value /= 1000;
		unit++;
	}
	return fmt::format("{:.4g}{}", value, units[unit]);
}

std::string share(double value)
{
	return fmt::format("{:>{}}", fmt::format("{:.1f}%", 100 * value), numberWidth);
}

std::string cell(const Column &column, const EngineLoad &engine, double seconds)
{
	uint64_t sum = 0;
	bool any = false;

	for (const auto &[name, value] : engine.interval) {
		if (name.starts_with(column.start) && name.ends_with(column.end)) {
			sum += value;
			any = true;
		}
	}
	/* "-", because 0 would be wrong: the engine has no such counter, or did not count in the
	 * interval. */
	if (!any || !engine.counted() || seconds <= 0)
		return "-";
	return shortNumber(static_cast<double>(sum) / seconds);
}

/** \return the width of a bar; 0 for no bar */
size_t barWidth(const Look &look)
{
	/* The last column stays free: some terminals wrap after a character there. */
	const size_t room = look.columns - std::min(look.columns, tableWidth + 2);

	return look.bars && room >= leastBar ? std::min(room, mostBar) : 0;
}

/* Returns the control sequence for green (a low share), yellow (high) or red (very high). */
std::string_view colourOf(double share)
{
	return share < 0.6 ? "\x1b[32m" : share < 0.9 ? "\x1b[33m" : "\x1b[31m";
}

/** \return a space and a bar of barWidth() characters, filled up to \a share; empty if there is no
 * room */
std::string bar(double share, const Look &look)
{
	const size_t width = barWidth(look);
	if (!width)
		return "";
	const auto length = static_cast<size_t>(std::lround(share * static_cast<double>(width)));
	const std::string filled(length, '|'), rest(width - length, ' ');

	if (!look.colour || !length)
		return " " + filled + rest;
	return fmt::format(" {}{}\x1b[0m{}", colourOf(share), filled, rest);
}

std::string engineTable(const DeviceLoad &load, double seconds, const Look &look)
{
	std::string text = fmt::format("{:<5}{:>{}}{}{:>{}}", "", "busy", numberWidth, bar(0, look),
				       "ops", numberWidth);
	for (const Column &column : columns)
		text += fmt::format("{:>{}}", column.title, widthOf(column));
	text += '\n';

	for (const EngineLoad &engine : load.engines) {
		const auto operations = static_cast<double>(valueOf(engine.interval, "operations"));
		const double busy = busyShare(engine, seconds);
		text += fmt::format("{:<5}{}{}{:>{}}", engine.name, share(busy), bar(busy, look),
				    shortNumber(seconds > 0 ? operations / seconds : 0),
				    numberWidth);
		for (const Column &column : columns)
			text += fmt::format("{:>{}}", cell(column, engine, seconds),
					    widthOf(column));
		text += '\n';
	}
	return text;
}

std::string processTable(const DeviceLoad &load, double seconds)
{
	std::string text = fmt::format("{:>7} {:<15}{:>11}", "PID", "command", "memory");
	for (const EngineLoad &engine : load.engines)
		text += fmt::format("{:>{}}", engine.name, numberWidth);
	text += '\n';

	for (const ProcessLoad &process : load.processes) {
		const double mib = static_cast<double>(process.totalBytes) / (1 << 20);
		text += fmt::format("{:>7} {:<15}{:>11}", process.pid, process.command,
				    fmt::format("{:.1f} MiB", mib));
		for (const EngineLoad &engine : load.engines)
			text += share(
				busyShare(valueOf(process.intervalBusyNs, engine.name), seconds));
		text += '\n';
	}
	return text;
}

/** \return the operations of all engines since the driver was bound or the counters were reset */
double allOperations(const DeviceLoad &load)
{
	uint64_t sum = 0;

	for (const EngineLoad &engine : load.engines)
		sum += valueOf(engine.total, "operations");
	return static_cast<double>(sum);
}

} /* namespace */

std::string loadText(const Load &load, const Look &look)
{
	std::string text;

	for (const DeviceLoad &device : load.devices) {
		text += fmt::format("{} ({}): {} operations in total; last {:.1f} s, per second:\n",
				    device.device.name, device.device.address,
				    shortNumber(allOperations(device)), load.seconds);
		text += engineTable(device, load.seconds, look);
		if (!device.device.counting)
			text += fmt::format("Columns after ops count only jobs whose program "
					    "asked; for all jobs:\n"
					    "nvdla-top --enable, or echo 1 > {}\n",
					    (device.device.counters / "enable").string());
		if (!device.processes.empty())
			text += "\n" + processTable(device, load.seconds);
		text += '\n';
	}
	if (!load.allProcesses)
		text += "Processes of other users are not shown; root sees them.\n";
	return text;
}

} /* namespace nvdla::top */
