/* SPDX-License-Identifier: MIT */
/*
 * Convolutions whose steps or kernels are longer than the core's: a block of as many elements as a
 * step has becomes the channels of one, and the kernels go from block to block.
 */
#include "passes.h"

#include <algorithm>

#include "kernel_window.h"

namespace nvdla::compiler
{

namespace
{

constexpr uint32_t mostTaps = 32;
constexpr uint32_t mostStride = 8;
constexpr uint64_t mostChannels = 8192;

/* Without blocks they have one element. */
struct BlockAxis : ConvolutionAxis {
	bool isTooLong() const { return stride > mostStride || taps > mostTaps; }
	bool canHaveBlocks() const { return stride > 1 && dilation == 1; }
	uint32_t block() const { return isTooLong() ? stride : 1; }
	/* Taps in front of the kernel that add nothing, so that padding is whole blocks. */
	uint32_t lead() const { return (block() - before % block()) % block(); }
	uint32_t blocksBefore() const { return (before + lead()) / block(); }
	uint32_t blocksOfKernel() const { return (lead() + taps - 1) / block() + 1; }
	/* From the picture's start on; the kernels see no more. */
	int64_t blocksSeen() const
	{
		return int64_t{ out } - 1 + blocksOfKernel() - blocksBefore();
	}
	uint32_t blocks() const
	{
		return static_cast<uint32_t>(
			std::min<int64_t>(blocksSeen(), (int64_t{ in } - 1) / block() + 1));
	}
	uint32_t blocksBehind() const { return static_cast<uint32_t>(blocksSeen()) - blocks(); }
};

/* Element (r, s) of a block is channels (r * columns + s) * C and following. */
Value inBlocks(const Value &kernels, Window block)
{
	const Extents &from = kernels.shape;
	const uint32_t r = from[2] / block.lines, s = from[3] / block.columns;
	Value to = kernels;

	to.shape = { from[0], from[1], r, block.lines, s, block.columns };
	to = permuted(to, { 0, 3, 5, 1, 2, 4 });
	to.shape = { from[0], from[1] * block.lines * block.columns, r, s };
	return to;
}

/* Cuts off elements that are in no block, and fills up the last block with zeros. */
void addWholeBlocks(Chain &chain, const BlockAxis &y, const BlockAxis &x)
{
	const Extents shape = chain.model.values[chain.last].shape, none(shape.size(), 0);
	Extents cut = shape, behind = none;

	for (const auto &[axis, index] : { std::pair(y, 1U), std::pair(x, 2U) }) {
		const uint32_t wanted = axis.block() > 1 ? axis.blocks() * axis.block() : axis.in;
		cut[index] = std::min(shape[index], wanted);
		behind[index] = wanted - cut[index];
	}
	if (cut != shape)
		chain.add(Slice{ none, Extents(shape.size(), 1) }, " cut", cut);
	if (behind == none)
		return;
	for (size_t i = 0; i < cut.size(); i++)
		cut[i] += behind[i];
	chain.add(Pad{ none, behind, 0 }, " padded", cut);
}

/* From block to block. */
Convolution onBlocks(Convolution conv, const BlockAxis &y, const BlockAxis &x)
{
	if (y.block() > 1) {
		conv.stride.y = 1;
		conv.padding.top = y.blocksBefore();
		conv.padding.bottom = y.blocksBehind();
	}
	if (x.block() > 1) {
		conv.stride.x = 1;
		conv.padding.left = x.blocksBefore();
		conv.padding.right = x.blocksBehind();
	}
	return conv;
}

bool isPossible(const Convolution &conv, const BlockAxis &y, const BlockAxis &x, uint32_t channels)
{
	return conv.groups == 1 && (y.isTooLong() || x.isTooLong()) &&
	       (!y.isTooLong() || y.canHaveBlocks()) && (!x.isTooLong() || x.canHaveBlocks()) &&
	       y.blocksSeen() > 0 && x.blocksSeen() > 0 &&
	       uint64_t{ y.block() } * x.block() * channels <= mostChannels;
}

/* \return nothing if it is none that has to be, or can be */
std::vector<Operator> blocksTaken(Model &model, const Operator &whole, const Convolution &conv)
{
	const ConvolutionAxes axes(model, whole, conv);
	const BlockAxis y{ axes.y }, x{ axes.x };
	const Window block{ y.block(), x.block() };
	Chain chain{ model, whole, whole.inputs[0] };

	if (!isPossible(conv, y, x, model.values[whole.inputs[0]].shape[3]))
		return {};
	addWholeBlocks(chain, y, x);
	const Extents shape = model.values[chain.last].shape;
	const Extents blocks{ shape[0], shape[1] / block.lines, shape[2] / block.columns,
			      shape[3] * block.lines * block.columns };
	/* Blocks of one line lie as they have to. */
	const Transpose turned{ { blocks[1], block.lines, blocks[2], block.columns, shape[3] },
				{ 0, 2, 1, 3, 4 } };
	chain.add(block.lines == 1 ? Kind(Reshape{}) : turned, " in blocks", blocks);
	const Value wide =
		inWindow(model.values[whole.inputs[1]],
			 { y.blocksOfKernel() * block.lines, x.blocksOfKernel() * block.columns },
			 { y.lead(), x.lead() });
	std::vector<ValueId> others(whole.inputs.begin() + 1, whole.inputs.end());
	others[0] = model.add(inBlocks(wide, block));
	chain.add(onBlocks(conv, y, x), whole.outputs.front(), others);
	return std::move(chain.operators);
}

} /* namespace */

void takeBlocks(Model &model)
{
	expandEach(model, [&](const Operator &operation) {
		const auto *conv = std::get_if<Convolution>(&operation.kind);
		return conv ? blocksTaken(model, operation, *conv) : std::vector<Operator>{};
	});
}

} /* namespace nvdla::compiler */
