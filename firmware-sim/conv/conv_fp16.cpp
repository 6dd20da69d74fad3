/* SPDX-License-Identifier: MIT */
/*
 * The loops of computeConv() around cells that work on all kernels at once.
 */
#include "conv/conv_fp16.h"

#include <algorithm>

#include "conv/conv_lines.h"
#include "conv/fp16_cells.h"
#include "conv/line_elements.h"

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
		  weights_(blocks_.size()), sums_(op.windows.out.width),
		  lineValues_(size_t{ op.windows.out.width } * kFp16Kernels),
		  out_(lineValues_ * linesAtOnce)
	{
	}

	void load(const WeightGroup &group) override
	{
		std::vector<int16_t> elements(group.bytes.size() / sizeof(int16_t));

		widen(op_.precision, group.bytes.data(), elements);
		for (size_t i = 0; i < blocks_.size(); i++)
			weights_[i].load(elements.data() + blocks_[i].weights * group.kernels,
					 group.kernels, blocks_[i].lanes);
	}

	void make(uint64_t first, uint32_t count) override
	{
		for (uint32_t i = 0; i < count && !memory_.cancelled(); i++) {
			accumulate(static_cast<uint32_t>((first + i) % op_.batches),
				   static_cast<uint32_t>((first + i) / op_.batches));
			int32_t *out = &out_[i * lineValues_];
			for (const Fp16Sums &sums : sums_)
				for (size_t kernel = 0; kernel < kFp16Kernels; kernel++)
					*out++ = static_cast<int32_t>(sums.deliver(kernel));
		}
	}

	std::span<const int32_t> lines() const override { return out_; }

	uint32_t saturated() const override { return 0; }

private:
	void accumulate(uint32_t batch, uint32_t y)
	{
		std::fill(sums_.begin(), sums_.end(), Fp16Sums());
		for (size_t i = 0; i < blocks_.size() && !memory_.cancelled(); i++)
			stepFp16(weights_[i], operands_.line(batch, y, blocks_[i]).data(),
				 sums_.size(), sums_.data());
	}

	const ConvOp &op_;
	const MemoryPort &memory_;
	Operands operands_;
	std::vector<Block> blocks_;
	std::vector<Fp16Weights> weights_; /* of the group, by blocks */
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
