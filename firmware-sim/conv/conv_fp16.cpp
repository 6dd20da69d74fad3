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

class Fp16Maker : public LineMaker
{
public:
	Fp16Maker(const ConvOp &op, const DataView &data, const MemoryPort &memory,
		  uint32_t linesAtOnce)
		: op_(op), memory_(memory), operands_(op, data), blocks_(makeBlocks(op)),
		  isOnePosition_(op.windows.out.width * op.windows.out.height * op.batches == 1),
		  weights_(isOnePosition_ ? 1 : blocks_.size()), sums_(op.windows.out.width),
		  lineValues_(size_t{ op.windows.out.width } * kFp16Kernels),
		  out_(lineValues_ * linesAtOnce)
	{
		for (const Block &block : blocks_)
			wanted_.push_back(isOnePosition_ ? lanesWithData(block) : kAllLanes);
	}

	/* Weights for one position are used up at once. */
	void load(const WeightGroup &group) override
	{
		const TowardZero towardZero;

		if (isOnePosition_)
			begin();
		for (size_t i = 0; i < blocks_.size() && !memory_.cancelled(); i++) {
			const Block &block = blocks_[i];
			Fp16Weights &weights = weights_[isOnePosition_ ? 0 : i];
			weights.load(group.bytes.data() +
					     block.weights * group.kernels * sizeof(uint16_t),
				     group.kernels, block.lanes, wanted_[i]);
			if (isOnePosition_)
				step(towardZero, weights, 0, 0, block);
		}
	}

	void make(uint64_t first, uint32_t count) override
	{
		for (uint32_t i = 0; i < count && !memory_.cancelled(); i++) {
			if (!isOnePosition_)
				accumulate(static_cast<uint32_t>((first + i) % op_.batches),
					   static_cast<uint32_t>((first + i) / op_.batches));
			deliverFp16(sums_.data(), sums_.size(), &out_[i * lineValues_]);
		}
	}

	std::span<const int32_t> lines() const override { return out_; }

	uint32_t saturated() const override { return 0; }

private:
	static constexpr uint64_t kAllLanes = ~uint64_t{ 0 };

	uint64_t lanesWithData(const Block &block)
	{
		const int16_t *data = operands_.line(0, 0, block)[0];
		uint64_t lanes = 0;

		for (uint32_t i = 0; i < block.lanes; i++)
			lanes |= uint64_t{ data[i] != 0 } << i;
		return lanes;
	}

	void begin() { std::fill(sums_.begin(), sums_.end(), Fp16Sums()); }

	void step(const TowardZero &towardZero, const Fp16Weights &weights, uint32_t batch,
		  uint32_t y, const Block &block)
	{
		stepFp16(towardZero, weights, operands_.line(batch, y, block).data(), sums_.size(),
			 sums_.data());
	}

	void accumulate(uint32_t batch, uint32_t y)
	{
		const TowardZero towardZero;

		begin();
		for (size_t i = 0; i < blocks_.size() && !memory_.cancelled(); i++)
			step(towardZero, weights_[i], batch, y, blocks_[i]);
	}

	const ConvOp &op_;
	const MemoryPort &memory_;
	Operands operands_;
	std::vector<Block> blocks_;
	const bool isOnePosition_;
	std::vector<uint64_t> wanted_;	   /* lanes of the blocks, see Fp16Weights::load() */
	std::vector<Fp16Weights> weights_; /* of the group, by blocks; of one position the last */
	std::vector<Fp16Sums> sums_;	   /* of a line */
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
