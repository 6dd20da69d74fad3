/* SPDX-License-Identifier: MIT */
/*
 * nvdla-trace: play register traces on the device model.
 */
#include <algorithm>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "trace/suite.h"

using namespace nvdla::sim;

namespace
{

void print(const SuiteRun &run)
{
	fmt::print("{} {}\n", run.result.passed() ? "passed" : "FAILED", run.directory.string());
	for (const std::string &failure : run.result.failures)
		fmt::print("\t{}\n", failure);
	for (const std::string &error : run.guestErrors)
		fmt::print("\tguest error: {}\n", error);
}

/* Returns the number of traces that failed. */
size_t report(const std::vector<SuiteRun> &runs, bool verbose)
{
	size_t failed = 0;
	unsigned int toleranced = 0;
	unsigned int exact = 0;
	for (const SuiteRun &run : runs) {
		toleranced += run.result.toleranced;
		exact += run.result.exact;
		failed += !run.result.passed();
		if (!run.result.passed() || verbose)
			print(run);
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

	std::vector<SuiteRun> runs;
	for (const std::string &path : paths)
		std::ranges::move(findTraces(path), std::back_inserter(runs));
	if (runs.empty()) {
		fmt::print(stderr, "nvdla-trace: no file 'trace' in the given directories\n");
		return 2;
	}
	playSuite(runs, jobs);
	return report(runs, verbose) ? 1 : 0;
}
