/* SPDX-License-Identifier: MIT */
/*
 * Windows beyond the core's limits.
 *
 * - Sums and averages over more lines or columns than a kernel has take steps: averages of adjacent
 *   parts first, then a sum of these. Enlargements of 8-bit pictures whose kernels need more than 8
 *   bits take two steps as well: columns, then lines, with 16 bits between them.
 * - Convolutions with longer strides or kernels than the core's: a block of as many elements as
 *   the stride becomes the channels of one element, and the kernels have a stride of one block.
 * - Transposed convolutions with a phase (the outputs at one offset within the stride) that reads
 *   or writes a single element of a larger surface. Longer kernels make a larger result without
 *   such phases, and a slice cuts it.
 */
#include "passes.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <nvdla/core_geometry.h>

namespace nvdla::compiler
{

namespace
{

constexpr uint32_t mostStride = 8; /* longest stride of the core's convolutions */
/* Most lines x columns of kernels; with an atom of channels each, they leave room in the
 * convolution buffer. */
constexpr uint32_t mostElements = 480;
/* A kernel with at most this many elements on both axes is well below mostElements. */
constexpr uint32_t fewElements = 16;

/* An axis of a picture: a sum takes all of its elements (isSummed), or each by itself. */
struct SplitAxis {
	uint32_t size;
	bool isSummed;

	uint32_t window() const { return isSummed ? size : 1; }
	/* Number of adjacent elements that the next step averages into one */
	uint32_t part() const { return std::min((window() - 1) / fewElements + 1, mostStride); }
	SplitAxis inParts() const { return { (size - 1) / part() + 1, isSummed }; }
	/* Number of elements of padding that complete the last part */
	uint32_t after() const { return inParts().size * part() - size; }
};

bool fits(const SplitAxis &y, const SplitAxis &x)
{
	return y.window() <= maxKernelSize && x.window() <= maxKernelSize &&
	       y.window() * x.window() <= mostElements;
}

/* Returns nothing for windows other than the whole axis or each element by itself. */
std::optional<SplitAxis> axisOf(uint32_t kernel, uint32_t stride, uint32_t size)
{
	if (kernel != size && (kernel != 1 || stride != 1))
		return std::nullopt;
	return SplitAxis{ size, kernel == size };
}

/* Adds an intermediate result of another shape. Integers of 8 bits become integers of 16 bits, with
 * finer steps in the same range. */
ValueId addWide(Model &model, ValueId like, const char *what, Extents shape)
{
	constexpr double stepsOf8Bits = 128;
	const ValueId id = model.addLike(like, what, std::move(shape));
	Value &wide = model.values[id];

	if (wide.type == ElementType::Int8) {
		wide.type = ElementType::Int16;
		wide.quantization =
			Quantization{ wide.quantization.channel(0).scale / stepsOf8Bits, 0 };
	}
	return id;
}

/* An axis of a convolution. If stride or kernel are too long for the core, the input is divided
 * into blocks as long as the stride; else a block is one element. */
struct BlockAxis : WindowAxis {
	bool isTooLong() const { return stride > mostStride || taps > maxKernelSize; }
	bool canHaveBlocks() const { return stride > 1 && dilation == 1; }
	uint32_t block() const { return isTooLong() ? stride : 1; }
	/* Zero taps to add in front of the kernel, so that the padding consists of whole blocks. */
	uint32_t lead() const { return (block() - before % block()) % block(); }
	uint32_t blocksBefore() const { return (before + lead()) / block(); }
	uint32_t blocksOfKernel() const { return (lead() + taps - 1) / block() + 1; }
	/* Blocks from the picture's start to the last window's end, including padding behind. */
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

/* Turns kernels' elements into channels: element (r, s) of a block becomes C channels, from channel
 * (r * columns + s) * C on. */
Value inBlocks(const Value &kernels, op::Axes block)
{
	const Extents &from = kernels.shape;
	const uint32_t r = from[2] / block.y, s = from[3] / block.x;
	Value to = kernels;

	to.shape = { from[0], from[1], r, block.y, s, block.x };
	to = permuted(to, { 0, 3, 5, 1, 2, 4 });
	to.shape = { from[0], from[1] * block.y * block.x, r, s };
	return to;
}

/* Cuts off the input's elements behind the last block, and fills up that block with zeros. */
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

/* The convolution on blocks: strides of one block, and padding counted in blocks. */
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
	       uint64_t{ y.block() } * x.block() * channels <= mostOfSurface;
}

/* An axis of a transposed convolution. A phase: the outputs at one offset within the stride. */
struct UpAxis : WindowAxis {
	/* Taps of a kernel that is extended so that each phase has the same number of them. */
	uint32_t whole() const { return (taps + stride - 1) / stride * stride; }
	/* Whether a phase makes a single element. */
	bool makesOne() const { return out < 2 * stride; }
	/* Whether a phase may read a single element; one that makes several reads several. */
	bool mayReadOne() const { return in == 1 || makesOne(); }
};

/* Whether a phase reads or makes a single position of a larger surface */
bool hasLonePhase(const UpAxis &y, const UpAxis &x)
{
	const bool reads = y.mayReadOne() && x.mayReadOne() && (y.in > 1 || x.in > 1);
	const bool narrow = x.out == 1 && (x.stride > 1 || (y.out > 1 && y.makesOne()));
	const bool makes = y.makesOne() && x.makesOne() && x.out > x.stride && x.stride > 1;

	return reads || narrow || makes;
}

/* Whether kernels may be extended to r x s taps; the lowering refuses larger ones. */
bool canBeExtended(const Extents &kernels, uint32_t r, uint32_t s)
{
	constexpr uint64_t mostElements = uint64_t{ 1 } << 25;
	constexpr uint32_t mostLines = 1024;

	return r <= mostLines && s <= mostLines &&
	       uint64_t{ kernels[0] } * kernels[1] <= mostElements / (uint64_t{ r } * s);
}

} /* namespace */

void splitWindows(const Operator &whole, Chain &chain)
{
	Model &model = chain.model;
	const Extents in = model.values[chain.last].shape;
	const auto *pool = std::get_if<Pool>(&whole.kind);
	if (!pool || isExtreme(pool->method) || !isNone(pool->padding))
		return;
	auto y = axisOf(pool->kernel.y, pool->stride.y, in[1]);
	auto x = axisOf(pool->kernel.x, pool->stride.x, in[2]);
	if (!y || !x || fits(*y, *x))
		return;
	double factor = pool->method == Pool::Method::Sum ? 1 : 1.0 / (y->window() * x->window());
	while (!fits(*y, *x)) {
		const op::Axes part{ x->part(), y->part() };
		const op::Padding after{ 0, x->after(), 0, y->after() };
		y = y->inParts();
		x = x->inParts();
		factor *= part.x * part.y;
		chain.add(Pool{ Pool::Method::Average, part, part, after, true, {} },
			  addWide(model, chain.last, " averages", { 1, y->size, x->size, in[3] }));
	}
	const ValueId ones = model.add(onesOf(in[3], { x->window(), y->window() }, factor));
	const ValueId sums =
		model.addLike(whole.outputs.front(), " sums",
			      { 1, y->isSummed ? 1 : y->size, x->isSummed ? 1 : x->size, in[3] });
	chain.add(Convolution{ .groups = in[3], .activation = pool->activation }, sums, { ones });
	chain.add(Reshape{}, whole.outputs.front());
}

void splitEnlargements(const Operator &operation, Chain &chain)
{
	const Value &from = chain.model.values[chain.last];
	const auto *enlarge = std::get_if<Enlarge>(&operation.kind);
	if (!enlarge || from.type != ElementType::Int8 || enlarge->factor.x == 1 ||
	    enlarge->factor.y == 1 || enlarge->method == Enlarge::Method::Nearest)
		return;
	/* Linear weights are at most twice the factor along an axis. */
	if (uint64_t{ 4 } * enlarge->factor.x * enlarge->factor.y <= INT8_MAX)
		return;
	Extents wide = from.shape;
	wide[2] *= enlarge->factor.x;
	chain.add(Enlarge{ enlarge->method, { enlarge->factor.x, 1 } },
		  addWide(chain.model, chain.last, " wide", wide));
	chain.add(Enlarge{ enlarge->method, { 1, enlarge->factor.y } }, operation.outputs.front());
}

void takeBlocks(const Operator &whole, Chain &chain)
{
	Model &model = chain.model;
	const auto *conv = std::get_if<Convolution>(&whole.kind);
	if (!conv)
		return;
	const WindowAxes axes(model, whole);
	const BlockAxis y{ axes.y }, x{ axes.x };
	const op::Axes block{ x.block(), y.block() };
	if (!isPossible(*conv, y, x, model.values[whole.inputs[0]].shape[3]))
		return;
	addWholeBlocks(chain, y, x);
	const Extents shape = model.values[chain.last].shape;
	const Extents blocks{ shape[0], shape[1] / block.y, shape[2] / block.x,
			      shape[3] * block.y * block.x };
	/* Elements in blocks of one line are in order already. */
	const Transpose turned{ { blocks[1], block.y, blocks[2], block.x, shape[3] },
				{ 0, 2, 1, 3, 4 } };
	chain.add(block.y == 1 ? Kind(Reshape{}) : turned, " in blocks", blocks);
	const Value wide = inWindow(model.values[whole.inputs[1]],
				    { x.blocksOfKernel() * block.x, y.blocksOfKernel() * block.y },
				    { y.lead(), x.lead() });
	std::vector<ValueId> others(whole.inputs.begin() + 1, whole.inputs.end());
	others[0] = model.add(inBlocks(wide, block));
	chain.add(onBlocks(*conv, y, x), whole.outputs.front(), others);
}

void uncutTransposed(const Operator &operation, Chain &chain)
{
	Model &model = chain.model;
	const auto *conv = std::get_if<TransposedConvolution>(&operation.kind);
	if (!conv)
		return;
	const Extents in = model.values[operation.inputs[0]].shape;
	const Value kernels = model.values[operation.inputs[1]];
	const ValueId output = operation.outputs.front();
	const WindowAxes axes(model, operation);
	const UpAxis y{ axes.y }, x{ axes.x };
	const uint32_t r = y.whole(), s = std::max(x.whole(), in[2] == 1 ? 2U : 1U);
	if (!hasLonePhase(y, x) || !canBeExtended(kernels.shape, r, s))
		return;
	const Extents uncut{ 1, (in[1] - 1) * y.stride + r, (in[2] - 1) * x.stride + s,
			     kernels.shape[0] };
	std::vector<ValueId> others(operation.inputs.begin() + 1, operation.inputs.end());
	others[0] = model.add(inWindow(kernels, { s, r }));
	chain.add(TransposedConvolution{ conv->stride, {}, conv->activation },
		  model.addLike(output, " uncut", uncut), others);
	chain.add(Slice{ { 0, y.before, x.before, 0 }, { 1, 1, 1, 1 } }, output);
}

} /* namespace nvdla::compiler */
