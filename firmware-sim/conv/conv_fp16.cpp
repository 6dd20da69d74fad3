/* SPDX-License-Identifier: MIT */
/*
 * The loops of computeConv() around cells that work on all kernels at once.
 */
#include "conv/conv_fp16.h"

#include <algorithm>

#include "conv/conv_lines.h"
#include "conv/fp16_cells.h"

namespace nvdla::sim
{

namespace
{

/* Of these, a thread needs longer than to be woken. */
constexpr uint64_t kFp16MacsForAThread = 1 << 15;

/* Steps of one position that are worked on together. */
constexpr size_t kStepsAtOnce = 4;

class Fp16Maker : public LineMaker
{
public:
	Fp16Maker(const ConvOp &op, const DataView &data, const MemoryPort &memory,
		  uint32_t linesAtOnce)
		: op_(op), memory_(memory), operands_(op, data), blocks_(makeBlocks(op)),
		  sums_(op.windows.out.width),
		  isOnePosition_(op.mode == ConvMode::Direct && sums_.size() == 1 &&
				 op.windows.out.height * op.batches == 1),
		  weights_(isOnePosition_ ? kStepsAtOnce : blocks_.size()),
		  wanted_(blocks_.size(), ~uint64_t{ 0 }),
		  lineValues_(size_t{ op.windows.out.width } * kFp16Kernels),
		  out_(lineValues_ * linesAtOnce)
	{
		if (!isOnePosition_)
			return;
		for (size_t i = 0; i < blocks_.size(); i++) {
			data_.push_back(operands_.line(0, 0, blocks_[i])[0]);
			wanted_[i] = lanesWithData(data_[i], blocks_[i].lanes);
		}
	}

	void load(const WeightGroup &group) override
	{
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
				 operands_.line(batch, y, blocks_[i]).data(), sums_.size(),
				 sums_.data());
	}

	const ConvOp &op_;
	const MemoryPort &memory_;
	Operands operands_;
	std::vector<Block> blocks_;
	std::vector<Fp16Sums> sums_;	    /* of a line */
	const bool isOnePosition_;	    /* whose operands stay where they are */
	std::vector<Fp16Weights> weights_;  /* of the group, by blocks; of one position some */
	std::vector<uint64_t> wanted_;	    /* of each block, lanes that may have data */
	std::vector<const int16_t *> data_; /* of each block, of one position */
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

	return streamLines(
		op, weights, sink, memory, workers,
		{ worthwhileThreads(op, kFp16MacsForAThread), linesAtOnce },
		[&] { return std::make_unique<Fp16Maker>(op, data, memory, linesAtOnce); });
}

} /* namespace nvdla::sim */
