/* SPDX-License-Identifier: MIT */
#include "conv/conv_engine.h"

#include "conv/csc.h"
#include "conv/pixel_format.h"

namespace nvdla::sim
{

namespace
{

uint32_t inputSurfaces(const ConvOp &op)
{
	return op.geometry->surfaces(op.inPrecision, op.fetch.size.channels);
}

uint64_t dataBytes(const ConvOp &op)
{
	const uint64_t positions = uint64_t{ op.fetch.size.width } * op.fetch.size.height;
	const PixelFormat *format = pixelFormat(op.pixel.format);

	if (op.mode != ConvMode::Image)
		return positions * inputSurfaces(op) * op.atom() * op.batches;
	if (!format)
		return 0;
	return positions *
	       (format->pixelBytes(0) + (format->planes == 2 ? format->pixelBytes(1) : 0));
}

uint64_t weightBytes(const ConvOp &op)
{
	if (!op.weights.compressed)
		return op.weights.bytes;
	return op.weights.bytes + op.weights.maskBytes +
	       uint64_t{ op.surfaces() } * kGroupSizeBytes;
}

} /* namespace */

ConvWork convWork(const ConvOp &op, const Kept &kept)
{
	const CubeSize &out = op.windows.out;
	const std::vector<Block> blocks = makeBlocks(op);
	ConvWork work = { .core = op.geometry->timing };

	work.walk = op.mode == ConvMode::Image	    ? ConvWalk::Lines
		    : op.mode == ConvMode::Winograd ? ConvWalk::Tiles
						    : ConvWalk::Stripes;
	work.outWidth = out.width;
	work.outHeight = out.height;
	work.batches = op.batches;
	work.kernels = op.windows.kernels;
	work.groupKernels = op.groupKernels();
	work.macChannels = op.geometry->macChannels;
	work.steps = static_cast<uint32_t>(blocks.size());
	work.lanes = 0;
	for (const Block &block : blocks)
		work.lanes += block.lanes;

	work.dataRam = op.fetch.ram;
	work.oneSurface = inputSurfaces(op) == 1;
	work.dataRoom = op.dataBanks * uint64_t{ op.geometry->bankBytes() };
	work.dataHeld = uint64_t{ op.bufferedEntries() } * op.geometry->entryBytes *
			op.windows.data.height * op.batches;
	if (!kept.data) {
		work.dataBytes = dataBytes(op);
		work.atoms = work.dataBytes / op.atom();
		work.lines = uint64_t{ op.fetch.size.height } * op.batches;
		if (op.mode != ConvMode::Image)
			work.lines *= inputSurfaces(op);
	}
	work.weightRam = op.weights.ram;
	work.weightBytes = kept.weights ? 0 : weightBytes(op);
	work.weightRoom = uint64_t{ op.weightBanks } * op.geometry->bankBytes();
	return work;
}

} /* namespace nvdla::sim */
