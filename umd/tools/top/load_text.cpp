/* SPDX-License-Identifier: MIT */
#include "load_text.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace nvdla::top
{

namespace
{

/** \brief Counters of the core that are shown as one: those that have both ends */
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

/* Both tables fit into the 80 columns of the smallest terminal. */
constexpr size_t numberWidth = 7;

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
	/* Nothing was counted, which is not the same as zero. */
	if (!any || !engine.counted() || seconds <= 0)
		return "-";
	return shortNumber(static_cast<double>(sum) / seconds);
}

std::string engineTable(const DeviceLoad &load, double seconds)
{
	std::string text = fmt::format("{:<5}{:>{}}{:>{}}{:>9}", "", "busy", numberWidth, "ops",
				       numberWidth, "all ops");
	for (const Column &column : columns)
		text += fmt::format("{:>{}}", column.title, widthOf(column));
	text += '\n';

	for (const EngineLoad &engine : load.engines) {
		const auto operations = static_cast<double>(valueOf(engine.interval, "operations"));
		const auto all = static_cast<double>(valueOf(engine.total, "operations"));
		text += fmt::format("{:<5}{}{:>{}}{:>9}", engine.name,
				    share(busyShare(engine, seconds)),
				    shortNumber(seconds > 0 ? operations / seconds : 0),
				    numberWidth, shortNumber(all));
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

} /* namespace */

std::string loadText(const Load &load)
{
	std::string text;

	for (const DeviceLoad &device : load.devices) {
		text += fmt::format("{} ({}), {:.1f} s; numbers are per second\n",
				    device.device.name, device.device.address, load.seconds);
		text += engineTable(device, load.seconds);
		if (!device.device.counting)
			text += fmt::format("Stalls and values are counted for jobs that ask; "
					    "for all: nvdla-top --enable,\n"
					    "or echo 1 > {}\n",
					    (device.device.counters / "enable").string());
		if (!device.processes.empty())
			text += "\n" + processTable(device, load.seconds);
		text += '\n';
	}
	if (!load.allProcesses)
		text += "Processes of other users are not shown; root sees them.\n";
	return text;
}

std::string screenText(std::string_view text, size_t rows, size_t columns)
{
	std::string shown = "\x1b[H";

	/* The last row stays free: a line's end there would move everything up. */
	for (size_t row = 1; row < rows && !text.empty(); row++) {
		const std::string_view line = text.substr(0, text.find('\n'));
		text.remove_prefix(std::min(line.size() + 1, text.size()));
		shown += "\x1b[K";
		shown += line.substr(0, columns);
		shown += '\n';
	}
	return shown + "\x1b[J";
}

} /* namespace nvdla::top */
