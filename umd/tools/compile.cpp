/* SPDX-License-Identifier: MIT */
/*
 * nvdla-compile: compiles a model to a loadable.
 */
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fmt/core.h>
#include <nvdla/compiler.h>

#include "base/io/file.h"
#include "command-line/chip_options.h"
#include "command-line/command_line.h"
#include "compiler/option_names.h"
#include "loadable/half_use.h"
#include "program.h"
#include "samples.h"
#include "scaling_options.h"
#include "strategy_options.h"
#include "tools/report/model_report.h"

namespace
{

using namespace nvdla;
using namespace nvdla::tools;

struct CompileSettings {
	std::string model;
	std::string output;
	std::optional<report::ReportFormat> report;
	std::string reportFile;
	ChipOptions chip;
	StrategyOptions strategy;
	DataType precision = DataType::Unknown; /* value of --precision; Unknown: not given */
	std::vector<std::string> samples;
	std::string table;
	ScalingOptions scaling;
	Calibration calibration;
	bool keepsBias = false;
	std::vector<CommandLineOption> ofSamples; /* options that need --calibrate */
	std::vector<CommandLineOption> ofRanges;  /* options that need ranges from samples */
	std::vector<CommandLineOption> percentile;
	std::vector<CommandLineOption> ofChip;
};

Result<void> checkEffects(const std::vector<CommandLineOption> &options, bool hasEffect,
			  const char *without)
{
	for (const CommandLineOption &option : options) {
		if (auto used = checkUses({ { option, hasEffect, without } }); !used)
			return used;
	}
	return {};
}

/*
 * Returns whether only the chip's clock was given. The clock alone changes no choice of the
 * strategy, because the speeds of the default chip's memories are given per clock cycle.
 */
bool isClockOnly(const ChipOptions &chip)
{
	const auto given = chip.values();

	return given.size() == 1 && given.front().first == "clock";
}

Result<void> checkOptions(const CompileSettings &settings)
{
	const bool hasSamples = !settings.samples.empty();

	if (settings.report && settings.output == "-" &&
	    (settings.reportFile.empty() || settings.reportFile == "-"))
		return fail(ErrorCode::InvalidArgument, "--report", "",
			    "goes to standard output, as the loadable does (-o -); name a file "
			    "with --report-file");
	auto done = checkEffects(settings.ofSamples, hasSamples, "--calibrate");

	if (done)
		done = checkEffects(settings.ofRanges, hasSamples && settings.table.empty(),
				    "--calibrate, or with --calibration-table");
	if (done)
		done = checkEffects(settings.percentile,
				    settings.calibration.method == RangeMethod::Percentile,
				    "--ranges percentile");
	if (done)
		done = checkEffects(settings.scaling.all(), hasPictures(settings.samples),
				    "pictures among the samples of --calibrate");
	if (done)
		done = checkEffects(settings.ofChip,
				    settings.report.has_value() || !isClockOnly(settings.chip),
				    "--report");
	return done;
}

bool calibrates(const CompileSettings &settings)
{
	return !settings.samples.empty() || !settings.table.empty();
}

Result<void> checkPrecision(const CompileSettings &settings)
{
	const bool integers =
		settings.precision == DataType::Int8 || settings.precision == DataType::Int16;

	if (integers && !calibrates(settings))
		return fail(ErrorCode::InvalidArgument, "compile", "--precision",
			    "int8 and int16 need --calibrate with examples of inputs, or "
			    "--calibration-table");
	if (settings.precision == DataType::Half && calibrates(settings))
		return fail(
			ErrorCode::InvalidArgument, "compile", "--precision",
			"fp16 excludes --calibrate and --calibration-table, which make integers");
	return {};
}

/* Returns the calibration that the options ask for; nothing if the model is not calibrated. */
Result<std::optional<Calibration>> calibrationOf(const CompileSettings &settings,
						 std::span<const std::byte> model,
						 std::span<const InputShape> shapes)
{
	Calibration calibration = settings.calibration;

	if (auto checked = checkPrecision(settings); !checked)
		return forward(checked);
	if (!calibrates(settings))
		return std::nullopt;
	if (!settings.table.empty()) {
		auto table = readCalibrationTable(settings.table);
		if (!table)
			return forward(table);
		calibration.table = std::move(*table);
	}
	if (!settings.samples.empty()) {
		auto samples = modelInputs(model, shapes).and_then([&](auto &&inputs) {
			return readSamples(calibration, settings.samples, inputs,
					   settings.scaling.scaling().value_or(PixelScaling{}));
		});
		if (!samples)
			return forward(samples);
	}
	calibration.correctBias = !settings.keepsBias;
	if (settings.precision == DataType::Int16)
		calibration.type = DataType::Int16;
	return calibration;
}

Result<CompileOptions> compileOptions(const CompileSettings &settings,
				      std::span<const std::byte> model)
{
	auto options = settings.strategy.options(settings.chip.values());
	if (!options)
		return options;
	if (auto checked = checkSram(*options); !checked)
		return forward(checked);
	auto calibration = calibrationOf(settings, model, options->shapes);
	if (!calibration)
		return forward(calibration);
	options->calibration = std::move(*calibration);
	return options;
}

Result<void> writeReport(const CompileSettings &settings, CompiledModel model,
			 report::NodeNames nodes)
{
	const std::string name = std::filesystem::path(settings.model).filename().string();
	auto report =
		report::reportOf(std::move(model), settings.chip.chip(), name, std::move(nodes));
	if (!report)
		return forward(report);
	auto text = report::formatted(*report, *settings.report);
	if (!text)
		return forward(text);
	if (!settings.reportFile.empty())
		return writeOrPrint(settings.reportFile, std::as_bytes(std::span(*text)));
	fmt::print("{}", *text);
	return {};
}

Result<void> compile(const CompileSettings &settings)
{
	auto model = readModelFile(settings.model);
	if (!model)
		return forward(model);
	auto options = compileOptions(settings, *model);
	if (!options)
		return forward(options);
	auto compiled = compileModel(*model, *options);
	if (!compiled) {
		compiled.error().where =
			fmt::format("{}: {}", settings.model, compiled.error().where);
		return forward(compiled);
	}
	if (settings.precision == DataType::Half) {
		if (auto floats = checkComputesHalf(compiled->loadable); !floats)
			return fail(floats.error().code, "--precision", settings.model,
				    floats.error().why);
	}
	if (options->calibration)
		storeScaling(compiled->loadable, options->calibration->extremes,
			     settings.scaling.scaling().value_or(PixelScaling{}));
	auto nodes = settings.report ? report::nodeNames(*model) : report::NodeNames{};
	/* Free the model's file, because write() makes another copy of the constants. */
	std::vector<std::byte>().swap(*model);
	auto bytes = compiled->loadable.write();
	if (!bytes)
		return forward(bytes);
	if (auto written = writeOrPrint(settings.output, *bytes); !written)
		return written;
	if (!settings.report)
		return {};
	return writeReport(settings, std::move(*compiled), std::move(nodes));
}

void addReport(CommandLine &app, CompileSettings &settings)
{
	std::vector<std::pair<std::string, std::optional<report::ReportFormat>>> formats;

	for (const auto &[name, format] : report::reportFormats())
		formats.emplace_back(name, format);
	const auto report = app.choice(
		"--report", settings.report, formats,
		"print a report. text, json: for each layer of the model its operations (an "
		"operation is the work of one engine, a unit of NVDLA), their predicted time on "
		"the chip that --clock, --dram, ... describe, and, after calibration, how far the "
		"layer's results are from those of the float model. svg: a drawing of the model's "
		"graph, of the graph of operations and of the use of memory. html: a page with all "
		"of these");
	app.option("--report-file", settings.reportFile,
		   "write the report to this file instead of printing it")
		.valueText("FILE")
		.outputFile()
		.needs(report);
}

void addCalibration(CommandLine &app, CompileSettings &settings)
{
	app.choice("--precision", settings.precision, precisionNames(),
		   "type in which a float model is computed. Without calibration: fp16. With "
		   "--calibrate or --calibration-table: int8 (the default) or int16");
	app.option("--calibrate", settings.samples,
		   "compile a float model to integers: choose the scale of each tensor from these "
		   "examples of inputs. A FILE is a picture, an array (.npy) with one or more "
		   "examples, or a folder, which stands for all its pictures and arrays, sorted "
		   "by name. If the model has "
		   "several inputs, their files alternate: a1 b1 a2 b2 for two examples of the "
		   "inputs a and b. All arguments up to the next option are examples, so MODEL "
		   "stands before --calibrate or after another option")
		.valueText("FILE ...")
		.inputFile();
	app.option("--calibration-table", settings.table,
		   "compile a float model to integers, with the scales of this file: a calibration "
		   "table of NVIDIA's compiler (JSON) or a calibration cache of TensorRT. If "
		   "--calibrate is also given, its examples only correct the biases, and serve "
		   "for the comparison in the report")
		.valueText("FILE")
		.inputFile();
	settings.ofRanges.push_back(app.choice(
		"--ranges", settings.calibration.method, rangeNames(),
		"how --calibrate chooses the range of a tensor: minmax (the default): all numbers "
		"that occur; percentile: all but the few most extreme numbers at each end; "
		"entropy: the range with which quantization changes the distribution of the "
		"numbers least; powers-of-two: all numbers, with a scale that is rounded up to a "
		"power of two (fixed-point numbers)"));
	settings.percentile.push_back(app.option("--percentile", settings.calibration.percentile,
						 "with --ranges percentile: the range of a tensor "
						 "ends at this percentile of its numbers, and "
						 "begins at the percentile 100 - NUMBER")
					      .range(50.0, 100.0)
					      .showDefault());
	settings.ofSamples.push_back(
		app.flag("--keep-bias", settings.keepsBias,
			 "with --calibrate, keep the model's biases; otherwise they change to "
			 "compensate for the rounding of the weights"));
	settings.scaling.addTo(app, "the pictures of --calibrate",
			       "; the loadable stores both, and other programs convert pictures in "
			       "the same way");
}

} /* namespace */

int main(int argc, char **argv)
{
#ifdef __GLIBC__
	/*
	 * malloc() takes blocks above this threshold directly from the system, and free() returns
	 * them at once. By default glibc raises the threshold up to 32 MiB. Freed constants then
	 * leave holes between small blocks, which are not returned to the system.
	 */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
	return runProgram("nvdla-compile", [&]() -> Result<int> {
		CommandLine app{
			"Compiles a model of TensorFlow Lite, ONNX or Caffe into a loadable, which "
			"nvdla-run and other programs run on NVDLA, a hardware accelerator. "
			"--report and --strategy use predicted times on a chip; --clock, "
			"--dram, ... describe this chip.",
			"nvdla-compile",
			"nvdla-compile model.onnx -o net.nvdla --calibrate pictures/ --precision "
			"int8"
		};
		CompileSettings settings;

		app.footer(exitCodeHelpWithoutDevice);
		app.option("MODEL", settings.model,
			   "the model: a .tflite, .onnx or, for Caffe, .prototxt file with its "
			   ".caffemodel beside it")
			.valueText("FILE")
			.inputFile()
			.required();
		app.option("-o,--output", settings.output,
			   "the loadable to write; - is standard output")
			.valueText("FILE")
			.outputFile()
			.required();
		addReport(app, settings);
		settings.chip.addTo(app, [&](const CommandLineOption &option) {
			settings.ofChip.push_back(option);
		});
		settings.strategy.addTo(app, "nv_full", true);
		addCalibration(app, settings);
		if (const auto code = app.parse(argc, argv))
			return *code;
		if (auto checked = checkOptions(settings); !checked)
			return forward(checked);
		return finished(compile(settings));
	});
}
