/* SPDX-License-Identifier: MIT */
#include "run_options.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/core.h>

#include "command-line/command_line.h"
#include "device_option.h"
#include "exit_code.h"
#include "folder.h"
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
	/* Options that have no effect without other options, by name. checkOptions() uses them
	 * after parsing. */
	std::map<std::string, CommandLineOption> options;

	void keep(const CommandLineOption &option) { options.emplace(option.name(), option); }
	const CommandLineOption &at(const char *name) const { return options.at(name); }
};

/* Adds an option that can be repeated: the n-th use is for the n-th tensor. */
CommandLineOption addPerTensor(CommandLine &app, const char *name, std::vector<std::string> &values,
			       const char *help)
{
	return app.option(name, values, help).repeatable();
}

void addTensorOptions(CommandLine &app, RunSettings &settings, Lists &lists)
{
	const auto input = addPerTensor(app, "--input", settings.inputs,
					"an input: a picture (PGM, PPM, PNG, JPEG), a numpy array "
					"(.npy), a .dimg file with elements (format of NVIDIA's "
					"runtime), or the tensor's bytes as the NVDLA reads them "
					"(.raw). A picture is cropped to its centre and scaled to "
					"the input's size. But for loadables of compilers other "
					"than nvdla-compile, the picture must have the input's "
					"size. Red, green and blue become the channels 0, 1 and 2. "
					"Repeat --input for further inputs. An input without a "
					"file is zero")
				   .valueText("FILE")
				   .inputFile();
	addPerTensor(app, "--image", lists.images,
		     "the same as --input, but if there is no --output, the outputs are written to "
		     "output.dimg, output1.dimg, ...")
		.valueText("FILE")
		.inputFile()
		.excludes(input);
	lists.keep(addPerTensor(app, "--input-scale", lists.input.scales,
				"scale of an integer input: one number, or one for each channel. "
				"An element stands for the number scale * (element - zero point). "
				"Repeat --input-scale for further inputs. Default: the loadable's "
				"scale, or 1 if the loadable has none or --input-zero is given")
			   .valueText("A,B,..."));
	lists.keep(addPerTensor(app, "--input-zero", lists.input.zeroPoints,
				"zero point of an integer input, the element that stands for the "
				"number 0: one integer, or one for each channel. Repeat "
				"--input-zero for further inputs. Default: the loadable's zero "
				"point, or 0 if the loadable has none or --input-scale is given")
			   .valueText("A,B,..."));
	lists.scaling.addTo(
		app, "pictures",
		". For an INT8 input without a scale, --mean and --normalize need --input-scale. "
		"With neither --mean nor --normalize, a float input gets the numbers 0 to 255, and "
		"an 8-bit input its lowest integer for pixel 0 and its highest for pixel 255 "
		"(loadables of compilers other than nvdla-compile: see nvdla-run(1))");
	addPerTensor(
		app, "--output", settings.outputs,
		"write an output to this file. The ending of its name chooses the format: .npy, "
		"the numbers as a numpy array; .dimg, the elements (format of NVIDIA's runtime); "
		".raw, the bytes as the NVDLA writes them; any other ending needs --rawdump. "
		"Repeat --output for further outputs")
		.valueText("FILE")
		.outputFile();
	lists.keep(addPerTensor(app, "--output-scale", lists.output.scales,
				"scale of an integer output, for the numbers of .npy files, --top "
				"and --json; given as --input-scale, with the same default")
			   .valueText("A,B,..."));
	lists.keep(addPerTensor(app, "--output-zero", lists.output.zeroPoints,
				"zero point of an integer output; given as --input-zero, with the "
				"same default")
			   .valueText("A,B,..."));
	lists.keep(app.choice<std::optional<ElementOrder>>(
		"--layout", settings.layout,
		{ { "nchw", ElementOrder::Nchw }, { "nhwc", ElementOrder::Nhwc } },
		"order of the axes of all .npy inputs and outputs: channels before lines and "
		"columns (nchw) or after them (nhwc); default: the model's order, but nchw for "
		"loadables of compilers other than nvdla-compile"));
	lists.keep(app.flag("--rawdump", settings.rawDump,
			    "write the elements of outputs as text: to each --output file (.dimg, "
			    "too) except .npy and .raw; without --output, to output.dimg, "
			    "output1.dimg, ..."));
	app.option("--dump-surfaces", settings.surfaces,
		   "write the outputs and the tensors between the layers of a model to this "
		   "folder, as .npy files. Tensors that never reach memory, such as the sums of a "
		   "convolution before its ReLU, are left out. Also print, for each tensor, its "
		   "range and the shares of elements that have the lowest and the highest value "
		   "of their type. Only for a model, not for a loadable")
		.valueText("FOLDER");
	lists.keep(app.option("--top", settings.top,
			      "print the N largest numbers of each output with their positions; "
			      "default: 0 (none), or 1 with --labels"));
	app.option("--labels", settings.labels,
		   "text file with the names of the classes, one a line: print the name beside "
		   "each number of --top")
		.valueText("FILE")
		.inputFile();
}

void addRunOptions(CommandLine &app, RunSettings &settings, Lists &lists)
{
	lists.keep(addDeviceOption(app, settings.device));
	lists.network.addTo(app, "that of the device");
	app.option("--repeat", settings.repeat, "run the network N times")
		.range(1u, 1000000u)
		.showDefault();
	addTimeoutOption(app, settings.timeoutMs);
	lists.keep(app.flag("-v,--verbose", settings.verbose,
			    "print how long each part of the last run took, on the device or on "
			    "the CPU"));
	app.flag("--perf", settings.perf,
		 "print a table of the last run: for each operation (the work of one engine, a "
		 "unit of NVDLA) its time, its stalls (cycles in which the engine waited for "
		 "memory), its saturated values (results that the engine clipped), and the NaNs "
		 "that the engine read or computed");
	lists.keep(
		app.option("--saturated-above", settings.saturatedAbove,
			   "leave operations with N or fewer saturated values out of the number of "
			   "saturated values that nvdla-run prints after a run. With --perf, "
			   "which prints a table instead of this number, this option needs "
			   "--json")
			.showDefault());
	lists.keep(app.option("--nan-above", settings.nanAbove,
			      "the same as --saturated-above, for NaNs")
			   .showDefault());
	lists.keep(app.option("--lut-misses-above", settings.lutMissesAbove,
			      "the same as --saturated-above, for values outside the range of an "
			      "activation's look-up tables")
			   .showDefault());
	app.flag("--json", settings.json,
		 "print inputs, outputs, times and counters as one JSON object instead of text");
}

Result<void> takeLists(const Lists &lists, RunSettings &settings)
{
	settings.scaling = lists.scaling.scaling();
	auto inputs = lists.input.parse("--input");
	if (!inputs)
		return forward(inputs);
	auto outputs = lists.output.parse("--output");
	if (!outputs)
		return forward(outputs);
	auto network = lists.network.file();
	if (!network)
		return forward(network);
	settings.network = std::move(*network);
	if (!settings.surfaces.empty() && !settings.network.isModel)
		return fail(ErrorCode::InvalidArgument, "--dump-surfaces", settings.network.path,
			    "is a loadable, of which only the outputs remain after a run; give the "
			    "model");
	if (!settings.surfaces.empty()) {
		if (auto folder = checkFolder("--dump-surfaces", settings.surfaces); !folder)
			return folder;
	}
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
	const char *inTable = "--json, because the table of --perf shows every operation";

	if (std::ranges::find(outputs, "-") != outputs.end())
		return fail(ErrorCode::InvalidArgument, "--output", "-",
			    "is standard output, which has the report of the run; name a file");
	if (!settings.rawDump) {
		for (const std::string &path : outputs) {
			if (fileKind(path) == FileKind::Other)
				return fail(ErrorCode::InvalidArgument, "--output", path,
					    "must end in .dimg, .npy or .raw; with --rawdump, any "
					    "other name gets the elements as text");
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
		{ lists.at("--verbose"), !settings.json,
		  "text output; --json has the steps anyway" },
		{ lists.at("--saturated-above"), tells, inTable },
		{ lists.at("--nan-above"), tells, inTable },
		{ lists.at("--lut-misses-above"), tells, inTable },
	});
}

} /* namespace */

Result<std::optional<int>> parseRunOptions(int argc, char **argv, RunSettings &settings,
					   TraceOptions &trace)
{
	CommandLine app{
		"Runs a neural network on an NVDLA (a hardware accelerator), and writes or prints "
		"its outputs.",
		"nvdla-run", "nvdla-run model.onnx --input cat.png --labels classes.txt --top 5"
	};
	Lists lists;

	app.footer(exitCodeHelp);
	addRunOptions(app, settings, lists);
	addTensorOptions(app, settings, lists);
	trace.addTo(app);
	if (const auto code = app.parse(argc, argv))
		return code;

	if (!settings.labels.empty() && !settings.top) {
		if (lists.at("--top").given())
			return fail(ErrorCode::InvalidArgument, "--top", "0",
				    "prints no number whose class --labels could name");
		settings.top = 1;
	}
	if (trace.isOn() && !lists.at("--device").given())
		settings.device = Device::embeddedPath;
	if (auto checked = trace.check(); !checked)
		return forward(checked);
	if (auto taken = takeLists(lists, settings); !taken)
		return forward(taken);
	if (auto checked = checkOptions(lists, settings); !checked)
		return forward(checked);
	return std::nullopt;
}

} /* namespace nvdla::tools */
