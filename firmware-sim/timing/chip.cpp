/* SPDX-License-Identifier: MIT */
#include "timing/chip.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>

namespace nvdla::sim
{

namespace
{

struct Unit {
	std::string_view name;
	double factor;
};

/** A kind of quantity, such as a bandwidth, with its units and limits */
struct Quantity {
	const char *name;
	const char *forms; /* valid forms, for error messages */
	std::span<const Unit> units;
	double least;
	double most;
};

constexpr Unit frequencies[] = { { "GHz", 1e9 }, { "MHz", 1e6 }, { "kHz", 1e3 }, { "Hz", 1 } };
constexpr Unit bandwidths[] = { { "GB/s", 1e9 }, { "MB/s", 1e6 }, { "kB/s", 1e3 }, { "B/s", 1 } };
constexpr Unit times[] = { { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 } };

constexpr Quantity frequency = { "a frequency", "GHz, MHz, kHz or Hz, as in 800MHz", frequencies,
				 1e3, 1e11 };
constexpr Quantity bandwidth = { "a bandwidth", "GB/s, MB/s, kB/s or B/s, as in 10GB/s", bandwidths,
				 1e3, 1e13 };
constexpr Quantity duration = { "a time", "ns, us, ms or s, as in 100ns", times, 0, 1 };

std::string parse(const Quantity &quantity, const std::string &text, double &value)
{
	double number = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));

	for (const Unit &known : quantity.units) {
		if (error != std::errc() || unit != known.name)
			continue;
		const double given = number * known.factor;
		if (!(given >= quantity.least && given <= quantity.most))
			return "\"" + text + "\" is too " +
			       (given > quantity.most ? "large" : "small");
		value = given;
		return "";
	}
	return "\"" + text + "\" is not " + quantity.name + ": a number and " + quantity.forms;
}

template<double Chip::*member, const Quantity &quantity>
std::string set(Chip &chip, const std::string &value)
{
	return parse(quantity, value, chip.*member);
}

constexpr ChipOption options[] = {
	{ "clock", "FREQUENCY", "clock of the NVDLA, such as 800MHz; default 1GHz", true,
	  set<&Chip::clock, frequency> },
	{ "dram", "BANDWIDTH",
	  "bandwidth of system memory, reads and writes together, such as 2.5GB/s; default 10GB/s",
	  true, set<&Chip::dram, bandwidth> },
	{ "dram-latency", "TIME",
	  "time from a request to read system memory until the data arrive; default 100ns", true,
	  set<&Chip::dramLatency, duration> },
	{ "sram", "BANDWIDTH", "bandwidth of on-chip memory in each direction; default 25GB/s",
	  true, set<&Chip::sram, bandwidth> },
	{ "sram-latency", "TIME",
	  "time from a request to read on-chip memory until the data arrive; default 20ns", true,
	  set<&Chip::sramLatency, duration> },
	{ "interrupt-gap", "TIME",
	  "time for the interrupt and the driver, from the end of an operation to the start of an "
	  "operation that waits for it; default 0ns",
	  false, set<&Chip::interruptGap, duration> },
};

/* \return a text like "2.5 GB/s", in the largest unit in which the value is at least 1 */
std::string written(double value, std::span<const Unit> units)
{
	for (const Unit &unit : units) {
		if (value < unit.factor && &unit != &units.back())
			continue;
		char digits[32];
		const auto end = std::to_chars(digits, std::end(digits),
					       std::round(value / unit.factor * 1e3) / 1e3)
					 .ptr;
		return std::string(digits, end) + " " + std::string(unit.name);
	}
	return "";
}

std::string writtenTime(double seconds)
{
	return seconds < 1e-6 ? written(seconds, std::span(times).first(1))
			      : written(seconds, std::span(times).subspan(1, 1));
}

} /* namespace */

TimingParameters Chip::parameters() const
{
	const auto memory = [this](double each, double both, double latency) {
		return MemoryTiming{ .bytesPerCycle = each / clock,
				     .sharedBytesPerCycle = both / clock,
				     .latency = static_cast<uint32_t>(
					     std::min(std::round(latency * clock), 4e9)) };
	};

	return { .mc = memory(dram, dram, dramLatency),
		 .cv = memory(sram, 2 * sram, sramLatency),
		 .clockHz = clock,
		 .interruptCycles = static_cast<uint64_t>(std::llround(interruptGap * clock)) };
}

std::string Chip::text() const
{
	std::string text = written(clock, frequencies) + ", DRAM " + written(dram, bandwidths) +
			   " after " + writtenTime(dramLatency) + ", SRAM " +
			   written(sram, bandwidths) + " after " + writtenTime(sramLatency);

	if (interruptGap > 0)
		text += ", " + writtenTime(interruptGap) + " for an interrupt";
	return text;
}

std::span<const ChipOption> chipOptions()
{
	return options;
}

const ChipOption *findChipOption(std::string_view name)
{
	const auto *found = std::ranges::find(options, name, &ChipOption::name);

	return found == std::end(options) ? nullptr : found;
}

} /* namespace nvdla::sim */
