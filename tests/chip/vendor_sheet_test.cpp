/* SPDX-License-Identifier: MIT */
/*
 * The vendor's performance sheet: its layers built with the graph API, and predicted.
 *
 * Prints a table, layer by layer. What the sheet leaves out is left out where it is compared
 * (idealCycles()); how it counts is followed:
 *
 * - a 3x3 kernel of stride 1 is a Winograd one, whose output is rounded up to whole tiles (where no
 *   pooling follows: direct otherwise);
 * - a 1x1 kernel with a stride counts as one of 2x2;
 * - weights have the size that it says: it counts some Winograd weights before their
 *   transformation and some after it;
 * - a fully connected layer is in batches of 16, and counts for one of them, where the sheet's
 *   DRAM cycles are fewer than those of the weights;
 * - a KiB counts as 1000 bytes, so that 10 GB/s are 10.24 here.
 */
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nvdla/graph.h>

#include "chip/operation_work.h"
#include "reference_data.h"
#include "timing/chip.h"
#include "timing/operation_timing.h"
#include "timing/schedule.h"

using namespace nvdla;

namespace
{

constexpr uint32_t fullyConnectedBatch = 16;

/* A line of the sheet. */
struct SheetLayer {
	std::string name;
	bool fullyConnected = false;
	bool sum = false; /* an element-wise sum behind it */
	uint32_t c = 0, h = 0, w = 0;
	uint32_t k = 0, r = 0, s = 0;
	uint32_t strideY = 1, strideX = 1;
	uint32_t outH = 0, outW = 0;
	bool pool = false;
	uint32_t poolH = 0, poolW = 0, poolStrideY = 1, poolStrideX = 1;
	uint32_t pooledH = 0, pooledW = 0;
	double inputKib = 0;
	double weightKib = 0;
	double dramCycles = 0; /* of the bytes it counts, with DRAM only */
	double cycles = 0;     /* its result, with DRAM only */

	bool winograd() const
	{
		return r == 3 && s == 3 && strideX == 1 && c >= 16 && (!pool || outW % 4 == 0);
	}
	bool image() const { return c == 3; }
	/* DRAM takes 100 cycles for what it calls a KiB. */
	uint32_t images() const
	{
		return fullyConnected && dramCycles < 100 * weightKib ? fullyConnectedBatch : 1;
	}
};

uint32_t number(const std::string &text)
{
	return text.empty() ? 0 : static_cast<uint32_t>(std::stoul(text));
}

/* Lines that name the parts of others have no result. */
std::optional<SheetLayer> readLayer(const std::vector<std::string> &cells, size_t weights)
{
	const std::string result = cells.size() > 20 ? cells[cells.size() - 2] : "";
	if (result.empty() || !std::isdigit(result[0]) || cells[3].empty())
		return std::nullopt;
	SheetLayer layer = { .name = cells[1],
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
			     .inputKib = std::stod(cells[22]),
			     .weightKib = std::stod(cells[weights]),
			     .dramCycles = std::stod(cells[cells.size() - 4]),
			     .cycles = std::stod(result) };
	if (layer.r == 1 && layer.strideY > 1)
		layer.r = layer.s = 2;
	return layer;
}

std::vector<std::string> cellsOf(const std::string &line)
{
	std::istringstream stream(line);
	std::vector<std::string> cells;

	for (std::string cell; std::getline(stream, cell, ',');)
		cells.push_back(cell);
	return cells;
}

std::vector<SheetLayer> readSheet(const std::filesystem::path &path)
{
	std::ifstream file(path);
	std::vector<SheetLayer> layers;
	std::string line;

	std::getline(file, line);
	const std::vector<std::string> titles = cellsOf(line);
	const auto weights =
		static_cast<size_t>(std::ranges::find(titles, "Weight data size") - titles.begin());
	while (std::getline(file, line))
		if (const auto layer = readLayer(cellsOf(line), weights))
			layers.push_back(*layer);
	return layers;
}

/* Padding that makes \a out windows of \a in, one side first. */
uint32_t padding(uint32_t in, uint32_t kernel, uint32_t stride, uint32_t out)
{
	const uint32_t needed = (out - 1) * stride + kernel;

	return needed > in ? needed - in : 0;
}

Graph build(const SheetLayer &layer)
{
	const uint32_t tile = layer.winograd() ? 4 : 1;
	const uint32_t outH = (layer.outH + tile - 1) / tile * tile;
	const uint32_t outW = (layer.outW + tile - 1) / tile * tile;
	const uint32_t padH = padding(layer.h, layer.r, layer.strideY, outH);
	const uint32_t padW = padding(layer.w, layer.s, layer.strideX, outW);
	/* Some images have a fourth channel of padding. */
	const uint32_t c =
		layer.image() && layer.inputKib * 1024 > 3.5 * layer.h * layer.w ? 4 : layer.c;
	const size_t weights = size_t{ layer.k } * c * layer.r * layer.s;
	Graph graph;

	Surface input = {
		.name = "x", .type = DataType::Int8, .c = layer.c, .h = layer.h, .w = layer.w
	};
	if (layer.image()) {
		input = { .name = "x",
			  .h = layer.h,
			  .w = layer.w,
			  .format = c == 4 ? PixelFormat::A8B8G8R8 : PixelFormat::Y8U8V8N444 };
	}
	if (layer.images() > 1) {
		input.n = layer.images();
		input.lineStride = layer.w * 32;
		input.surfaceStride = layer.w * layer.h * 32;
	}
	graph.input(input);
	graph.weights({ .name = "w",
			.k = layer.k,
			.c = c,
			.r = layer.r,
			.s = layer.s,
			.elements = { DataType::Int8, std::vector<std::byte>(weights) } });
	graph.add(op::Convolution{
		.name = "conv",
		.input = "x",
		.weights = "w",
		.output = "sums",
		.stride = { layer.strideX, layer.strideY },
		.padding = { padW / 2, padW - padW / 2, padH / 2, padH - padH / 2 },
		.winograd = layer.winograd() });
	op::Sdp sdp = { .name = "relu", .input = "sums", .output = "y" };
	sdp.x1 = op::SdpUnit{ .activation = op::Activation::Relu };
	if (layer.sum) {
		graph.input({ .name = "e",
			      .type = DataType::Int8,
			      .c = layer.k,
			      .h = outH,
			      .w = outW });
		sdp.x1->alu = op::Alu::Sum;
		sdp.x1->operands = "e";
	}
	if (layer.images() > 1)
		graph.surface({ .name = "y", .lineStride = 32, .surfaceStride = 32 });
	graph.add(sdp);
	if (!layer.pool) {
		graph.output("y");
		return graph;
	}
	const uint32_t below = padding(outH, layer.poolH, layer.poolStrideY, layer.pooledH);
	const uint32_t right = padding(outW, layer.poolW, layer.poolStrideX, layer.pooledW);
	graph.surface({ .name = "y", .place = Place::Stream });
	graph.add(op::Pooling{ .name = "pool",
			       .input = "y",
			       .output = "z",
			       .kernel = { layer.poolW, layer.poolH },
			       .stride = { layer.poolStrideX, layer.poolStrideY },
			       .padding = { 0, right, 0, below } });
	graph.output("z");
	return graph;
}

/* Cycles for one image, each with one more of what is real. */
struct Predicted {
	double ideal = 0; /* as the sheet counts */
	double steps =
		0; /* whole MAC steps: lanes and kernels that nothing is for take time, too */
	double noLatency = 0; /* the model, with a memory that answers at once */
	double real = 0;      /* with 100 ns of latency */

	Predicted &operator+=(const Predicted &other)
	{
		ideal += other.ideal;
		steps += other.steps;
		noLatency += other.noLatency;
		real += other.real;
		return *this;
	}
};

double endOf(const std::vector<sim::ScheduledWork> &list, const sim::TimingParameters &parameters)
{
	double end = 0;

	for (const sim::ScheduledTime &time : sim::schedule(list, parameters))
		end = std::max(end, time.end);
	return end;
}

Result<Predicted> predictLayer(const SheetLayer &layer)
{
	auto loadable = build(layer).assemble();
	if (!loadable)
		return forward(loadable);
	auto tasks = tasksInOrder(*loadable);
	if (!tasks)
		return forward(tasks);
	sim::Chip sheet;
	sheet.dram = 10.24e9;
	sheet.dramLatency = 0;
	sim::Chip far = sheet;
	far.dramLatency = 100e-9;
	const sim::TimingParameters parameters = sheet.parameters();
	Predicted all;
	double macs = 0;
	double bytes = 0;
	for (const AnyTask &task : *tasks) {
		auto works = chip::taskWork(*loadable, std::get<DlaTask>(task));
		if (!works)
			return forward(works);
		std::vector<sim::ScheduledWork> list;
		for (const chip::FusedWork &fused : *works) {
			list.push_back({ fused.work, fused.after });
			if (!fused.work.conv)
				continue;
			const sim::ConvWork &conv = *fused.work.conv;
			const sim::Traffic traffic = fused.work.traffic().mc;
			macs += static_cast<double>(conv.macs()) /
				static_cast<double>(conv.multipliers());
			bytes += static_cast<double>(traffic.total() - conv.weightBytes);
			all.steps += std::max(
				static_cast<double>(
					sim::timeOperation(fused.work, parameters).macCycles),
				parameters.mc.cycles(traffic));
		}
		all.noLatency += endOf(list, parameters);
		all.real += endOf(list, far.parameters());
	}
	bytes += layer.weightKib * 1024;
	all.ideal = std::max(macs, bytes / parameters.mc.sharedBytesPerCycle);
	return Predicted{ all.ideal / layer.images(), all.steps / layer.images(),
			  all.noLatency / layer.images(), all.real / layer.images() };
}

class VendorSheet : public testing::TestWithParam<const char *>
{
};

TEST_P(VendorSheet, IsMetUnderItsIdealisations)
{
	const auto path = nvdla::test::referenceData() / "reference" / "vendor-performance" /
			  (std::string(GetParam()) + ".csv");
	if (!std::filesystem::exists(path))
		GTEST_SKIP() << "there is no " << path
			     << " (set NVDLA_REFERENCE_DATA to its folder)";
	const std::vector<SheetLayer> layers = readSheet(path);
	ASSERT_GT(layers.size(), 8U);
	double sheet = 0;
	Predicted all;

	fmt::print("| {} | sheet | as it counts | ratio | whole MAC steps | the model | 100 ns of "
		   "latency |\n"
		   "|---|---|---|---|---|---|---|\n",
		   GetParam());
	for (const SheetLayer &layer : layers) {
		const auto predicted = predictLayer(layer);
		ASSERT_TRUE(predicted) << layer.name << ": " << predicted.error().message();
		sheet += layer.cycles;
		all += *predicted;
		fmt::print("| {} | {:.0f} | {:.0f} | {:.2f} | {:.0f} | {:.0f} | {:.0f} |\n",
			   layer.name, layer.cycles, predicted->ideal,
			   predicted->ideal / layer.cycles, predicted->steps, predicted->noLatency,
			   predicted->real);
	}
	fmt::print(
		"| **sum, ms at 1 GHz** | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |\n",
		sheet / 1e6, all.ideal / 1e6, all.ideal / sheet, all.steps / 1e6,
		all.noLatency / 1e6, all.real / 1e6);
	EXPECT_NEAR(all.ideal / sheet, 1, 0.05);
	EXPECT_GT(all.steps, all.ideal) << "what is real costs something";
	EXPECT_GT(all.noLatency, all.steps);
	EXPECT_GT(all.real, all.noLatency);
}

INSTANTIATE_TEST_SUITE_P(Networks, VendorSheet, testing::Values("alexnet", "googlenet", "resnet50"),
			 [](const auto &info) { return std::string(info.param); });

} /* namespace */
