/* SPDX-License-Identifier: MIT */
/*
 * nvdla-info: prints the contents of a loadable, which may be compiled from a model first; or a
 * core dump of the driver with the names of registers.
 */
#include <cstdio>

#include <fmt/core.h>
#include <nvdla/loadable_json.h>

#include "base/io/file.h"
#include "command-line/chip_options.h"
#include "command-line/command_line.h"
#include "dump.h"
#include "graph/chip/prediction.h"
#include "loadable/inspect/graph_picture.h"
#include "loadable/inspect/loadable_text.h"
#include "loadable/inspect/network_graph.h"
#include "network_file.h"
#include "program.h"
#include "tools/prof/prediction_table.h"

namespace
{

using namespace nvdla;

enum class Format { Text, Json, Dot, Svg };

struct Settings {
	tools::NetworkFile network;
	std::string dump;
	std::string output;
	Format format = Format::Text;
	bool json = false;
	bool chip = false;
	ChipOptions chipOptions;
};

Result<std::string> drawGraph(const Loadable &loadable, const Settings &settings)
{
	const std::string name = settings.network.name();
	auto graph = inspect::networkGraph(loadable);
	if (!graph)
		return forward(graph);
	if (settings.format == Format::Dot)
		return inspect::graphDot(*graph, name);
	if (graph->nodes.size() > inspect::maxPictureNodes)
		return fail(ErrorCode::Unsupported, "draw graph", settings.network.path,
			    fmt::format("has {} nodes, but a drawing at most {}; use --format dot",
					graph->nodes.size(), inspect::maxPictureNodes));
	return inspect::graphSvg(*graph, name);
}

Result<std::string> predict(const Loadable &loadable, const Settings &settings)
{
	auto prediction =
		chip::predict(loadable, settings.chipOptions.chip(), settings.network.name());
	if (!prediction)
		return forward(prediction);
	return chip::predictionTable(*prediction);
}

Result<std::string> describe(const Settings &settings)
{
	if (!settings.dump.empty())
		return tools::readDump(settings.dump);
	auto network = tools::readNetwork(settings.network.onChip(settings.chipOptions));
	if (!network)
		return forward(network);
	const Loadable &loadable = network->loadable;
	if (settings.chip)
		return predict(loadable, settings);
	switch (settings.json ? Format::Json : settings.format) {
	case Format::Text:
		return inspect::loadableText(loadable, settings.network.path);
	case Format::Json:
		return loadableToJson(loadable);
	case Format::Dot:
	case Format::Svg:
		break;
	}
	return drawGraph(loadable, settings);
}

/* Refuses an output file whose name ends in .svg, .dot or .json if another format is written. */
Result<void> checkName(const Settings &settings)
{
	constexpr std::pair<const char *, Format> kinds[] = { { ".svg", Format::Svg },
							      { ".dot", Format::Dot },
							      { ".json", Format::Json } };

	for (const auto &[suffix, format] : kinds) {
		const Format written = settings.json ? Format::Json : settings.format;
		const bool isChosen = settings.chip || !settings.dump.empty();
		if (settings.output.ends_with(suffix) && (written != format || isChosen))
			return fail(
				ErrorCode::InvalidArgument, "--output", settings.output,
				fmt::format("ends in {}, but would have other contents; ", suffix) +
					(isChosen ? ""
						  : fmt::format("add --format {}, or ",
								suffix + 1)) +
					"choose another name");
	}
	return {};
}

Result<void> run(const Settings &settings)
{
	if (auto named = checkName(settings); !named)
		return named;
	auto text = describe(settings);
	if (!text)
		return forward(text);
	if (!settings.output.empty())
		return tools::writeOrPrint(settings.output, std::as_bytes(std::span(*text)));
	fmt::print("{}", *text);
	return {};
}

} /* namespace */

int main(int argc, char **argv)
{
	return tools::runProgram("nvdla-info", [&]() -> Result<int> {
		CommandLine app{
			"Prints the contents of a neural network that is compiled for NVDLA, a "
			"hardware accelerator: tensors, blocks of memory and operations.",
			"nvdla-info", "nvdla-info net.nvdla --format svg -o net.svg"
		};
		Settings settings;

		app.footer(tools::exitCodeHelpWithoutDevice);
		tools::NetworkOptions network;
		network.addTo(app, "nv_full");
		auto format = app.choice<Format>(
			"--format", settings.format,
			{ { "text", Format::Text },
			  { "json", Format::Json },
			  { "dot", Format::Dot },
			  { "svg", Format::Svg } },
			"what to print. text (the default): inputs, outputs, blocks of memory and "
			"operations (an operation is the work of one engine, a unit of NVDLA); "
			"json: everything in the loadable, as nvdla-convert writes it; dot: the "
			"graph of the operations for Graphviz; svg: this graph as a drawing");
		auto json = app.flag("--json", settings.json, "the same as --format json")
				    .excludes(format);
		app.option("-o,--output", settings.output,
			   "write to this file instead of printing; - is standard output. A name "
			   "that ends in .json needs --format json, .dot needs --format dot, and "
			   ".svg needs --format svg")
			.valueText("FILE")
			.outputFile();
		const auto chip =
			app.flag("--chip", settings.chip,
				 "print only the predicted time of each operation on the chip that "
				 "the following options describe; a model is first compiled for "
				 "this chip")
				.excludes(format)
				.excludes(json);
		settings.chipOptions.addTo(app,
					   [&](CommandLineOption option) { option.needs(chip); });
		const auto dump =
			app.option("--dump", settings.dump,
				   "in place of a network, print the register values that this "
				   "file has, with the names of the registers in place of their "
				   "byte offsets. The file is either the dump that the kernel "
				   "driver makes when a run fails "
				   "(/sys/class/devcoredump/devcd*/data), or, while the NVDLA "
				   "runs, /sys/kernel/debug/accel/DEVICE/registers, where DEVICE "
				   "is its address on the bus, such as 0000:00:04.0. Only root may "
				   "read these files")
				.valueText("FILE")
				.inputFile()
				.excludes(format)
				.excludes(json)
				.excludes(chip);
		if (const auto code = app.parse(argc, argv))
			return *code;

		if (dump.given()) {
			for (const CommandLineOption &option : network.all())
				if (option.given())
					return tools::finished(fail(
						ErrorCode::InvalidArgument, "show core dump",
						option.name(), "is for networks, not for --dump"));
			return tools::finished(run(settings));
		}
		return tools::finished(network.file().and_then([&](tools::NetworkFile file) {
			settings.network = std::move(file);
			return run(settings);
		}));
	});
}
