/* SPDX-License-Identifier: MIT */
/*
 * Order of the blocks and addresses of the windows.
 *
 * Weight order: formats document, "Weight Format"; where it is silent, nvdlav1's RTL and C model.
 * It is also the order of accumulation, on which FP16 and saturated results depend.
 */
#include "conv/csc.h"

#include <algorithm>

namespace nvdla::sim
{

namespace
{

/** Channels of a Winograd block */
constexpr uint32_t kTileChannels = 4;

std::vector<Block> directBlocks(const CubeSize &kernel, uint32_t lanes)
{
	const size_t parts = (kernel.channels + lanes - 1) / lanes;
	std::vector<Block> blocks;

	blocks.reserve(parts * kernel.height * kernel.width);
	for (uint32_t channel = 0; channel < kernel.channels; channel += lanes) {
		for (uint32_t row = 0; row < kernel.height; row++) {
			for (uint32_t column = 0; column < kernel.width; column++)
				blocks.push_back(
					{ .row = row,
					  .column = column,
					  .channel = channel,
					  .lanes = std::min(lanes, kernel.channels - channel) });
		}
	}
	return blocks;
}

std::vector<Block> imageBlocks(const CubeSize &kernel, uint32_t lanes, uint32_t rowsPerBlock)
{
	std::vector<Block> blocks;
	const uint32_t step = lanes / rowsPerBlock;

	for (uint32_t channel = 0; channel < kernel.channels; channel += step) {
		for (uint32_t row = 0; row < kernel.height; row += rowsPerBlock) {
			const uint32_t rows = std::min(rowsPerBlock, kernel.height - row);
			blocks.push_back(
				{ .row = row,
				  .channel = channel,
				  .rows = rows,
				  .lanes = rows * std::min(step, kernel.channels - channel) });
		}
	}
	return blocks;
}

std::vector<Block> winogradBlocks(const CubeSize &kernel)
{
	std::vector<Block> blocks;

	for (uint32_t channel = 0; channel + kTileChannels <= kernel.channels;
	     channel += kTileChannels)
		blocks.push_back({ .channel = channel, .lanes = kMacLanes });
	return blocks;
}

} /* namespace */

std::vector<Block> makeBlocks(const ConvOp &op)
{
	const Windows &windows = op.windows;
	std::vector<Block> blocks;

	switch (op.mode) {
	case ConvMode::Direct:
		blocks = directBlocks(windows.kernel, op.geometry->macChannels);
		break;
	case ConvMode::Image:
		blocks =
			imageBlocks(windows.kernel, op.geometry->macChannels, windows.rowsPerBlock);
		break;
	case ConvMode::Winograd:
		blocks = winogradBlocks(windows.kernel);
		break;
	}

	size_t before = 0;
	for (Block &block : blocks) {
		block.weights = before;
		before += block.lanes;
	}
	return blocks;
}

Operands::Operands(const ConvOp &op, const DataView &data)
	: op_(op), lineElements_(data.lineBytes() / elementBytes(op.precision))
{
	const int16_t pad = padElement(op.precision, op.windows.padValue);
	const uint32_t width = op.windows.out.width;

	padding_.assign(kMacLanes, pad);
	vectors_.resize(op.mode == ConvMode::Winograd ? (width + 1) / 2 : width);
	if (op.mode != ConvMode::Direct)
		gathered_.resize(vectors_.size() * kMacLanes);
	lines_.resize(size_t{ op.windows.data.height } * op.batches * lineStep());
	for (uint32_t y = 0; y < op.windows.data.height; y++)
		for (uint32_t batch = 0; batch < op.batches; batch++)
			data.line(batch, y,
				  { lines_.data() + lineOffset(batch, y), lineElements_ });
}

const std::vector<const int16_t *> &Operands::line(uint32_t batch, uint32_t y, const Block &block)
{
	if (op_.mode == ConvMode::Image)
		gatherImage(y, block);
	else
		gatherDirect(batch, y, block);
	return vectors_;
}

void Operands::gatherDirect(uint32_t batch, uint32_t y, const Block &block)
{
	const Windows &windows = op_.windows;
	/* Unsigned arithmetic makes coordinates left of and above the cube large numbers. */
	const uint32_t inY = y * windows.strideY + block.row * windows.dilationY - windows.padTop;
	uint32_t inX = block.column * windows.dilationX - windows.padLeft;

	if (inY >= windows.data.height) {
		std::fill(vectors_.begin(), vectors_.end(), padding_.data());
		return;
	}

	const int16_t *from = line(batch, inY) + block.channel;
	for (const int16_t *&vector : vectors_) {
		vector = inX < windows.data.width
				 ? from + static_cast<size_t>(inX) * windows.data.channels
				 : padding_.data();
		inX += windows.strideX;
	}
}

void Operands::gatherImage(uint32_t y, const Block &block)
{
	const Windows &windows = op_.windows;
	const uint32_t perRow = block.lanes / block.rows;

	for (uint32_t i = 0; i < block.rows; i++) {
		const uint32_t inY = y * windows.strideY + block.row + i - windows.padTop;
		int16_t *out = &gathered_[i * perRow];

		if (inY >= windows.data.height) {
			for (size_t x = 0; x < vectors_.size(); x++, out += kMacLanes)
				std::copy_n(padding_.data(), perRow, out);
			continue;
		}

		const int16_t *elements = line(0, inY);
		const size_t step = static_cast<size_t>(windows.strideX) * windows.data.channels;
		size_t from = block.channel;
		for (size_t x = 0; x < vectors_.size(); x++, out += kMacLanes, from += step) {
			/* Elements behind the line read as zero. */
			const size_t end = std::min(lineElements_, from + perRow);
			const size_t count = end > from ? end - from : 0;
			std::copy_n(elements + std::min(from, lineElements_), count, out);
			std::fill(out + count, out + perRow, int16_t{ 0 });
		}
	}
	for (size_t x = 0; x < vectors_.size(); x++)
		vectors_[x] = &gathered_[x * kMacLanes];
}

const std::vector<const int16_t *> &Operands::tiles(uint32_t tileY, const Block &block)
{
	const Windows &windows = op_.windows;
	const int16_t *lines[4];
	int16_t tile[16];
	int16_t transformed[16];

	for (uint32_t i = 0; i < 4; i++)
		lines[i] = line(0, tileY * 2 + i);

	for (size_t tileX = 0; tileX < vectors_.size(); tileX++) {
		int16_t *out = &gathered_[tileX * kMacLanes];
		for (uint32_t channel = 0; channel < kTileChannels; channel++) {
			const size_t from =
				tileX * 2 * windows.data.channels + block.channel + channel;
			for (size_t i = 0; i < 16; i++)
				tile[i] = lines[i / 4][from + i % 4 * windows.data.channels];
			winogradTransform(op_.precision, windows.preTruncate, tile, transformed);
			for (size_t i = 0; i < 16; i++)
				out[i * kTileChannels + channel] = transformed[i];
		}
		vectors_[tileX] = out;
	}
	return vectors_;
}

} /* namespace nvdla::sim */
