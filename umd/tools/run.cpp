/* SPDX-License-Identifier: MIT */
/*
 * nvdla-run: runs a network on an NVDLA, and writes or prints its outputs.
 */
#include <cstdio>

#include <fmt/core.h>
#include <nvdla/network.h>

#include "command-line/output_files.h"
#include "labels.h"
#include "program.h"
#include "progress.h"
#include "run_options.h"
#include "run_report.h"
#include "surfaces.h"
#include "tensor_io.h"
#include "tools/prof/run_profile.h"

namespace
{

using namespace nvdla;
using namespace nvdla::tools;

Result<void> checkCounts(const RunSettings &settings, const Network &network)
{
	const struct {
		const char *name;
		const char *tensor;
		size_t given;
		size_t there;
	} counts[] = {
		{ "--input", "input", settings.inputs.size(), network.inputs().size() },
		{ "--input-scale", "input", settings.inputQuantizations.size(),
		  network.inputs().size() },
		{ "--output", "output", settings.outputs.size(), network.outputs().size() },
		{ "--output-scale", "output", settings.outputQuantizations.size(),
		  network.outputs().size() },
	};
	for (const auto &count : counts) {
		if (count.given > count.there)
			return fail(ErrorCode::InvalidArgument, count.name, settings.network.path,
				    fmt::format("given {} times, but the network has {} {}{}",
						count.given, count.there, count.tensor,
						count.there == 1 ? "" : "s"));
	}
	return {};
}

/*
 * Returns the default names of output files: output.dimg, output1.dimg, ... NVIDIA's runtime always
 * wrote output.dimg, so nvdla-run with the options of that runtime does the same. A plain
 * tensor (PixelFormat::Plain) becomes a .npy file, because a .dimg has no format for plain tensors.
 */
std::vector<std::string> usualOutputs(const Network &network)
{
	std::vector<std::string> names;

	for (size_t i = 0; i < network.outputs().size(); i++)
		names.push_back(fmt::format(
			"output{}.{}", i ? std::to_string(i) : "",
			network.outputs()[i].format == PixelFormat::Plain ? "npy" : "dimg"));
	return names;
}

/* Checks that default output files can be written and replace no input. The parser checks only the
 * files of --output. */
Result<void> checkUsualOutputs(const RunSettings &settings, const std::vector<std::string> &paths)
{
	std::vector<NamedFile> inputs;

	for (const std::string &path : settings.inputs)
		inputs.push_back({ "--input", path });
	for (const std::string &path : paths) {
		const std::string problem = problemOfOutputs(inputs, { { "--output", path } });
		if (!problem.empty())
			return fail(ErrorCode::InvalidArgument, "write outputs", "", problem);
	}
	return {};
}

Result<void> quantize(const RunSettings &settings, Network &network)
{
	Result<void> done;

	for (size_t i = 0; i < settings.inputQuantizations.size() && done; i++)
		done = network.setInputQuantization(i, settings.inputQuantizations[i]);
	for (size_t i = 0; i < settings.outputQuantizations.size() && done; i++)
		done = network.setOutputQuantization(i, settings.outputQuantizations[i]);
	return done;
}

void dropResults(RunReport &report)
{
	for (RunReport::Step &step : report.steps)
		step.results = {};
}

Result<std::vector<RunReport>> runNetwork(const RunSettings &settings, const Device &device,
					  Network &network, Progress &progress)
{
	std::vector<RunReport> reports;
	RunOptions options;

	options.timeout = std::chrono::milliseconds(settings.timeoutMs);
	for (unsigned i = 0; i < settings.repeat; i++) {
		progress.count("run", i, settings.repeat);
		/* Request statistics for the last run only, because only these are shown. */
		options.statistics = i + 1 == settings.repeat &&
				     (settings.perf || device.has(Feature::Statistics));
		auto report = network.run(options);
		if (!report)
			return forward(report);
		/*
		 * Free the results of the previous run: the results of a million runs would not fit
		 * into memory.
		 */
		if (!reports.empty())
			dropResults(reports.back());
		reports.push_back(std::move(*report));
	}
	return reports;
}

Result<Loadable> loadNetwork(RunSettings &settings, Progress &progress)
{
	progress.show((settings.network.isModel ? "compiling " : "reading ") +
		      settings.network.path);
	settings.network.options.everyTensor = !settings.surfaces.empty();
	auto network = readNetwork(settings.network);
	if (!network)
		return forward(network);
	return std::move(network->loadable);
}

Result<void> run(RunSettings settings, TraceOptions &trace)
{
	Progress progress(!settings.json);

	auto device = targetOf(settings.network, trace.open(settings.device));
	if (!device)
		return forward(device);
	auto loadable = loadNetwork(settings, progress);
	if (!loadable)
		return forward(loadable);
	progress.show("loading onto " + settings.device);
	auto network = Network::load(*device, *loadable);
	if (!network)
		return forward(network);
	if (auto counts = checkCounts(settings, *network); !counts)
		return counts;
	if (auto quantized = quantize(settings, *network); !quantized)
		return quantized;
	const auto outputs = settings.outputs.empty() && settings.usualOutputs
				     ? usualOutputs(*network)
				     : settings.outputs;
	if (auto checked = checkUsualOutputs(settings, outputs); !checked)
		return checked;
	std::vector<std::string> notes;
	for (size_t i = 0; i < settings.inputs.size(); i++) {
		auto note = setInput(*network, i, settings.inputs[i], settings);
		if (!note)
			return forward(note);
		notes.push_back(std::move(*note));
	}
	auto labels = readLabels(settings.labels, *network);
	if (!labels)
		return forward(labels);
	auto reports = runNetwork(settings, *device, *network, progress);
	if (!reports)
		return forward(reports);
	if (auto written = trace.write(); !written)
		return written;
	sayZeroInputs("nvdla-run", settings.inputs.size(), *network);

	for (size_t i = 0; i < outputs.size(); i++) {
		auto written = writeOutput(*network, i, outputs[i], settings);
		if (!written)
			return written;
	}
	progress.show("");
	RunOutcome outcome{ *network,		std::move(notes), std::move(*reports),
			    std::move(*labels), std::nullopt,	  {} };
	if (!settings.surfaces.empty()) {
		auto surfaces = dumpSurfaces(*network, settings.surfaces, settings);
		if (!surfaces)
			return forward(surfaces);
		outcome.surfaces = std::move(*surfaces);
	}
	if (settings.perf) {
		auto profile =
			prof::runProfile(*loadable, outcome.reports.back(), settings.network.path);
		if (!profile)
			return forward(profile);
		outcome.profile = std::move(*profile);
	}
	return settings.json ? printJson(settings, outcome) : printText(settings, outcome);
}

} /* namespace */

int main(int argc, char **argv)
{
	return runProgram("nvdla-run", [&]() -> Result<int> {
		RunSettings settings;
		TraceOptions trace;
		auto code = parseRunOptions(argc, argv, settings, trace);
		if (!code)
			return forward(code);
		if (*code)
			return **code;
		return finished(run(std::move(settings), trace));
	});
}
