/* SPDX-License-Identifier: MIT */
/*
 * nvdla-trace: play register traces on the device model.
 */
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "trace/player.h"

namespace fs = std::filesystem;
using namespace nvdla::sim;

namespace
{

/* One trace: what it is called, and what came out. */
struct Run {
	fs::path directory;
	PlayResult result;
	std::vector<std::string> diagnostics;
};

void playOne(Run &run)
{
	auto trace = loadTrace(run.directory);
	if (!trace) {
		run.result.failures.push_back(trace.error());
		return;
	}
	std::mutex mutex; /* diagnostics come from any thread */
	CoreTarget target([&](const GuestError &error) {
		std::scoped_lock lock(mutex);
		run.diagnostics.push_back(fmt::format("{} {}: {} {}", error.unit, error.where,
						      error.reason, error.detail));
	});
	run.result = play(*trace, target);
	target.core().reset(); /* whatever hangs or still runs ends before the diagnostics do */
}

std::vector<Run> findTraces(const std::vector<std::string> &paths)
{
	std::vector<Run> runs;
	for (const std::string &path : paths) {
		if (fs::exists(fs::path(path) / "trace")) {
			runs.push_back({ .directory = path });
			continue;
		}
		const size_t before = runs.size();
		for (const auto &entry : fs::recursive_directory_iterator(path))
			if (entry.path().filename() == "trace" && entry.is_regular_file())
				runs.push_back({ .directory = entry.path().parent_path() });
		std::sort(runs.begin() + static_cast<ptrdiff_t>(before), runs.end(),
			  [](const Run &a, const Run &b) { return a.directory < b.directory; });
	}
	return runs;
}

void playAll(std::vector<Run> &runs, unsigned int jobs)
{
	std::atomic<size_t> next = 0;
	std::vector<std::thread> threads;
	for (unsigned int job = 0; job < jobs; job++)
		threads.emplace_back([&] {
			for (size_t i = next++; i < runs.size(); i = next++)
				playOne(runs[i]);
		});
	for (std::thread &thread : threads)
		thread.join();
}

/* Returns the number of failures. */
size_t report(const std::vector<Run> &runs, bool verbose)
{
	size_t failed = 0;
	unsigned int toleranced = 0;
	unsigned int exact = 0;
	for (const Run &run : runs) {
		toleranced += run.result.toleranced;
		exact += run.result.exact;
		failed += !run.result.passed();
		if (run.result.passed() && !verbose)
			continue;
		fmt::print("{} {}\n", run.result.passed() ? "passed" : "FAILED",
			   run.directory.string());
		for (const std::string &failure : run.result.failures)
			fmt::print("\t{}\n", failure);
		for (const std::string &diagnostic : run.diagnostics)
			fmt::print("\tguest error: {}\n", diagnostic);
	}
	if (toleranced)
		fmt::print("{} of {} results that have a tolerance are exact\n", exact, toleranced);
	fmt::print("{} passed, {} failed\n", runs.size() - failed, failed);
	return failed;
}

} /* namespace */

int main(int argc, char **argv)
{
	CLI::App app("Play register traces on the NVDLA device model and check what they expect.");
	std::vector<std::string> paths;
	unsigned int jobs = std::max(1U, std::thread::hardware_concurrency());
	bool verbose = false;
	app.add_option("directory", paths,
		       "directories with a file 'trace', searched with everything below them")
		->required()
		->check(CLI::ExistingDirectory);
	app.add_option("-j,--jobs", jobs, "traces played at once")->check(CLI::Range(1U, 256U));
	app.add_flag("-v,--verbose", verbose, "list the traces that pass, too");
	CLI11_PARSE(app, argc, argv);

	std::vector<Run> runs = findTraces(paths);
	if (runs.empty()) {
		fmt::print(stderr, "nvdla-trace: no file 'trace' in the given directories\n");
		return 2;
	}
	playAll(runs, jobs);
	return report(runs, verbose) ? 1 : 0;
}
