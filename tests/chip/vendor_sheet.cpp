/* SPDX-License-Identifier: MIT */
#include "vendor_sheet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

namespace nvdla::test
{

namespace
{

/* What a network is called, and images that the sheet fetches weights for with 4 MiB on the chip.
 */
struct Network {
	std::string_view file;
	std::string_view name;
	std::array<double, 2> images;
};

constexpr Network networks[] = {
	{ "alexnet", "AlexNet", { 18, 16 } },
	{ "googlenet", "GoogLeNet", { 6, 11 } },
	{ "resnet50", "ResNet-50", { 1, 16 } },
};

using Cells = std::vector<std::string>;

uint32_t number(const std::string &text)
{
	return text.empty() ? 0 : static_cast<uint32_t>(std::stoul(text));
}

/* A column's place, by the end of its title: some say CVSRAM, others SRAM. */
size_t column(const Cells &titles, std::string_view title)
{
	return static_cast<size_t>(
		std::ranges::find_if(titles, [&](const auto &t) { return t.ends_with(title); }) -
		titles.begin());
}

/*
 * The sheet has sums of KiB: find what is in them. Which of two tensors of one size it is does not
 * matter to a memory.
 */
void findDramTraffic(SheetLayer &layer, double kib, const std::array<double, 2> &images)
{
	double nearest = std::abs(kib) + 1e-9;

	for (unsigned int set = 1; set < 16; set++) {
		const SheetTraffic traffic = { .input = (set & 1) != 0,
					       .weights = (set & 2) != 0,
					       .output = (set & 4) != 0,
					       .operand = (set & 8) != 0 };
		if (traffic.operand && !layer.sum)
			continue;
		for (const double count : images) {
			const double sum = traffic.input * layer.inputKib +
					   traffic.weights * layer.weightKib / count +
					   traffic.output * layer.outputKib +
					   traffic.operand * layer.outputKib;
			if (std::abs(sum - kib) >= nearest)
				continue;
			nearest = std::abs(sum - kib);
			layer.dram = traffic;
			layer.imagesOfWeights = count;
		}
	}
}

/* Lines that name the parts of others have no result. */
std::optional<SheetLayer> readLayer(const Cells &cells, const Cells &titles,
				    const std::array<double, 2> &images)
{
	const std::string result = cells.size() > 20 ? cells[cells.size() - 2] : "";
	if (result.empty() || !std::isdigit(result[0]) || cells[3].empty())
		return std::nullopt;
	const auto value = [&](std::string_view title) {
		return std::stod(cells[column(titles, title)]);
	};
	SheetLayer layer = {
		.name = cells[1],
		.fullyConnected = cells[2] == "fc",
		.sum = cells[2].find("elwise") != std::string::npos,
		.c = number(cells[3]),
		.h = number(cells[4]),
		.w = number(cells[5]),
		.k = number(cells[6]),
		.r = number(cells[7]),
		.s = number(cells[8]),
		.strideY = number(cells[10]),
		.strideX = number(cells[11]),
		.outH = number(cells[12]),
		.outW = number(cells[13]),
		.pool = cells[14] == "1",
		.poolH = number(cells[15]),
		.poolW = number(cells[16]),
		.poolStrideY = number(cells[17]),
		.poolStrideX = number(cells[18]),
		.pooledH = number(cells[19]),
		.pooledW = number(cells[20]),
		.inputKib = value("Input data size"),
		.outputKib = value("Output data size"),
		.weightKib = std::stod(cells[static_cast<size_t>(
			std::ranges::find(titles, "Weight data size") - titles.begin())]),
		.dramCycles = std::stod(cells[cells.size() - 4]),
		.cycles = std::stod(result),
		.onChipCycles = value("MAX Cycles")
	};
	if (layer.stridedPoint())
		layer.r = layer.s = 2;
	findDramTraffic(layer, value("DRAM Traffic"), images);
	const double read = value("SRAM Read Traffic");
	layer.sram = { .input = read >= 0.9 * layer.inputKib &&
				std::abs(read - layer.weightKib) > 1e-6,
		       .weights = read > 0 && read >= 0.999 * layer.weightKib &&
				  read > 1.05 * layer.inputKib,
		       .output = value("RAM Write Traffic") > 0,
		       .operand = layer.sum && !layer.dram.operand };
	return layer;
}

Cells cellsOf(const std::string &line)
{
	std::istringstream stream(line);
	Cells cells;

	for (std::string cell; std::getline(stream, cell, ',');)
		cells.push_back(cell);
	return cells;
}

} /* namespace */

std::optional<Sheet> readSheet(const std::filesystem::path &folder, const std::string &name)
{
	const auto network = std::ranges::find(networks, name, &Network::file);
	std::ifstream file(folder / (name + ".csv"));
	Sheet sheet;
	std::string line;

	if (network == std::end(networks) || !std::getline(file, line))
		return std::nullopt;
	const Cells titles = cellsOf(line);
	sheet.name = network->name;
	while (std::getline(file, line))
		if (auto layer = readLayer(cellsOf(line), titles, network->images))
			sheet.layers.push_back(std::move(*layer));
	return sheet;
}

} /* namespace nvdla::test */
