/* SPDX-License-Identifier: MIT */
/*
 * nvdla-trace: play register traces on the device model.
 */
#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include "command-line/command_line.h"
#include "command-line/message.h"
#include "qtest/qemu_binary.h"
#include "trace/qemu_suite.h"
#include "trace/sequence.h"
#include "trace/suite.h"

using namespace nvdla::sim;
using nvdla::CommandLine;
using nvdla::say;

namespace
{

void print(const SuiteRun &run)
{
	const char *outcome = !run.result.skipped.empty() ? "skipped"
			      : run.result.passed()	  ? "passed"
							  : "FAILED";
	fmt::print("{} {}\n", outcome, run.directory.string());
	if (!run.result.skipped.empty())
		fmt::print("\t{}\n", run.result.skipped);
	for (const std::string &failure : run.result.failures)
		fmt::print("\t{}\n", failure);
	for (const std::string &error : run.guestErrors)
		fmt::print("\tguest error: {}\n", error);
}

/* Returns the number of traces that failed. */
size_t report(const std::vector<SuiteRun> &runs, bool verbose)
{
	size_t failed = 0;
	size_t skipped = 0;
	unsigned int toleranced = 0;
	unsigned int exact = 0;
	for (const SuiteRun &run : runs) {
		toleranced += run.result.toleranced;
		exact += run.result.exact;
		skipped += !run.result.skipped.empty();
		failed += !run.result.failures.empty();
		if (!run.result.passed() || verbose) /* skipped: with the reason */
			print(run);
	}
	if (toleranced)
		fmt::print("{} of {} results that have a tolerance are exact\n", exact, toleranced);
	fmt::print("{} passed, {} failed", runs.size() - failed - skipped, failed);
	if (skipped)
		fmt::print(", {} skipped", skipped);
	fmt::print("\n");
	return failed;
}

/* Returns false if no trace has cycles to compare. */
bool reportTiming(const std::vector<SuiteRun> &runs, bool verbose)
{
	if (verbose)
		for (const SuiteRun &run : runs)
			if (const auto compared = compareTiming(run))
				fmt::print("{}: {} cycles, hardware {} ({:.2f})\n",
					   run.directory.filename().string(), compared->model,
					   compared->hardware, compared->ratio());
	const auto summaries = summarizeTiming(runs);
	for (const auto &[name, summary] : summaries)
		fmt::print("{}: {} traces take {:.2f} of the hardware's cycles "
			   "(geometric mean, furthest off by a factor of {:.2f})\n",
			   name, summary.traces, summary.geometricMean, summary.worst);
	if (summaries.empty())
		say("nvdla-trace: --timing: no trace that was played to its end has rtl_cycles in "
		    "its meta.json\n");
	return !summaries.empty();
}

std::atomic<bool> interrupted = false;

/* Finds nvdla-sim by the path of this program: in the build folder, or installed. */
std::string findSim()
{
	std::error_code error;
	const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
	return (self.parent_path() / "nvdla-sim").string();
}

/* Returns false if QEMU or nvdla-sim cannot be used. */
bool playThroughQemu(std::vector<SuiteRun> &runs, unsigned int jobs, const std::string &sim)
{
	const qtest::QemuBinary &qemu = qtest::QemuBinary::find();
	const std::string problem = qemu.error + qemu.skipReason;
	if (!problem.empty()) {
		say("nvdla-trace: " + problem + " (set NVDLA_QEMU to use another QEMU)\n");
		return false;
	}
	if (access(sim.c_str(), X_OK) < 0) {
		say("nvdla-trace: there is no program " + sim + " (use --sim)\n");
		return false;
	}
	/* Signals stop playing, so that child processes are ended and their folders removed. */
	for (const int number : { SIGINT, SIGTERM, SIGHUP })
		std::signal(number, [](int) { interrupted = true; });
	std::signal(SIGPIPE, SIG_IGN);
	const std::string failure =
		playSuiteThroughQemu(runs, jobs, { qemu.words, sim }, interrupted);
	if (!failure.empty())
		say("nvdla-trace: " + failure + "\n");
	return failure.empty();
}

int run(int argc, char **argv)
{
	CommandLine app(
		"Plays register traces (recorded accesses of a driver to an NVDLA, a hardware "
		"accelerator) on the device model, an NVDLA in software, and checks the results "
		"that the traces expect. Prints the traces that fail, and how many passed.",
		"nvdla-trace", "nvdla-trace vectors/");
	std::vector<std::string> paths;
	unsigned int jobs = std::max(1U, std::thread::hardware_concurrency());
	bool verbose = false;
	bool timing = false;
	bool throughQemu = false;
	std::string sim = findSim();
	app.option("directory", paths,
		   "directories that are searched for traces, with all directories below them; a "
		   "trace is a file named trace or input.txn, or a file NAME.cfg in a directory "
		   "NAME")
		.valueText("DIRECTORY ...")
		.required()
		.existingDirectory();
	app.option("-j,--jobs", jobs,
		   "number of traces played at once; default: one for each processor")
		.range(1U, 256U);
	app.flag("-v,--verbose", verbose, "list the traces that pass, too");
	const auto timed = app.flag(
		"-t,--timing", timing,
		"compare the time of traces, in cycles, with that on the hardware, which a trace's "
		"meta.json has; print the mean ratio (model / hardware) of the traces in each "
		"directory; a difference is no failure");
	auto through = app.flag(
		"-q,--through-qemu", throughQemu,
		"play on nvdla-sim, the device model as a PCI function that is attached to QEMU; "
		"nvdla-trace makes the accesses in place of the processor of a virtual machine "
		"(-accel qtest). The environment variable NVDLA_QEMU names the QEMU, 10.1.1 or "
		"newer, and its first arguments, separated by spaces; default: "
		"qemu-system-x86_64");
	app.option("--sim", sim,
		   "the program nvdla-sim for --through-qemu; default: nvdla-sim in the directory "
		   "of nvdla-trace")
		.needs(through)
		.valueText("PATH");
	/* From outside the device, begin and end of an operation cannot be measured. */
	through.excludes(timed);
	app.footer("Exit codes: 0 no trace failed, 1 a trace failed, or standard output cannot be "
		   "written, 2 wrong argument, no trace (for --timing: none that has the cycles of "
		   "the hardware), or QEMU or nvdla-sim does not work.");
	if (const auto code = app.parse(argc, argv))
		return *code;

	std::vector<SuiteRun> runs;
	for (const std::string &path : paths) {
		auto found = findTraces(path);
		if (found.empty()) {
			say("nvdla-trace: " + path +
			    ": no trace (a file trace or input.txn, or a file NAME.cfg in a "
			    "directory NAME)\n");
			return 2;
		}
		std::ranges::move(found, std::back_inserter(runs));
	}
	if (!throughQemu)
		playSuite(runs, jobs);
	else if (!playThroughQemu(runs, jobs, sim))
		return 2;
	const bool compared = !timing || reportTiming(runs, verbose);
	const bool failed = report(runs, verbose) != 0;
	if (interrupted)
		return 130;
	return compared || failed ? failed : 2;
}

} /* namespace */

int main(int argc, char **argv)
{
	try {
		return nvdla::finishOutput("nvdla-trace", run(argc, argv));
	} catch (const std::exception &error) {
		say(std::string("nvdla-trace: ") + error.what() + "\n");
		return 1;
	}
}
