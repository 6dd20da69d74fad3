/* SPDX-License-Identifier: MIT */
/*
 * The loops of computeConv() around cells that work on all kernels at once.
 */
#include "conv/conv_fp16.h"

#include <algorithm>
#include <optional>

#include "conv/conv_lines.h"
#include "conv/fp16_cells.h"
#include "conv/fp16_channels.h"

namespace nvdla::sim
{

namespace
{

/* Of these, a thread needs longer than to be woken. */
constexpr uint64_t kFp16MacsForAThread = 1 << 15;

/* Steps of one position that are worked on together. */
constexpr size_t kStepsAtOnce = 4;

bool isOnePosition(const ConvOp &op)
{
	const CubeSize &out = op.windows.out;
	return op.mode == ConvMode::Direct && out.width == 1 && out.height * op.batches == 1;
}

class Fp16Maker : public LineMaker
{
public:
	/** \param lines if kernels may have weights for one channel each, else null */
	Fp16Maker(const ConvOp &op, const DataView &data, const MemoryPort &memory,
		  uint32_t linesAtOnce, const Fp16ChannelLines *lines)
		: op_(op), view_(data), memory_(memory), blocks_(makeBlocks(op)),
		  isOnePosition_(isOnePosition(op)), wanted_(blocks_.size(), ~uint64_t{ 0 }),
		  lineValues_(size_t{ op.windows.out.width } * kFp16Kernels),
		  out_(lineValues_ * linesAtOnce)
	{
		if (lines && !lines->hasNan())
			channels_.emplace(*lines);
		if (!isOnePosition_)
			return;
		prepareBlocks();
		for (size_t i = 0; i < blocks_.size(); i++) {
			data_.push_back(operands_->line(0, 0, blocks_[i])[0]);
			wanted_[i] = lanesWithData(data_[i], blocks_[i].lanes);
		}
	}

	void load(const WeightGroup &group) override
	{
		isChannelwise_ = channels_ && channels_->load(group);
		if (isChannelwise_)
			return;
		prepareBlocks();
		if (isOnePosition_) {
			accumulate(group);
			return;
		}
		for (size_t i = 0; i < blocks_.size(); i++)
			load(group, i, weights_[i]);
	}

	void make(uint64_t first, uint32_t count) override
	{
		const TowardZero towardZero;

		if (isChannelwise_) {
			channels_->make(towardZero, first, count, out_.data());
			return;
		}
		for (uint32_t i = 0; i < count && !memory_.cancelled(); i++) {
			if (!isOnePosition_)
				accumulate(towardZero,
					   static_cast<uint32_t>((first + i) % op_.batches),
					   static_cast<uint32_t>((first + i) / op_.batches));
			deliverFp16(sums_.data(), sums_.size(), &out_[i * lineValues_]);
		}
	}

	std::span<const int32_t> lines() const override { return out_; }

	uint32_t saturated() const override { return 0; }

private:
	static uint64_t lanesWithData(const int16_t *data, uint32_t count)
	{
		uint64_t lanes = 0;

		for (uint32_t i = 0; i < count; i++)
			lanes |= uint64_t{ data[i] != 0 } << i;
		return lanes;
	}

	/* What groups need that are worked on block by block. */
	void prepareBlocks()
	{
		if (operands_)
			return;
		operands_.emplace(op_, view_);
		sums_.resize(op_.windows.out.width);
		weights_.resize(isOnePosition_ ? kStepsAtOnce : blocks_.size());
	}

	void load(const WeightGroup &group, size_t block, Fp16Weights &weights) const
	{
		const size_t before = blocks_[block].weights * group.kernels * sizeof(uint16_t);

		weights.load(group.bytes.data() + before, group.kernels, blocks_[block].lanes,
			     wanted_[block]);
	}

	/* Of one position: weights are used up while they are near. */
	void accumulate(const WeightGroup &group)
	{
		const TowardZero towardZero;

		sums_[0] = Fp16Sums();
		for (size_t i = 0; i < blocks_.size() && !memory_.cancelled();) {
			const size_t some = std::min(weights_.size(), blocks_.size() - i);
			for (size_t j = 0; j < some; j++)
				load(group, i + j, weights_[j]);
			stepsFp16(towardZero, std::span(weights_).first(some), &data_[i], sums_[0]);
			i += some;
		}
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
	std::vector<Block> blocks_;
	const bool isOnePosition_;	       /* whose operands stay where they are */
	std::optional<Operands> operands_;     /* with sums_ and weights_: see prepareBlocks() */
	std::vector<Fp16Sums> sums_;	       /* of a line */
	std::vector<Fp16Weights> weights_;     /* of the group, by blocks; of one position some */
	std::vector<uint64_t> wanted_;	       /* of each block, lanes that may have data */
	std::vector<const int16_t *> data_;    /* of each block, of one position */
	std::optional<Fp16Channels> channels_; /* if there may be such groups */
	bool isChannelwise_ = false;	       /* the group is one */
	size_t lineValues_;
	std::vector<int32_t> out_;
};

} /* namespace */

bool fp16ConvAccepts(const ConvOp &op)
{
	return op.precision == Precision::Fp16 && op.mode != ConvMode::Winograd &&
	       fp16CellsSupported();
}

ConvCounters computeConvFp16(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory, Workers &workers)
{
	const uint64_t lines = uint64_t{ op.windows.out.height } * op.batches;
	const auto linesAtOnce =
		static_cast<uint32_t>((lines + workers.threads() - 1) / workers.threads());

	std::optional<Fp16ChannelLines> channels;

	if (Fp16ChannelLines::accepts(op) && !isOnePosition(op))
		channels.emplace(op, data, workers);
	return streamLines(op, weights, sink, memory, workers,
			   { worthwhileThreads(op, kFp16MacsForAThread), linesAtOnce }, [&] {
				   return std::make_unique<Fp16Maker>(op, data, memory, linesAtOnce,
								      channels ? &*channels
									       : nullptr);
			   });
}

} /* namespace nvdla::sim */
