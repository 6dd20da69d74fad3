/* SPDX-License-Identifier: MIT */
/*
 * nvdla-prof: shows when each operation of a network ran on a device, or would run on a chip.
 */
#include <cstdio>

#include <fmt/core.h>
#include <nvdla/network.h>

#include "base/io/file.h"
#include "command-line/chip_options.h"
#include "command-line/command_line.h"
#include "device_option.h"
#include "program.h"
#include "progress.h"
#include "scaling_options.h"
#include "tensor_io.h"
#include "tools/prof/prediction_profile.h"
#include "tools/prof/prediction_table.h"
#include "tools/prof/profile_json.h"
#include "tools/prof/profile_table.h"
#include "tools/prof/run_profile.h"
#include "tools/prof/timeline_svg.h"
#include "tools/prof/trace_json.h"

namespace
{

using namespace nvdla;

struct Settings {
	std::string trace;
	std::string svg;
	std::string csv;
	std::string json;
	prof::View view;
	unsigned warmUp = 1;
	bool chip = false;
	ChipOptions chipOptions;
	tools::RunSettings run;
};

Result<RunReport> runNetwork(const Settings &settings, Network &network)
{
	tools::Progress progress(true);
	RunOptions options;

	options.timeout = std::chrono::milliseconds(settings.run.timeoutMs);
	options.statistics = true;
	for (size_t i = 0; i < settings.run.inputs.size(); i++) {
		auto set = tools::setInput(network, i, settings.run.inputs[i], settings.run);
		if (!set)
			return forward(set);
	}
	for (unsigned i = 0; i < settings.warmUp; i++) {
		progress.count("warm-up run", i, settings.warmUp);
		if (auto report = network.run(options); !report)
			return report;
	}
	progress.show("profiling");
	return network.run(options);
}

Result<void> writeText(const std::string &path, const std::string &text)
{
	if (path.empty())
		return {};
	return tools::writeOrPrint(path, std::as_bytes(std::span(text)));
}

Result<void> writeFiles(const Settings &settings, const prof::Profile &profile)
{
	return writeText(settings.trace, prof::traceJson(profile))
		.and_then([&] { return writeText(settings.svg, prof::timelineSvg(profile)); })
		.and_then([&] {
			return writeText(settings.csv, prof::profileCsv(profile, settings.view));
		})
		.and_then([&] {
			return writeText(settings.json, prof::rowsJsonText(profile, settings.view));
		});
}

/* Prints \a table, unless a file that is written to the standard output ("-") takes its place. */
void printTable(const Settings &settings, const std::string &table)
{
	for (const std::string *path :
	     { &settings.trace, &settings.svg, &settings.csv, &settings.json }) {
		if (*path == "-")
			return;
	}
	fmt::print("{}", table);
}

/* Predicts when each operation would run on the chip of the options; runs nothing. */
Result<void> predict(const Settings &settings)
{
	auto network = tools::readNetwork(settings.run.network.onChip(settings.chipOptions));
	if (!network)
		return forward(network);
	auto prediction = chip::predict(network->loadable, settings.chipOptions.chip(),
					settings.run.network.name());
	if (!prediction)
		return forward(prediction);
	printTable(settings, chip::predictionTable(*prediction, settings.view));
	return writeFiles(settings, chip::predictionProfile(*prediction));
}

Result<void> run(Settings &settings)
{
	auto device = tools::targetOf(settings.run.network, Device::open(settings.run.device));
	if (!device)
		return forward(device);
	auto read = tools::readNetwork(settings.run.network);
	if (!read)
		return forward(read);
	if (!device->has(Feature::Results) || !device->has(Feature::Statistics))
		return fail(ErrorCode::Unsupported, "profile", settings.run.device,
			    "the driver does not report when operations ran; load a newer one");
	auto network = Network::load(*device, read->loadable);
	if (!network)
		return forward(network);
	auto report = runNetwork(settings, *network);
	if (!report)
		return forward(report);
	tools::sayZeroInputs("nvdla-prof", settings.run.inputs.size(), *network);
	auto profile = prof::runProfile(read->loadable, *report,
					settings.run.network.name() + " on " +
						prof::deviceText(settings.run.device));
	if (!profile)
		return forward(profile);

	printTable(settings, prof::profileTable(*profile, settings.view));
	return writeFiles(settings, *profile);
}

} /* namespace */

int main(int argc, char **argv)
{
	return tools::runProgram("nvdla-prof", [&]() -> Result<int> {
		CommandLine app{
			"Runs a neural network on NVDLA, a hardware accelerator, and prints a "
			"table with the measured times of its operations. An operation is the "
			"work of one engine, a unit of NVDLA. On an NVDLA in software (the "
			"default) the times are those that this software takes; --chip predicts "
			"the times on a chip.",
			"nvdla-prof", "nvdla-prof net.nvdla --svg timeline.svg"
		};
		Settings settings;

		app.footer(tools::exitCodeHelp);
		tools::NetworkOptions network;
		network.addTo(app, "that of the device, or nv_full with --chip");
		auto device = tools::addDeviceOption(app, settings.run.device);
		auto input = app.option("--input", settings.run.inputs,
					"input: a picture (PGM, PPM, PNG, JPEG), a numpy array "
					"(.npy), or a .dimg or .raw file, which nvdla-run(1) "
					"describes; repeat for further inputs; an input without a "
					"file is zero")
				     .valueText("FILE")
				     .inputFile()
				     .repeatable();
		tools::ScalingOptions scaling;
		scaling.addTo(app, "pictures");
		app.option("--trace", settings.trace,
			   "write the timeline for the viewer Perfetto (ui.perfetto.dev) or "
			   "Chrome")
			.valueText("FILE")
			.outputFile();
		app.option("--svg", settings.svg, "write the timeline as a drawing (SVG)")
			.valueText("FILE")
			.outputFile();
		app.option("--csv", settings.csv,
			   "write the table's rows as CSV, with times in ns and these counters: "
			   "stalls (cycles in which the operation waited for memory), saturated "
			   "values (results that the engine clipped to its range of numbers), NaNs "
			   "that the operation read or computed, infinities, and values outside "
			   "look-up tables")
			.valueText("FILE")
			.outputFile();
		app.option("--json", settings.json,
			   "write the table's rows as JSON, with times in ns and all counters. If "
			   "the FILE of --trace, --svg, --csv or --json is -, its contents are "
			   "printed in place of the table")
			.valueText("FILE")
			.outputFile();
		app.flag("--by-layer", settings.view.byLayer,
			 "one row for each layer of the model instead of each operation, also in "
			 "the files of --csv and --json");
		app.choice<prof::View::Sort>(
			"--sort", settings.view.sort,
			{ { "start", prof::View::Sort::Start },
			  { "time", prof::View::Sort::Time } },
			"order of the rows, also in the files of --csv and --json: by start (the "
			"default), or by time, the longest first");
		app.option("--top", settings.view.top,
			   "at most N rows, in the table and in the files of --csv and --json; 0: "
			   "all rows")
			.showDefault();
		auto warmUp = app.option("--warm-up", settings.warmUp,
					 "run N times before the run that is shown")
				      .range(0u, 1000000u)
				      .showDefault();
		auto timeout = tools::addTimeoutOption(app, settings.run.timeoutMs);
		const auto chip =
			app.flag("--chip", settings.chip,
				 "run nothing: predict the time of each operation on the chip that "
				 "the following options describe; a model is first compiled for "
				 "this chip")
				.excludes(device)
				.excludes(input)
				.excludes(warmUp)
				.excludes(timeout);
		settings.chipOptions.addTo(app,
					   [&](CommandLineOption option) { option.needs(chip); });
		if (const auto code = app.parse(argc, argv))
			return *code;

		settings.run.scaling = scaling.scaling();
		if (auto used = tools::checkUses(scaling, settings.run.inputs); !used)
			return forward(used);
		return tools::finished(network.file().and_then([&](tools::NetworkFile file) {
			settings.run.network = std::move(file);
			return settings.chip ? predict(settings) : run(settings);
		}));
	});
}
