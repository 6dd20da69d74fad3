/* SPDX-License-Identifier: MIT */
/*
 * chip-sheet: the timing model beside the vendor's performance sheet, as tables in Markdown.
 */
#include <cstdio>
#include <string>

#include <fmt/core.h>

#include "command-line/command_line.h"
#include "vendor_prediction.h"

namespace
{

using namespace nvdla;
using namespace nvdla::test;

constexpr const char *columns =
	"sheet | as the sheet counts | ratio | whole MAC steps | the model | "
	"with latency |\n|---|---|---|---|---|---|---|\n";

void printLine(const std::string &name, double sheet, const PredictedLayer &predicted, double unit,
	       int digits)
{
	fmt::print("| {} | {:.{}f} | {:.{}f} | {:.2f} | {:.{}f} | {:.{}f} | {:.{}f} |\n", name,
		   sheet / unit, digits, predicted.ideal / unit, digits, predicted.ideal / sheet,
		   predicted.steps / unit, digits, predicted.noLatency / unit, digits,
		   predicted.real / unit, digits);
}

/* A line for each layer, or one with their sums. */
Result<void> printNetwork(const Sheet &sheet, bool onChip, bool layers)
{
	PredictedLayer all;
	double cycles = 0;

	for (const SheetLayer &layer : sheet.layers) {
		const double expected = onChip ? layer.onChipCycles : layer.cycles;
		auto predicted = predictLayer(layer, onChip);
		if (!predicted)
			return forward(predicted);
		all += *predicted;
		cycles += expected;
		if (layers)
			printLine(layer.name, expected, *predicted, 1, 0);
	}
	if (!layers)
		printLine(sheet.name, cycles, all, 1e6, 3);
	return {};
}

Result<void> printTable(const std::string &folder, const std::vector<std::string> &names,
			bool onChip, bool layers)
{
	fmt::print("| {} | {}", layers ? "cycles" : "ms per image at 1 GHz", columns);
	for (const std::string &name : names) {
		const auto sheet = readSheet(folder, name);
		if (!sheet)
			return fail(ErrorCode::InvalidArgument, "read sheet", folder,
				    fmt::format("has no {}.csv", name));
		if (auto printed = printNetwork(*sheet, onChip, layers); !printed)
			return printed;
	}
	return {};
}

} /* namespace */

int main(int argc, char **argv)
{
	CommandLine app{ "Compares predicted times of three networks with NVIDIA's performance "
			 "sheet, in Markdown tables. Documentation/chip.md explains the columns.",
			 "chip-sheet", "chip-sheet reference/vendor-performance/" };
	std::string folder;
	std::string network;
	bool onChip = false;

	app.option("folder", folder,
		   "folder with the sheet's tables: alexnet.csv, googlenet.csv and resnet50.csv")
		.required();
	app.option("--layers", network,
		   "print a row for each layer of this network, in cycles: alexnet, googlenet or "
		   "resnet50; default: a row for each of the three networks, in ms")
		.valueText("NETWORK");
	app.flag("--on-chip", onChip,
		 "predict for a chip with 4 MiB of on-chip memory; default: system memory (DRAM) "
		 "only");
	if (const auto code = app.parse(argc, argv))
		return *code;

	const std::vector<std::string> names =
		network.empty() ? std::vector<std::string>{ "alexnet", "googlenet", "resnet50" }
				: std::vector{ network };
	if (auto done = printTable(folder, names, onChip, !network.empty()); !done) {
		fmt::print(stderr, "chip-sheet: {}\n", done.error().message());
		return 1;
	}
	return 0;
}
