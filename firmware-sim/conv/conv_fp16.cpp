/* SPDX-License-Identifier: MIT */
/*
 * The loops of computeConv() around cells that work on all kernels at once.
 */
#include "conv/conv_fp16.h"

#include <algorithm>

#include "conv/fp16_cells.h"
#include "conv/line_elements.h"

namespace nvdla::sim
{

namespace
{

class Fp16Convolution
{
public:
	Fp16Convolution(const ConvOp &op, const DataView &data, StreamSink &sink,
			const MemoryPort &memory)
		: op_(op), sink_(sink), memory_(memory), operands_(op, data),
		  blocks_(makeBlocks(op)), weights_(blocks_.size()), sums_(op.windows.out.width),
		  out_(size_t{ op.windows.out.width } * kFp16Kernels)
	{
	}

	void run(WeightSource &source)
	{
		for (uint32_t surface = 0; surface < op_.surfaces(); surface++) {
			if (memory_.cancelled())
				return;
			load(source.next());
			for (uint32_t y = 0; y < op_.windows.out.height; y++) {
				for (uint32_t batch = 0; batch < op_.batches; batch++) {
					if (!accumulate(batch, y))
						return;
					deliver(batch, surface, y);
				}
			}
		}
	}

private:
	void load(const WeightGroup &group)
	{
		std::vector<int16_t> elements(group.bytes.size() / sizeof(int16_t));

		widen(op_.precision, group.bytes.data(), elements);
		for (size_t i = 0; i < blocks_.size(); i++)
			weights_[i].load(elements.data() + blocks_[i].weights * group.kernels,
					 group.kernels, blocks_[i].lanes);
	}

	bool accumulate(uint32_t batch, uint32_t y)
	{
		std::fill(sums_.begin(), sums_.end(), Fp16Sums());
		for (size_t i = 0; i < blocks_.size(); i++) {
			if (memory_.cancelled())
				return false;
			stepFp16(weights_[i], operands_.line(batch, y, blocks_[i]).data(),
				 sums_.size(), sums_.data());
		}
		return true;
	}

	void deliver(uint32_t batch, uint32_t surface, uint32_t y)
	{
		int32_t *out = out_.data();

		for (const Fp16Sums &sums : sums_)
			for (size_t kernel = 0; kernel < kFp16Kernels; kernel++)
				*out++ = static_cast<int32_t>(sums.deliver(kernel));
		sink_.push({ batch, surface, y, 0, op_.windows.out.width, out_ });
	}

	const ConvOp &op_;
	StreamSink &sink_;
	const MemoryPort &memory_;
	Operands operands_;
	std::vector<Block> blocks_;
	std::vector<Fp16Weights> weights_; /* of the group, by blocks */
	std::vector<Fp16Sums> sums_;	   /* of the line */
	std::vector<int32_t> out_;
};

} /* namespace */

bool fp16ConvAccepts(const ConvOp &op)
{
	return op.precision == Precision::Fp16 && op.mode != ConvMode::Winograd &&
	       fp16CellsSupported();
}

ConvCounters computeConvFp16(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory)
{
	Fp16Convolution(op, data, sink, memory).run(weights);
	return {};
}

} /* namespace nvdla::sim */
