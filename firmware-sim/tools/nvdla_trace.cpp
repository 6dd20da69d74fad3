/* SPDX-License-Identifier: MIT */
/*
 * nvdla-trace: play register traces on the device model.
 */
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

/* The hardware's cycles for the trace, if the trace says. */
std::optional<double> hardwareCycles(const SuiteRun &run)
{
	std::ifstream file(run.directory / "meta.json");
	const auto meta = nlohmann::json::parse(file, nullptr, false);
	if (!meta.is_object() || !meta.contains("rtl_cycles") || !meta["rtl_cycles"].is_number())
		return std::nullopt;
	return meta["rtl_cycles"].get<double>();
}

/* Model and hardware, for the traces of a single operation: only those compare. */
void reportTiming(const std::vector<SuiteRun> &runs, bool verbose)
{
	struct Sum {
		unsigned int traces = 0;
		double logarithms = 0;
		double worst = 0;
	};
	std::map<std::string, Sum> sums;
	for (const SuiteRun &run : runs) {
		const auto hardware = hardwareCycles(run);
		if (!hardware || *hardware <= 0 || run.operations.size() != 1 ||
		    !run.operations[0].timing.cycles)
			continue;
		const auto model = static_cast<double>(run.operations[0].timing.cycles);
		const double logarithm = std::log2(model / *hardware);
		Sum &sum = sums[run.directory.parent_path().filename().string()];
		sum.traces++;
		sum.logarithms += logarithm;
		sum.worst = std::max(sum.worst, std::fabs(logarithm));
		if (verbose)
			fmt::print("{}: {:.0f} cycles, hardware {:.0f} ({:.2f})\n",
				   run.directory.filename().string(), model, *hardware,
				   model / *hardware);
	}
	for (const auto &[name, sum] : sums)
		fmt::print("{}: {} single operations take {:.2f} of the hardware's cycles "
			   "(geometric mean, furthest off by a factor of {:.2f})\n",
			   name, sum.traces, std::exp2(sum.logarithms / sum.traces),
			   std::exp2(sum.worst));
}

} /* namespace */

int main(int argc, char **argv)
{
	CLI::App app("Play register traces on the NVDLA device model and check what they expect.");
	std::vector<std::string> paths;
	unsigned int jobs = std::max(1U, std::thread::hardware_concurrency());
	bool verbose = false;
	bool timing = false;
	app.add_option("directory", paths,
		       "directories with a file 'trace', searched with everything below them")
		->required()
		->check(CLI::ExistingDirectory);
	app.add_option("-j,--jobs", jobs, "traces played at once")->check(CLI::Range(1U, 256U));
	app.add_flag("-v,--verbose", verbose, "list the traces that pass, too");
	app.add_flag("-t,--timing", timing,
		     "compare modelled cycles with those in the traces' meta.json");
	CLI11_PARSE(app, argc, argv);

	std::vector<SuiteRun> runs;
	for (const std::string &path : paths)
		std::ranges::move(findTraces(path), std::back_inserter(runs));
	if (runs.empty()) {
		fmt::print(stderr, "nvdla-trace: no file 'trace' in the given directories\n");
		return 2;
	}
	playSuite(runs, jobs);
	if (timing)
		reportTiming(runs, verbose);
	return report(runs, verbose) ? 1 : 0;
}
