/* SPDX-License-Identifier: MIT */
/*
 * The loops of computeConv() around cells that work on all kernels at once.
 */
#include "conv/conv_fp16.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "conv/conv_fast.h"
#include "conv/conv_lines.h"
#include "conv/fp16_cells.h"
#include "conv/fp16_channels.h"
#include "conv/tile_plan.h"
#include "core/scratch.h"

namespace nvdla::sim
{

namespace
{

/*
 * Pieces of a kernel group's lines, for any number of threads: each is written or missed as a
 * whole. With fewer positions what a piece begins and ends with would count.
 */
constexpr uint64_t kPieces = 8;
constexpr uint64_t kFewestPositions = 96;
/* Of as many positions as registers may say that there are, a piece has no more than a thread's
 * memory holds, or one line. */
constexpr uint64_t kMostPositions = 1 << 18;

uint32_t linesOfPiece(const ConvOp &op)
{
	const uint64_t width = op.windows.out.width;
	const uint64_t lines = uint64_t{ op.windows.out.height } * op.batches;
	const uint64_t fewest = (kFewestPositions + width - 1) / width;
	const uint64_t most = std::max(kMostPositions / width, uint64_t{ 1 });

	return static_cast<uint32_t>(
		std::min(std::max((lines + kPieces - 1) / kPieces, fewest), most));
}

/** \return of \a group the weights of a block */
const std::byte *weightsOf(const WeightGroup &group, const Block &block)
{
	return group.bytes.data() + block.weights * group.kernels * sizeof(uint16_t);
}

bool isOnePosition(const ConvOp &op)
{
	const CubeSize &out = op.windows.out;
	return op.mode == ConvMode::Direct && out.width == 1 && out.height * op.batches == 1;
}

/** Output lines of one group or two */
class Fp16Maker : public LineMaker
{
public:
	/** \param lines if kernels may have weights for one channel each, else null */
	Fp16Maker(const ConvOp &op, const DataView &data, const MemoryPort &memory,
		  uint32_t linesAtOnce, const Fp16ChannelLines *lines, Scratch &scratch)
		: op_(op), view_(data), memory_(memory),
		  lineValues_(size_t{ op.windows.out.width } * kFp16Kernels),
		  out_(scratch, lineValues_ * linesAtOnce)
	{
		if (lines && !lines->hasNan())
			channels_.emplace(*lines);
	}

	void begin(std::span<int32_t> second) override
	{
		second_ = second;
		loaded_ = 0;
	}

	void load(const WeightGroup &group) override
	{
		isChannelwise_ = channels_ && channels_->load(group);
		if (isChannelwise_)
			return;
		prepareBlocks();
		for (size_t i = 0; i < blocks_.size(); i++)
			weights_[i].load(loaded_, weightsOf(group, blocks_[i]), group.kernels,
					 blocks_[i].lanes);
		loaded_++;
		for (size_t i = 0; loaded_ == groups() && i < blocks_.size(); i++)
			weights_[i].takeApart(~uint64_t{ 0 });
	}

	void make(uint64_t first, uint32_t count) override
	{
		const TowardZero towardZero;

		if (isChannelwise_) {
			channels_->make(towardZero, first, count, out_.data());
			return;
		}
		for (uint32_t i = 0; i < count && !memory_.cancelled(); i++) {
			const uint64_t line = first + i;
			accumulate(towardZero, static_cast<uint32_t>(line % op_.batches),
				   static_cast<uint32_t>(line / op_.batches));
			int32_t *const out[] = { &out_[i * lineValues_],
						 groups() > 1 ? &second_[line * lineValues_]
							      : nullptr };
			deliverFp16(sums_.data(), sums_.size(), out);
		}
	}

	std::span<const int32_t> lines() const override { return { out_.data(), out_.size() }; }
	uint32_t saturated() const override { return 0; }

private:
	size_t groups() const { return second_.empty() ? 1 : 2; }

	/* What groups need that are worked on block by block. */
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
			stepFp16(towardZero, weights_[i],
				 operands_->line(batch, y, blocks_[i]).data(), sums_.size(),
				 sums_.data());
	}

	const ConvOp &op_;
	const DataView &view_;
	const MemoryPort &memory_;
	std::vector<Block> blocks_; /* with what follows: see prepareBlocks() */
	std::optional<Operands> operands_;
	std::vector<Fp16Sums> sums_;	       /* of a line */
	std::vector<Fp16Weights> weights_;     /* of all groups, by blocks */
	std::optional<Fp16Channels> channels_; /* if there may be such groups */
	bool isChannelwise_ = false;	       /* the group is one */
	std::span<int32_t> second_;	       /* all lines of the second group, if there is one */
	size_t loaded_ = 0;		       /* groups */
	size_t lineValues_;
	ScratchArray<int32_t> out_; /* of the first group */
};

/** The only position of operations that have one */
class OneFp16Maker : public LineMaker
{
public:
	OneFp16Maker(const ConvOp &op, const DataView &data, const MemoryPort &memory)
		: memory_(memory), blocks_(makeBlocks(op)), data_(blocks_.size())
	{
		Operands operands(op, data);

		for (size_t i = 0; i < blocks_.size(); i++)
			data_[i].load(operands.line(0, 0, blocks_[i])[0], blocks_[i].lanes);
	}

	/* The next group, too, if it is of the same size: it is done if it is where it is expected,
	 */
	void load(const WeightGroup &group) override
	{
		const bool isWhole = group.kernels == kFp16Kernels;
		const bool isDone = isWhole && group.bytes.data() == next_;
		const bool both = isWhole && group.ahead.size() >= group.bytes.size();
		WeightGroup groups[] = { group, group };

		shown_ = isDone ? kFp16Kernels : 0;
		next_ = nullptr;
		if (isDone)
			return;
		if (both)
			groups[1].bytes = group.ahead.first(group.bytes.size());
		if (!accumulate(std::span(groups).first(both ? 2 : 1)) && group.unseen) {
			groups[0].bytes = group.unseen->see(group.bytes, seen_);
			accumulate(std::span(groups).first(1));
		} else if (both) {
			next_ = group.ahead.data();
		}
	}

	/* All that there is to make is made. */
	void make(uint64_t, uint32_t) override {}
	std::span<const int32_t> lines() const override
	{
		return std::span(out_).subspan(shown_, kFp16Kernels);
	}
	uint32_t saturated() const override { return 0; }

private:
	/* Weights are used up while they are near; \return all are finite. */
	bool accumulate(std::span<const WeightGroup> groups)
	{
		const TowardZero towardZero;
		int32_t *const out[] = { out_, groups.size() > 1 ? out_ + kFp16Kernels : nullptr };
		Fp16Sums sums = {};
		bool finite = true;

		for (size_t i = 0; i < blocks_.size() && !memory_.cancelled(); i++) {
			finite &= load(groups, i);
			stepFp16(towardZero, weights_, data_[i], sums);
		}
		deliverFp16(&sums, 1, out);
		return finite;
	}

	/** \return all are finite */
	bool load(std::span<const WeightGroup> groups, size_t block)
	{
		bool finite = true;

		for (size_t i = 0; i < groups.size(); i++)
			finite &= weights_.load(i, weightsOf(groups[i], blocks_[block]),
						groups[i].kernels, blocks_[block].lanes);
		weights_.takeApart(data_[block].present);
		return finite;
	}

	const MemoryPort &memory_;
	std::vector<Block> blocks_;
	std::vector<Fp16Data> data_;	  /* of each block */
	Fp16Weights weights_;		  /* of a block */
	const std::byte *next_ = nullptr; /* the group whose sums are the second ones */
	size_t shown_ = 0;		  /* sums before those of the group */
	std::vector<std::byte> seen_;
	int32_t out_[kFp16Columns] = {};
};

} /* namespace */

bool fp16ConvAccepts(const ConvOp &op)
{
	return op.precision == Precision::Fp16 && op.mode != ConvMode::Winograd &&
	       fp16CellsSupported();
}

unsigned int fp16ConvThreads(const ConvOp &op)
{
	/* As long as it takes to begin on a thread. */
	constexpr uint64_t kMacsForAThread = 1 << 15;

	return worthwhileThreads(op, kMacsForAThread);
}

ConvCounters computeConvFp16(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory, Workers &workers)
{
	const unsigned int threads = fp16ConvThreads(op);

	if (isOnePosition(op)) {
		weights.leaveUnseen();
		return streamLines(op, weights, sink, memory, workers, { threads, 1 }, [&] {
			return std::make_unique<OneFp16Maker>(op, data, memory);
		});
	}

	const uint32_t linesAtOnce = linesOfPiece(op);
	const TilePlan plan(op);
	std::optional<Fp16ChannelLines> channels;

	if (plan.mayBeChannelwise && paddedLinesFit(op))
		channels.emplace(plan, data, workers);
	return streamLines(op, weights, sink, memory, workers, { threads, linesAtOnce, 2 }, [&] {
		return std::make_unique<Fp16Maker>(op, data, memory, linesAtOnce,
						   channels ? &*channels : nullptr,
						   workers.scratch());
	});
}

} /* namespace nvdla::sim */
