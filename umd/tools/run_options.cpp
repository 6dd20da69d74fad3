/* SPDX-License-Identifier: MIT */
#include "run_options.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/core.h>

#include "command-line/command_line.h"
#include "device_option.h"
#include "exit_code.h"
#include "program.h"
#include "quantization_options.h"
#include "scaling_options.h"
#include "tensor_io.h"

namespace nvdla::tools
{

namespace
{

/* Options as they are parsed, before they become RunSettings. */
struct Lists {
	NetworkOptions network;
	std::vector<std::string> images;
	ScalingOptions scaling;
	QuantizationOptions input;
	QuantizationOptions output;
	std::map<std::string, CommandLineOption>
		options; /* options that need others to have an effect */

	void keep(const CommandLineOption &option) { options.emplace(option.name(), option); }
	const CommandLineOption &at(const char *name) const { return options.at(name); }
};

/* An option that is given again for further tensors. */
CommandLineOption addPerTensor(CommandLine &app, const char *name, std::vector<std::string> &values,
			       const char *help)
{
	return app.option(name, values, help).repeatable();
}

void addTensorOptions(CommandLine &app, RunSettings &settings, Lists &lists)
{
	const auto input = addPerTensor(
		app, "--input", settings.inputs,
		"input tensor: PGM, PPM, PNG, JPEG, numpy .npy, .dimg, or .raw "
		"tensor bytes; repeat for further inputs; an input without a file is zero");
	addPerTensor(app, "--image", lists.images,
		     "the same as --input; without --output, outputs go to output.dimg, ...")
		.excludes(input);
	lists.keep(addPerTensor(
		app, "--input-scale", lists.input.scales,
		"scale of an integer input, or of each of its channels: a,b,c; repeat for "
		"further inputs"));
	lists.keep(addPerTensor(app, "--input-zero", lists.input.zeroPoints,
				"the integer that stands for 0 in an integer input, or in each of "
				"its channels"));
	lists.scaling.addTo(app, " (int8: with --input-scale)");
	addPerTensor(app, "--output", settings.outputs,
		     "write an output as .dimg, its numbers as .npy, or its bytes as .raw; repeat "
		     "for further outputs");
	lists.keep(addPerTensor(app, "--output-scale", lists.output.scales,
				"scale of an integer output, for .npy and --top"));
	lists.keep(addPerTensor(app, "--output-zero", lists.output.zeroPoints,
				"the integer that stands for 0 in an integer output"));
	lists.keep(app.choice<std::optional<ElementOrder>>(
		"--layout", settings.layout,
		{ { "nchw", ElementOrder::Nchw }, { "nhwc", ElementOrder::Nhwc } },
		"order of the axes of .npy inputs and outputs; the default is the model's order, "
		"or nchw for loadables of other compilers"));
	lists.keep(app.flag("--rawdump", settings.rawDump,
			    "write outputs as text instead of .dimg; without --output to "
			    "output.dimg, ..."));
	app.option("--dump-surfaces", settings.surfaces,
		   "folder for the numbers of a model's tensors as .npy, except tensors inside "
		   "fused operations; also prints the range of each tensor, and the shares of "
		   "elements with the lowest and highest value of their type");
	app.option("--top", settings.top, "print the N largest numbers of each output");
	app.option("--labels", settings.labels,
		   "names of the classes, a line each, for --top (which is then at least 1)");
}

void addRunOptions(CommandLine &app, RunSettings &settings, Lists &lists)
{
	addDeviceOption(app, settings.device);
	lists.network.addTo(app, "; arrays (.npy) have the model's order of axes, and pictures are "
				 "scaled to the model's input");
	app.option("--repeat", settings.repeat, "run N times").range(1u, 1000000u).showDefault();
	app.option("--timeout", settings.timeoutMs, "longest time of a job on the device, ms")
		.range(1u, 600000u)
		.showDefault();
	lists.keep(app.flag("-v,--verbose", settings.verbose, "print the duration of each step"));
	app.flag("--perf", settings.perf,
		 "print time, stalls, saturation and NaNs of each operation of the last run");
	lists.keep(app.option("--saturated-above", settings.saturatedAbove,
			      "report saturated values only of operations with more than N of them")
			   .showDefault());
	lists.keep(app.option("--nan-above", settings.nanAbove,
			      "report NaNs only of operations with more than N of them")
			   .showDefault());
	lists.keep(app.option("--lut-misses-above", settings.lutMissesAbove,
			      "report values outside look-up tables only of operations with more "
			      "than N of them")
			   .showDefault());
	app.flag("--json", settings.json, "print the result as JSON");
}

Result<void> takeLists(const Lists &lists, RunSettings &settings)
{
	settings.scaling = lists.scaling.scaling();
	auto inputs = lists.input.parse("--input-scale");
	if (!inputs)
		return forward(inputs);
	auto outputs = lists.output.parse("--output-scale");
	if (!outputs)
		return forward(outputs);
	auto network = lists.network.file();
	if (!network)
		return forward(network);
	settings.network = std::move(*network);
	if (!settings.surfaces.empty() && !settings.network.isModel)
		return fail(ErrorCode::InvalidArgument, "--dump-surfaces", settings.network.path,
			    "is a loadable, which keeps no tensor but its outputs; give the model");
	settings.usualOutputs = settings.rawDump || !lists.images.empty();
	if (!lists.images.empty())
		settings.inputs = lists.images;
	settings.inputQuantizations = std::move(*inputs);
	settings.outputQuantizations = std::move(*outputs);
	return {};
}

/* Refuses options that have no effect together with the other options. */
Result<void> checkOptions(const Lists &lists, const RunSettings &settings)
{
	const auto any = [](const std::vector<std::string> &paths, FileKind kind) {
		return std::ranges::any_of(
			paths, [&](const std::string &path) { return fileKind(path) == kind; });
	};
	const auto &inputs = settings.inputs;
	const auto &outputs = settings.outputs;
	const bool picture = any(inputs, FileKind::Other);
	const bool real = picture || any(inputs, FileKind::Npy);
	const bool shown = any(outputs, FileKind::Npy) || settings.top || settings.json ||
			   !settings.surfaces.empty();
	const bool tells = !settings.perf || settings.json;

	if (!settings.rawDump) {
		for (const std::string &path : outputs) {
			if (fileKind(path) == FileKind::Other)
				return fail(ErrorCode::InvalidArgument, "--output", path,
					    "its ending is none of .dimg, .npy and .raw; elements "
					    "as text: --rawdump");
		}
	}
	if (auto used = checkUses(lists.scaling, inputs); !used)
		return used;
	return checkUses({
		{ lists.at("--input-scale"), real, "a picture or .npy as --input" },
		{ lists.at("--input-zero"), real, "a picture or .npy as --input" },
		{ lists.at("--output-scale"), shown, "an --output that is .npy, --top or --json" },
		{ lists.at("--output-zero"), shown, "an --output that is .npy, --top or --json" },
		{ lists.at("--layout"),
		  any(inputs, FileKind::Npy) || any(outputs, FileKind::Npy) ||
			  !settings.surfaces.empty(),
		  "an --input or --output that is .npy" },
		{ lists.at("--rawdump"),
		  outputs.empty() || any(outputs, FileKind::Other) || any(outputs, FileKind::Dimg),
		  "an --output that is not .npy or .raw" },
		{ lists.at("--verbose"), !settings.json, "text: --json has the steps anyway" },
		{ lists.at("--saturated-above"), tells, "--json: the table of --perf has all" },
		{ lists.at("--nan-above"), tells, "--json: the table of --perf has all" },
		{ lists.at("--lut-misses-above"), tells, "--json: the table of --perf has all" },
	});
}

} /* namespace */

Result<std::optional<int>> parseRunOptions(int argc, char **argv, RunSettings &settings,
					   TraceOptions &trace)
{
	CommandLine app{ "Runs a network on an NVDLA and writes its output tensors.", "nvdla-run",
			 "nvdla-run model.onnx --input cat.png --labels classes.txt --top 5" };
	Lists lists;

	app.footer(exitCodeHelp);
	addRunOptions(app, settings, lists);
	addTensorOptions(app, settings, lists);
	trace.addTo(app);
	if (const auto code = app.parse(argc, argv))
		return code;

	if (!settings.labels.empty())
		settings.top = std::max(settings.top, 1u);
	if (auto checked = trace.check(); !checked)
		return forward(checked);
	if (auto taken = takeLists(lists, settings); !taken)
		return forward(taken);
	if (auto checked = checkOptions(lists, settings); !checked)
		return forward(checked);
	return std::nullopt;
}

} /* namespace nvdla::tools */
