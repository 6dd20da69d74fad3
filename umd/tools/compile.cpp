/* SPDX-License-Identifier: MIT */
/*
 * nvdla-compile: make a loadable of a model.
 */
#include <cstdio>

#include <fmt/core.h>
#include <nvdla/compiler.h>

#include "command-line/command_line.h"
#include "exit_code.h"
#include "io/file.h"

namespace
{

using namespace nvdla;
using namespace nvdla::tools;

enum class ReportFormat { None, Text, Json };

struct CompileSettings {
	std::string model;
	std::string output;
	ReportFormat report = ReportFormat::None;
};

Result<void> compile(const CompileSettings &settings)
{
	auto compiled = compileFile(settings.model);
	if (!compiled)
		return forward(compiled);
	auto bytes = compiled->loadable.write();
	if (!bytes)
		return forward(bytes);
	if (auto written = writeWholeFile(settings.output, *bytes); !written)
		return written;
	if (settings.report == ReportFormat::Text)
		fmt::print("{}", toText(compiled->report));
	else if (settings.report == ReportFormat::Json)
		fmt::print("{}", toJson(compiled->report));
	return {};
}

} /* namespace */

int main(int argc, char **argv)
{
	CommandLine app{ "Compiles a TensorFlow Lite or ONNX model into an NVDLA loadable.",
			 "nvdla-compile" };
	CompileSettings settings;

	app.footer(exitCodeHelp);
	app.option("MODEL", settings.model, "the model, .tflite or .onnx").required();
	app.option("-o,--output", settings.output, "the loadable to write").required();
	app.choice("--report", settings.report,
		   { { "text", ReportFormat::Text }, { "json", ReportFormat::Json } },
		   "print what became of each layer");
	if (const auto code = app.parse(argc, argv))
		return *code;
	if (auto done = compile(settings); !done) {
		fmt::print(stderr, "nvdla-compile: {}\n", done.error().message());
		return exitCode(done.error().code);
	}
	return 0;
}
