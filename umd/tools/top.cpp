/* SPDX-License-Identifier: MIT */
/*
 * nvdla-top: what the devices do now, and for whom.
 */
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command-line/command_line.h"
#include "program.h"
#include "tools/top/load_json.h"
#include "tools/top/load_text.h"

namespace
{

using namespace nvdla;

struct Settings {
	top::Selection selection;
	double interval = 1;
	bool enable = false;
	bool json = false;
	bool once = false;
};

std::string formatted(const Settings &settings, const top::Load &load)
{
	winsize size = {};

	if (settings.json)
		return top::loadJson(load).dump() + "\n";
	const std::string text = top::loadText(load);
	if (!settings.once && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row)
		return top::screenText(text, size.ws_row, size.ws_col);
	return text;
}

Result<void> print(const std::string &text)
{
	if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout))
		return fail(ErrorCode::Io, "write", "standard output", std::strerror(errno));
	return {};
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
	do {
		std::this_thread::sleep_for(std::chrono::duration<double>(settings.interval));
		auto now = top::takeSnapshot(settings.selection);
		if (!now)
			return forward(now);
		if (auto done = print(formatted(settings, top::loadBetween(*before, *now))); !done)
			return done;
		before = std::move(now);
	} while (!settings.once);
	return {};
}

} /* namespace */

int main(int argc, char **argv)
{
	return tools::runProgram("nvdla-top", [&]() -> Result<int> {
		CommandLine app{
			"Shows what NVDLA devices do, engine by engine, and for which processes.",
			"nvdla-top", "nvdla-top --device accel0 --interval 0.5"
		};
		Settings settings;

		app.footer(tools::exitCodeHelp);
		app.option("--device", settings.selection.device,
			   "only this one: accelN, /dev/accel/accelN or its bus address");
		app.option("--interval", settings.interval, "seconds from one view to the next")
			.range(0.1, 3600.0)
			.showDefault();
		app.flag("--once", settings.once, "end after the first view");
		app.flag("--json", settings.json, "each view as a JSON object on one line");
		app.flag("--enable", settings.enable,
			 "have the cores count stalls and values of every operation from now on");
		if (const auto code = app.parse(argc, argv))
			return *code;

		return tools::finished(run(settings));
	});
}
