/* SPDX-License-Identifier: MIT */
/*
 * Reference convolution.
 */
#include "conv/conv_compute.h"

#include <algorithm>
#include <array>

#include "conv/cacc.h"
#include "conv/cmac.h"
#include "core/elements.h"

namespace nvdla::sim
{

namespace
{

/** The MAC cells of one kernel group for integers, with accumulators of \a Bits bits */
template<unsigned Bits>
class IntegerCells
{
public:
	using Sum = IntegerSum;

	void load(const int16_t *weights, uint32_t kernels, uint32_t lanes)
	{
		weights_ = weights;
		kernels_ = kernels;
		lanes_ = lanes;
	}

	void step(const int16_t *data, Sum *sums) const
	{
		for (uint32_t k = 0; k < kernels_; k++)
			sums[k].template add<Bits>(macInteger(data, weights_ + k * lanes_, lanes_));
	}

	/** \param sums the first accumulator of each of the 2x2 outputs */
	void stepTile(const int16_t *data, const std::array<Sum *, 4> &sums) const
	{
		for (uint32_t k = 0; k < kernels_; k++) {
			const auto out = macIntegerWinograd(data, weights_ + k * lanes_);
			for (size_t i = 0; i < out.size(); i++)
				sums[i][k].template add<Bits>(out[i]);
		}
	}

	static int32_t deliver(const Sum &sum, uint32_t truncate, bool &saturated)
	{
		return sum.deliver(truncate, saturated);
	}

private:
	const int16_t *weights_ = nullptr;
	uint32_t kernels_ = 0;
	uint32_t lanes_ = 0;
};

/** The MAC cells of one kernel group for FP16 */
class FloatCells
{
public:
	using Sum = FloatSum;

	FloatCells() : weights_(atomChannels(Precision::Fp16)) {}

	void load(const int16_t *weights, uint32_t kernels, uint32_t lanes)
	{
		kernels_ = kernels;
		lanes_ = lanes;
		for (uint32_t k = 0; k < kernels; k++)
			weights_[k].load(weights + k * lanes, lanes);
	}

	void step(const int16_t *data, Sum *sums)
	{
		data_.load(data, lanes_);
		for (uint32_t k = 0; k < kernels_; k++)
			sums[k].add(macFp16(data_, weights_[k], lanes_));
	}

	void stepTile(const int16_t *data, const std::array<Sum *, 4> &sums)
	{
		data_.load(data, lanes_);
		for (uint32_t k = 0; k < kernels_; k++) {
			const auto out = macFp16Winograd(data_, weights_[k]);
			for (size_t i = 0; i < out.size(); i++)
				sums[i][k].add(out[i]);
		}
	}

	static int32_t deliver(const Sum &sum, uint32_t, bool &)
	{
		return static_cast<int32_t>(sum.deliver());
	}

private:
	std::vector<Fp16Vector> weights_;
	Fp16Vector data_;
	uint32_t kernels_ = 0;
	uint32_t lanes_ = 0;
};

/** Runs an operation with MAC cells of type \a Cells */
template<typename Cells>
class Convolution
{
public:
	Convolution(const ConvOp &op, const DataView &data, StreamSink &sink,
		    const MemoryPort &memory)
		: op_(op), sink_(sink), memory_(memory), operands_(op, data),
		  blocks_(makeBlocks(op)), channels_(op.groupKernels()),
		  linesAtOnce_(op.mode == ConvMode::Winograd ? 2 : 1), width_(op.windows.out.width),
		  sums_(size_t{ width_ } * channels_ * linesAtOnce_),
		  out_(size_t{ width_ } * channels_)
	{
	}

	ConvCounters run(WeightSource &weights)
	{
		for (uint32_t surface = 0; surface < op_.surfaces(); surface++) {
			if (memory_.cancelled())
				break;
			load(weights.next());
			runLines(surface);
		}
		return counters_;
	}

private:
	void runLines(uint32_t surface)
	{
		for (uint32_t y = 0; y < op_.windows.out.height; y += linesAtOnce_) {
			for (uint32_t batch = 0; batch < op_.batches; batch++) {
				if (!accumulate(batch, y))
					return;
				for (uint32_t i = 0; i < linesAtOnce_; i++)
					deliverLine(batch, surface, y + i, &sums_[i * out_.size()]);
			}
		}
	}

	bool accumulate(uint32_t batch, uint32_t y)
	{
		std::fill(sums_.begin(), sums_.end(), typename Cells::Sum());
		for (const Block &block : blocks_) {
			if (memory_.cancelled())
				return false;
			cells_.load(weights_.data() + block.weights * kernels_, kernels_,
				    block.lanes);
			if (op_.mode == ConvMode::Winograd)
				addTiles(y, block);
			else
				addLine(batch, y, block);
		}
		return true;
	}

	void addLine(uint32_t batch, uint32_t y, const Block &block)
	{
		auto *sums = sums_.data();

		for (const int16_t *vector : operands_.line(batch, y, block)) {
			cells_.step(vector, sums);
			sums += channels_;
		}
	}

	void addTiles(uint32_t y, const Block &block)
	{
		auto *sums = sums_.data();
		auto *next = sums + out_.size();

		for (const int16_t *tile : operands_.tiles(y / 2, block)) {
			cells_.stepTile(tile, { sums, sums + channels_, next, next + channels_ });
			sums += 2 * channels_;
			next += 2 * channels_;
		}
	}

	void load(const WeightGroup &group)
	{
		kernels_ = group.kernels;
		weights_.resize(group.bytes.size() / elementBytes(op_.precision));
		widenElements(group.bytes, op_.precision, weights_);
	}

	void deliverLine(uint32_t batch, uint32_t surface, uint32_t y,
			 const typename Cells::Sum *sums)
	{
		for (size_t i = 0; i < out_.size(); i++) {
			bool saturated = false;
			out_[i] = Cells::deliver(sums[i], op_.clipTruncate, saturated);
			counters_.saturated += saturated;
		}
		sink_.push({ batch, surface, y, 0, width_, out_ });
	}

	const ConvOp &op_;
	StreamSink &sink_;
	const MemoryPort &memory_;
	Operands operands_;
	std::vector<Block> blocks_;
	uint32_t channels_; /* number of kernels in a full group */
	uint32_t linesAtOnce_;
	uint32_t width_;
	std::vector<typename Cells::Sum> sums_;
	std::vector<int32_t> out_;
	Cells cells_;
	uint32_t kernels_ = 0;	       /* kernels of the loaded group */
	std::vector<int16_t> weights_; /* weights of the loaded group */
	ConvCounters counters_;
};

} /* namespace */

ConvCounters computeConv(const ConvOp &op, const DataView &data, WeightSource &weights,
			 StreamSink &sink, const MemoryPort &memory)
{
	switch (op.precision) {
	case Precision::Int8:
		return Convolution<IntegerCells<34>>(op, data, sink, memory).run(weights);
	case Precision::Int16:
		return Convolution<IntegerCells<48>>(op, data, sink, memory).run(weights);
	default:
		return Convolution<FloatCells>(op, data, sink, memory).run(weights);
	}
}

} /* namespace nvdla::sim */
