/* SPDX-License-Identifier: MIT */
/* computeConv() for FP16, with cells that compute all kernels of a group together. */
#include "conv/conv_compute.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "conv/channel_weights.h"
#include "conv/conv_lines.h"
#include "conv/fp16_cells.h"
#include "conv/tile_lines.h"
#include "conv/tile_operands.h"
#include "conv/tile_plan.h"
#include "core/scratch.h"

namespace nvdla::sim
{

namespace
{

/*
 * Number of pieces into which a group's lines are divided, within the limits below. A cancelled
 * operation has written only whole pieces, so this number must not depend on the number of threads.
 */
constexpr uint64_t kPieces = 8;
/* Fewest positions in a piece: smaller pieces would have too much overhead. */
constexpr uint64_t kFewestPositions = 96;
/* Most positions in a piece of several lines. This limits a thread's memory, as the registers allow
 * any number of positions. */
constexpr uint64_t kMostPositions = 1 << 18;
/* Number of groups computed together: an AVX-512 vector holds the kernels of both. */
constexpr uint32_t kGroups = kFp16Columns / kFp16Kernels;

uint32_t linesOfPiece(const ConvOp &op)
{
	const uint64_t width = op.windows.out.width;
	const uint64_t lines = uint64_t{ op.windows.out.height } * op.batches;
	const uint64_t fewest = (kFewestPositions + width - 1) / width;
	const uint64_t most = std::max(kMostPositions / width, uint64_t{ 1 });

	return static_cast<uint32_t>(
		std::min(std::max((lines + kPieces - 1) / kPieces, fewest), most));
}

/** \return the weights of a block in \a group */
const std::byte *weightsOf(const WeightGroup &group, const Block &block)
{
	return group.bytes.data() + block.weights * group.kernels * sizeof(uint16_t);
}

/** Makes the output lines of one or two groups */
class Fp16Maker : public LineMaker
{
public:
	/** \param lines operands for depthwise sums; null if the layout does not allow them */
	Fp16Maker(const ConvOp &op, const DataView &data, const MemoryPort &memory,
		  uint32_t linesAtOnce, const TilePlan &plan, const TileLines *lines,
		  Scratch &scratch)
		: op_(op), view_(data), memory_(memory), lines_(lines),
		  lineValues_(size_t{ op.windows.out.width } * kFp16Kernels),
		  most_(lineValues_ * linesAtOnce), out_(scratch, kGroups * most_)
	{
		if (lines && !lines->hasNan())
			channels_.emplace(plan);
	}

	void load(const WeightGroup &group, uint32_t place) override
	{
		kernels_ = group.kernels;
		isChannelwise_ = channels_ && loadChannels(group);
		if (isChannelwise_)
			return;
		prepareBlocks();
		for (size_t i = 0; i < blocks_.size(); i++)
			weights_[i].load(place, weightsOf(group, blocks_[i]), group.kernels,
					 blocks_[i].lanes);
		groups_ = place + 1;
		isNew_ = true;
	}

	void make(uint64_t first, uint32_t count) override
	{
		const TowardZero towardZero;

		if (isChannelwise_) {
			makeChannels(towardZero, lines_->positions(first, count));
			return;
		}
		if (std::exchange(isNew_, false))
			for (Fp16Weights &weights : weights_)
				weights.takeApart();
		for (uint32_t i = 0; i < count && !memory_.cancelled(); i++) {
			const uint64_t line = first + i;
			accumulate(towardZero, static_cast<uint32_t>(line % op_.batches),
				   static_cast<uint32_t>(line / op_.batches));
			int32_t *const one = &out_[i * lineValues_];
			int32_t *const out[] = { one, groups_ > 1 ? one + most_ : nullptr };
			cells_.deliver(sums_.data(), sums_.size(), out);
		}
	}

	std::span<const int32_t> lines(uint32_t place) const override
	{
		return { out_.data() + place * most_, most_ };
	}
	uint32_t saturated() const override { return 0; }

private:
	/** \return true if each kernel has weights for one channel only, none of which is a NaN */
	bool loadChannels(const WeightGroup &group)
	{
		if (!channels_->load(group, 0))
			return false;
		const ChannelOperands operands = channels_->operands();
		return !anyNan(reinterpret_cast<const float *>(operands.weights),
			       2 * operands.taps.size() * kFp16Kernels);
	}

	void makeChannels(const TowardZero &towardZero, std::span<const TilePosition> positions)
	{
		cells_.sumChannels(towardZero, channels_->operands(), positions, out_.data());
		/* Clears the sums of absent kernels. */
		for (size_t i = 0; kernels_ < kFp16Kernels && i < positions.size(); i++)
			std::fill(&out_[i * kFp16Kernels] + kernels_,
				  &out_[i * kFp16Kernels] + kFp16Kernels, 0);
	}

	/* Allocates sums and weights for groups that are computed block by block. */
	void prepareBlocks()
	{
		if (operands_)
			return;
		blocks_ = makeBlocks(op_);
		operands_.emplace(op_, view_);
		sums_.resize(op_.windows.out.width);
		weights_.resize(blocks_.size());
	}

	void accumulate(const TowardZero &towardZero, uint32_t batch, uint32_t y)
	{
		std::fill(sums_.begin(), sums_.end(), Fp16Sums());
		for (size_t i = 0; i < blocks_.size() && !memory_.cancelled(); i++)
			cells_.step(towardZero, weights_[i],
				    operands_->line(batch, y, blocks_[i]).data(), sums_.size(),
				    sums_.data());
	}

	const Fp16Cells &cells_ = *fp16Cells();
	const ConvOp &op_;
	const DataView &view_;
	const MemoryPort &memory_;
	const TileLines *lines_;
	std::vector<Block> blocks_; /* filled by prepareBlocks() */
	std::optional<Operands> operands_;
	std::vector<Fp16Sums> sums_;		 /* sums of a line */
	std::vector<Fp16Weights> weights_;	 /* weights of all groups, block by block */
	std::optional<ChannelWeights> channels_; /* set if the layout allows depthwise sums */
	bool isChannelwise_ = false;		 /* true if the group's weights are in channels_ */
	bool isNew_ = false;			 /* weights were loaded and not split yet */
	uint32_t groups_ = 0;
	uint32_t kernels_ = 0; /* kernels of the last loaded group */
	const size_t lineValues_;
	const size_t most_; /* largest number of values in the lines of a group */
	ScratchArray<int32_t> out_;
};

} /* namespace */

bool fp16ConvAccepts(const ConvOp &op)
{
	return op.precision == Precision::Fp16 && op.mode != ConvMode::Winograd &&
	       fp16Cells() != nullptr;
}

ConvCounters computeConvFp16(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory, Workers &workers)
{
	const unsigned int threads = worthwhileThreads(op, kFp16MacsForAThread);

	const uint32_t linesAtOnce = linesOfPiece(op);
	const TilePlan plan(op);
	std::optional<TileLines> lines;

	if (plan.mayBeChannelwise && paddedLinesFit(op))
		lines.emplace(plan, data, workers);
	return streamLines(
		op, weights, sink, memory, workers, { threads, linesAtOnce, kGroups }, [&] {
			return std::make_unique<Fp16Maker>(op, data, memory, linesAtOnce, plan,
							   lines ? &*lines : nullptr,
							   workers.scratch());
		});
}

} /* namespace nvdla::sim */
