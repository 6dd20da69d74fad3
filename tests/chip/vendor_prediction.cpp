/* SPDX-License-Identifier: MIT */
#include "vendor_prediction.h"

#include <algorithm>

#include <nvdla/graph.h>

#include "graph/prediction/task_work.h"
#include "timing/chip.h"
#include "timing/schedule.h"

namespace nvdla::test
{

namespace
{

/* Padding that makes \a out windows of \a in, one side first. */
uint32_t padding(uint32_t in, uint32_t kernel, uint32_t stride, uint32_t out)
{
	const uint32_t needed = (out - 1) * stride + kernel;

	return needed > in ? needed - in : 0;
}

Graph build(const SheetLayer &layer, uint32_t images)
{
	const uint32_t tile = layer.winograd() ? 4 : 1;
	const uint32_t outH = (layer.outH + tile - 1) / tile * tile;
	const uint32_t outW = (layer.outW + tile - 1) / tile * tile;
	const uint32_t padH = padding(layer.h, layer.r, layer.strideY, outH);
	const uint32_t padW = padding(layer.w, layer.s, layer.strideX, outW);
	const uint32_t c = layer.fourChannels() ? 4 : layer.c;
	const size_t weights = size_t{ layer.k } * c * layer.r * layer.s;
	Graph graph;

	Surface input = { .name = "x", .h = layer.h, .w = layer.w };
	if (layer.image()) {
		input.format = c == 4 ? PixelFormat::A8B8G8R8 : PixelFormat::Y8U8V8N444;
	} else {
		input.type = DataType::Int8;
		input.c = layer.c;
	}
	if (images > 1) {
		input.n = images;
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
	if (images > 1)
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

/* The work of a layer, and bytes that are copied between the memories meanwhile. */
struct LayerWork {
	std::vector<sim::ScheduledWork> list;
	double copiedBytes = 0;
};

void moveWrites(sim::MemoryTraffic &traffic)
{
	traffic.cv.writeBytes += traffic.mc.writeBytes;
	traffic.mc.writeBytes = 0;
}

/* To where the sheet has the data of a layer. */
void place(const SheetLayer &layer, sim::OperationWork &work)
{
	if (work.conv && layer.sram.input)
		work.conv->dataRam = sim::RamType::Cv;
	if (work.conv && layer.sram.weights)
		work.conv->weightRam = sim::RamType::Cv;
	if (work.sdp && layer.sram.output)
		moveWrites(work.sdp->traffic);
	if (work.pdp && layer.sram.output)
		moveWrites(work.pdp->traffic);
	if (work.sdp && layer.sram.operand) {
		const uint64_t bytes = work.sdp->allOperandBytes();
		work.sdp->traffic.mc.readBytes -= bytes;
		work.sdp->traffic.cv.readBytes += bytes;
	}
}

Result<LayerWork> workOf(const SheetLayer &layer, bool onChip)
{
	auto loadable = build(layer, layer.images(onChip)).assemble();
	if (!loadable)
		return forward(loadable);
	auto tasks = tasksInOrder(*loadable);
	if (!tasks)
		return forward(tasks);
	LayerWork all;
	for (const AnyTask &task : *tasks) {
		auto works = chip::taskWork(*loadable, std::get<DlaTask>(task));
		if (!works)
			return forward(works);
		for (chip::FusedWork &fused : *works) {
			if (onChip)
				place(layer, fused.work);
			all.list.push_back({ fused.work, fused.after });
		}
	}
	if (!onChip)
		return all;
	const auto copied = [&](bool dram, bool sram, double kib) {
		all.copiedBytes += dram && sram ? kib * 1024 : 0;
	};
	copied(layer.dram.input, layer.sram.input, layer.inputKib);
	copied(layer.dram.output, layer.sram.output, layer.outputKib);
	copied(layer.dram.weights, layer.sram.weights, layer.weightKib / layer.imagesOfWeights);
	return all;
}

double dramCycles(const LayerWork &work, const sim::TimingParameters &parameters)
{
	double bytes = work.copiedBytes;

	for (const sim::ScheduledWork &one : work.list)
		bytes += static_cast<double>(one.work.traffic().mc.total());
	return bytes / parameters.mc.sharedBytesPerCycle;
}

double endOf(const LayerWork &work, const sim::TimingParameters &parameters)
{
	double end = dramCycles(work, parameters);

	for (const sim::ScheduledTime &time : sim::schedule(work.list, parameters))
		end = std::max(end, time.end);
	return end;
}

/* Whole MAC steps, and the bytes that are really moved. */
double stepCycles(const LayerWork &work, const sim::TimingParameters &parameters)
{
	double steps = 0;
	double sram = 0;

	for (const sim::ScheduledWork &one : work.list) {
		steps += static_cast<double>(sim::timeOperation(one.work, parameters).macCycles);
		sram += parameters.cv.cycles(one.work.traffic().cv);
	}
	return std::max({ steps, sram, dramCycles(work, parameters) });
}

/* Cycles of the MACs that the sheet counts; channels in sixteens. */
double idealMacs(const SheetLayer &layer)
{
	constexpr double multipliers = 2048;
	constexpr double winograd = 2.25; /* as few multiplications, whole tiles or not */
	const double channels =
		layer.image() ? (layer.fourChannels() ? 4 : 3) : (layer.c + 15) / 16 * 16;
	const double kernel = layer.stridedPoint() ? 1 : double{ 1 } * layer.r * layer.s;
	const double macs = channels * kernel * layer.k * layer.outH * layer.outW;

	return macs / multipliers / (layer.sheetWinograd() ? winograd : 1);
}

/* All multipliers busy; data and weights come meanwhile; engines behind the convolution are free.
 */
double idealCycles(const SheetLayer &layer, const LayerWork &work, bool onChip,
		   const sim::TimingParameters &parameters)
{
	const double images = layer.images(onChip);
	const double weights = layer.weightKib * 1024;
	const double macs = images * idealMacs(layer);
	double dram = work.copiedBytes;
	double sramReads = 0;
	double sramWrites = 0;

	for (const sim::ScheduledWork &one : work.list) {
		const sim::MemoryTraffic traffic = one.work.traffic();
		dram += static_cast<double>(traffic.mc.total());
		sramReads += static_cast<double>(traffic.cv.readBytes);
		sramWrites += static_cast<double>(traffic.cv.writeBytes);
		if (one.work.sdp && layer.sram.operand && onChip) /* the sheet does not count it */
			sramReads -= static_cast<double>(one.work.sdp->allOperandBytes());
		if (!one.work.conv)
			continue;
		const sim::ConvWork &conv = *one.work.conv;
		const bool cv = conv.weightRam == sim::RamType::Cv;
		(cv ? sramReads : dram) -= static_cast<double>(conv.weightBytes);
		if (cv)
			sramReads += weights;
		else if (!onChip || images > 1)
			dram += weights;
		else
			dram += weights / layer.imagesOfWeights;
	}
	return std::max({ macs, dram / parameters.mc.sharedBytesPerCycle,
			  sramReads / parameters.cv.bytesPerCycle,
			  sramWrites / parameters.cv.bytesPerCycle }) /
	       images;
}

} /* namespace */

Result<PredictedLayer> predictLayer(const SheetLayer &layer, bool onChip)
{
	auto work = workOf(layer, onChip);
	if (!work)
		return forward(work);
	sim::Chip sheet;
	sheet.dram = 10.24e9;
	sheet.sram = 25.6e9;
	sheet.dramLatency = sheet.sramLatency = 0;
	sim::Chip far = sheet;
	far.dramLatency = sim::Chip().dramLatency;
	far.sramLatency = sim::Chip().sramLatency;
	const sim::TimingParameters parameters = sheet.parameters();
	const double images = layer.images(onChip);
	return PredictedLayer{ .ideal = idealCycles(layer, *work, onChip, parameters),
			       .steps = stepCycles(*work, parameters) / images,
			       .noLatency = endOf(*work, parameters) / images,
			       .real = endOf(*work, far.parameters()) / images };
}

} /* namespace nvdla::test */
