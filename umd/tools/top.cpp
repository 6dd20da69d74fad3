/* SPDX-License-Identifier: MIT */
/*
 * nvdla-top: shows the load of devices, and the processes that cause it.
 */
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "command-line/command_line.h"
#include "program.h"
#include "tools/top/load_json.h"
#include "tools/top/load_text.h"
#include "tools/top/order.h"
#include "tools/top/watch.h"

namespace
{

using namespace nvdla;

struct Settings {
	top::Selection selection;
	double interval = 1;
	std::string order = "busy";
	bool enable = false;
	bool json = false;
	bool once = false;
};

bool isColoured()
{
	const char *no = std::getenv("NO_COLOR"), *kind = std::getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no && *no) && !(kind && !std::strcmp(kind, "dumb"));
}

std::string formatted(const Settings &settings, top::Load load)
{
	const bool bars = isatty(STDOUT_FILENO);

	top::sortProcesses(load, top::orderNamed(settings.order));
	if (settings.json)
		return top::loadJson(load).dump() + "\n";
	return top::loadText(load, { .bars = bars, .colour = isColoured() });
}

Result<void> print(const std::string &text)
{
	if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout))
		return fail(ErrorCode::Io, "write", "standard output", std::strerror(errno));
	return {};
}

/* Prints each view below the previous one. */
Result<void> list(const Settings &settings, top::Snapshot before)
{
	do {
		std::this_thread::sleep_for(std::chrono::duration<double>(settings.interval));
		auto now = top::takeSnapshot(settings.selection);
		if (!now)
			return forward(now);
		if (auto done = print(formatted(settings, top::loadBetween(before, *now))); !done)
			return done;
		before = std::move(*now);
	} while (!settings.once);
	return {};
}

/* Shows each view in place of the previous one. If a signal ends the display, the terminal is
 * restored first and the signal raised again, so that it ends the program in its usual way. */
Result<void> watch(const Settings &settings, top::Snapshot before)
{
	const top::View view{ .interval = std::chrono::duration<double>(settings.interval),
			      .order = top::orderNamed(settings.order),
			      .colour = isColoured() };
	Result<void> done;
	int signal;

	{
		top::Terminal terminal(isatty(STDIN_FILENO) ? STDIN_FILENO : -1, STDOUT_FILENO);
		done = top::watch(settings.selection, std::move(before), view, terminal);
		signal = terminal.signal();
	}
	if (signal)
		std::raise(signal);
	return done;
}

Result<void> run(const Settings &settings)
{
	auto before = top::takeSnapshot(settings.selection);
	if (!before)
		return forward(before);
	if (settings.enable) {
		if (auto done = top::enableCounters(before->devices); !done)
			return done;
	}
	if (settings.once || settings.json || !isatty(STDOUT_FILENO))
		return list(settings, std::move(*before));
	return watch(settings, std::move(*before));
}

} /* namespace */

int main(int argc, char **argv)
{
	return tools::runProgram("nvdla-top", [&]() -> Result<int> {
		CommandLine app{
			"Shows repeatedly how busy the engines (units) of this machine's NVDLAs "
			"(hardware accelerators) are, and for which processes. Only root may run "
			"nvdla-top.\n"
			"Columns of an engine: busy: the share of the interval in which the engine "
			"had an operation to compute. The other columns are numbers per second: "
			"ops: operations. rd stall, wr stall: cycles in which the engine waited to "
			"read or write memory. saturated: results that the engine clipped to its "
			"range of numbers. NaN: NaNs that the engine read or computed. inf: "
			"infinities that the engine read. LUT miss: values outside look-up "
			"tables. A dash: the device counted nothing in the interval, see "
			"--enable.\n"
			"Columns of a process: the memory of its buffers, and for each engine the "
			"share of the interval in which the engine worked for the process.\n"
			"Keys: q quits; b, m, n and p sort the processes by busy share, memory, "
			"name and PID; s changes to the next of these orders.",
			"nvdla-top", "nvdla-top --device accel0 --interval 0.5"
		};
		Settings settings;

		app.footer(tools::exitCodeHelpOfViewer);
		app.option("--device", settings.selection.device,
			   "show only this device, given as accel0, as /dev/accel/accel0 or by its "
			   "bus address (0000:00:04.0); default: all devices")
			.valueText("DEVICE");
		app.option("--interval", settings.interval, "time from one view to the next")
			.valueText("SECONDS")
			.range(0.1, 3600.0)
			.showDefault();
		app.option("--sort", settings.order,
			   "order of the processes of a device: by busy share (the sum over all "
			   "engines), memory, command name or PID")
			.oneOf(top::orderNames())
			.showDefault();
		app.flag("--once", settings.once,
			 "exit after the first view, which comes after one interval");
		app.flag("--json", settings.json, "print each view as a JSON object on one line");
		app.flag("--enable", settings.enable,
			 "let the devices count for all jobs (submissions to the driver) what the "
			 "columns after ops show; otherwise a device counts only for jobs whose "
			 "program asked for it. The devices go on counting when nvdla-top "
			 "has ended, until root writes 0 to "
			 "/sys/class/accel/accelN/device/counters/enable");
		if (const auto code = app.parse(argc, argv))
			return *code;

		return tools::finished(run(settings));
	});
}
