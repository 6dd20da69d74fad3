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

class Blocks
{
public:
	Blocks(Model &model, const Operator &whole, const Convolution &conv)
		: Blocks(model, whole, conv, ConvolutionAxes(model, whole, conv))
	{
	}

	/* \return nothing if it is none that has to be, or can be */
	std::vector<Operator> take();

private:
	Blocks(Model &model, const Operator &whole, const Convolution &conv,
	       const ConvolutionAxes &axes)
		: model_(model), whole_(whole), conv_(conv), y_{ axes.y }, x_{ axes.x },
		  channels_(model.values[whole.inputs[0]].shape[3]), step_(whole)
	{
	}

	bool isPossible() const
	{
		return conv_.groups == 1 && (y_.isTooLong() || x_.isTooLong()) &&
		       (!y_.isTooLong() || y_.canHaveBlocks()) &&
		       (!x_.isTooLong() || x_.canHaveBlocks()) && y_.blocksSeen() > 0 &&
		       x_.blocksSeen() > 0 &&
		       uint64_t{ y_.block() } * x_.block() * channels_ <= mostChannels;
	}
	void add(Kind kind, const char *what, Extents shape);
	void addWholeBlocks();
	void addConvolution();

	Model &model_;
	const Operator &whole_;
	const Convolution conv_;
	BlockAxis y_, x_;
	const uint32_t channels_;
	Operator step_;
	std::vector<Operator> steps_;
};

void Blocks::add(Kind kind, const char *what, Extents shape)
{
	step_.kind = std::move(kind);
	step_.outputs = { model_.addLike(step_.inputs[0], what, std::move(shape)) };
	steps_.push_back(step_);
	step_.inputs = step_.outputs;
}

/* Cuts off elements that are in no block, and fills up the last block with zeros. */
void Blocks::addWholeBlocks()
{
	Extents shape = model_.values[whole_.inputs[0]].shape;
	Extents cut = shape, none(shape.size(), 0), behind = none;

	for (const auto &[axis, index] : { std::pair(y_, 1U), std::pair(x_, 2U) }) {
		const uint32_t wanted = axis.block() > 1 ? axis.blocks() * axis.block() : axis.in;
		cut[index] = std::min(shape[index], wanted);
		behind[index] = wanted - cut[index];
	}
	step_.inputs.resize(1);
	if (cut != shape)
		add(Slice{ none, Extents(shape.size(), 1) }, " cut", cut);
	if (behind == none)
		return;
	for (size_t i = 0; i < cut.size(); i++)
		cut[i] += behind[i];
	add(Pad{ none, behind, 0 }, " padded", cut);
}

void Blocks::addConvolution()
{
	const Window block{ y_.block(), x_.block() };
	const Value &kernels = model_.values[whole_.inputs[1]];
	const Value wide = inWindow(
		kernels, { y_.blocksOfKernel() * block.lines, x_.blocksOfKernel() * block.columns },
		{ y_.lead(), x_.lead() });
	Convolution conv = conv_;

	if (block.lines > 1) {
		conv.stride.y = 1;
		conv.padding.top = y_.blocksBefore();
		conv.padding.bottom = y_.blocksBehind();
	}
	if (block.columns > 1) {
		conv.stride.x = 1;
		conv.padding.left = x_.blocksBefore();
		conv.padding.right = x_.blocksBehind();
	}
	Operator last = whole_;
	last.kind = conv;
	last.inputs[0] = step_.inputs[0];
	last.inputs[1] = model_.add(inBlocks(wide, block));
	steps_.push_back(std::move(last));
}

std::vector<Operator> Blocks::take()
{
	if (!isPossible())
		return {};
	addWholeBlocks();
	const Extents shape = model_.values[step_.inputs[0]].shape;
	const Window block{ y_.block(), x_.block() };
	const Extents inBlocks{ shape[0], shape[1] / block.lines, shape[2] / block.columns,
				shape[3] * block.lines * block.columns };
	/* Blocks of one line lie as they have to. */
	if (block.lines == 1)
		add(Reshape{}, " in blocks", inBlocks);
	else
		add(Transpose{ { inBlocks[1], block.lines, inBlocks[2], block.columns, shape[3] },
			       { 0, 2, 1, 3, 4 } },
		    " in blocks", inBlocks);
	addConvolution();
	return steps_;
}

} /* namespace */

void takeBlocks(Model &model)
{
	expandEach(model, [&](const Operator &operation) {
		const auto *conv = std::get_if<Convolution>(&operation.kind);
		return conv ? Blocks(model, operation, *conv).take() : std::vector<Operator>{};
	});
}

} /* namespace nvdla::compiler */
