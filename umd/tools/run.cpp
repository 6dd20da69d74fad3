/* SPDX-License-Identifier: MIT */
/*
 * nvdla-run: run a loadable.
 */
#include <algorithm>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nvdla/loadable_json.h>
#include <nvdla/network.h>

#include "command_line.h"
#include "exit_code.h"
#include "prof/run_profile.h"
#include "progress.h"
#include "run_options.h"
#include "run_report.h"
#include "tensor_io.h"
#include "text_file.h"

namespace
{

using namespace nvdla;
using namespace nvdla::tools;

Result<void> checkCounts(const RunSettings &settings, const Network &network)
{
	const struct {
		const char *name;
		size_t given;
		size_t there;
	} counts[] = {
		{ "--input", settings.inputs.size(), network.inputs().size() },
		{ "--output", settings.outputs.size(), network.outputs().size() },
	};
	for (const auto &count : counts) {
		if (count.given > count.there)
			return fail(ErrorCode::InvalidArgument, count.name, settings.loadable,
				    fmt::format("{} files given, the network has {}", count.given,
						count.there));
	}
	return {};
}

/* The first runtime wrote one output, whatever it was, to output.dimg. */
std::vector<std::string> usualOutputs(const Network &network)
{
	std::vector<std::string> names;

	for (size_t i = 0; i < network.outputs().size(); i++)
		names.push_back(fmt::format("output{}.dimg", i ? std::to_string(i) : ""));
	return names;
}

void dropResults(RunReport &report)
{
	for (RunReport::Step &step : report.steps)
		step.results = {};
}

Result<std::vector<RunReport>> runNetwork(const RunSettings &settings, Network &network,
					  Progress &progress)
{
	std::vector<RunReport> reports;
	RunOptions options;

	options.timeout = std::chrono::milliseconds(settings.timeoutMs);
	options.statistics = settings.perf;
	for (unsigned i = 0; i < settings.repeat; i++) {
		progress.count("run", i, settings.repeat);
		auto report = network.run(options);
		if (!report)
			return forward(report);
		/* A million of them would not fit; the last one's are shown. */
		if (!reports.empty())
			dropResults(reports.back());
		reports.push_back(std::move(*report));
	}
	return reports;
}

Result<void> run(const RunSettings &settings)
{
	Progress progress(!settings.json);

	progress.show("reading " + settings.loadable);
	auto loadable = readLoadable(settings.loadable);
	if (!loadable)
		return forward(loadable);
	auto device = Device::open(settings.device);
	if (!device)
		return forward(device);
	progress.show("loading onto " + settings.device);
	auto network = Network::load(*device, *loadable);
	if (!network)
		return forward(network);
	if (auto counts = checkCounts(settings, *network); !counts)
		return counts;
	for (size_t i = 0; i < settings.inputs.size(); i++) {
		if (auto set = setInput(*network, i, settings.inputs[i], settings); !set)
			return set;
	}
	auto labels = readLines(settings.labels);
	if (!labels)
		return forward(labels);
	auto reports = runNetwork(settings, *network, progress);
	if (!reports)
		return forward(reports);

	const auto outputs = settings.outputs.empty() && settings.usualOutputs
				     ? usualOutputs(*network)
				     : settings.outputs;
	for (size_t i = 0; i < outputs.size(); i++) {
		auto written = writeOutput(*network, i, outputs[i], settings.rawDump);
		if (!written)
			return written;
	}
	progress.show("");
	RunOutcome outcome{ *network, std::move(*reports), std::move(*labels), std::nullopt };
	if (settings.perf) {
		auto profile =
			prof::runProfile(*loadable, outcome.reports.back(), settings.loadable);
		if (!profile)
			return forward(profile);
		outcome.profile = std::move(*profile);
	}
	return settings.json ? printJson(settings, outcome) : printText(settings, outcome);
}

} /* namespace */

int main(int argc, char **argv)
{
	CLI::App app{ "Runs an NVDLA loadable and writes its output tensors.", "nvdla-run" };
	RunSettings settings;
	std::vector<float> mean;

	app.footer(exitCodeHelp);
	app.add_option("--device", settings.device,
		       "/dev/accel/accelN, or embedded for the device model in this process")
		->capture_default_str();
	app.add_option("--loadable", settings.loadable, "file to run, or its text form")
		->required();
	auto *input =
		app.add_option("--input", settings.inputs,
			       "input tensor: PGM, PPM, PNG, JPEG, numpy .npy, .dimg, or .raw "
			       "tensor bytes; repeat for further inputs; zero without")
			->expected(1)
			->take_all();
	const auto *image = app.add_option("--image", settings.inputs,
					   "as --input; without --output it writes output.dimg")
				    ->expected(1)
				    ->take_all()
				    ->excludes(input);
	app.add_option("--normalize", settings.scaling.normalize,
		       "divide pixels by this (fp16, int16)")
		->capture_default_str();
	app.add_option("--mean", mean, "subtract from pixels before, per channel: a,b,c,d")
		->delimiter(',')
		->expected(1, 4);
	app.add_option("--input-scale", settings.inputScale,
		       "divide .npy numbers by this on their way to another type")
		->capture_default_str();
	app.add_option("--output", settings.outputs,
		       "write an output as .dimg, or its bytes as .raw; repeat for further outputs")
		->expected(1)
		->take_all();
	app.add_flag("--rawdump", settings.rawDump,
		     "write elements as text instead of .dimg, without --output to output.dimg");
	app.add_option("--top", settings.top, "print the N largest elements of each output");
	app.add_option("--labels", settings.labels,
		       "names of the classes, a line each, for --top (which is then at least 1)");
	app.add_option("--repeat", settings.repeat, "run N times")
		->check(CLI::Range(1u, 1000000u))
		->capture_default_str();
	app.add_option("--timeout", settings.timeoutMs, "longest time of a job on the device, ms")
		->check(CLI::Range(1u, 600000u))
		->capture_default_str();
	app.add_flag("-v,--verbose", settings.verbose, "print the duration of each step");
	app.add_flag("--perf", settings.perf,
		     "print time, stalls, saturation and NaNs of each operation of the last run");
	app.add_flag("--json", settings.json, "print the result as JSON");
	if (const auto code = nvdla::tools::parseCommandLine(app, argc, argv))
		return *code;

	for (size_t i = 0; i < mean.size() && i < settings.scaling.mean.size(); i++)
		settings.scaling.mean[i] = mean[i];
	settings.usualOutputs = image->count() || settings.rawDump;
	if (!settings.labels.empty())
		settings.top = std::max(settings.top, 1u);
	if (auto done = run(settings); !done) {
		fmt::print(stderr, "nvdla-run: {}\n", done.error().message());
		return exitCode(done.error().code);
	}
	return 0;
}
