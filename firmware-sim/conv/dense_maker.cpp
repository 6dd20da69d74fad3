/* SPDX-License-Identifier: MIT */
#include "conv/dense_maker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "conv/dense_floats.h"
#include "conv/dense_sums.h"
#include "conv/tile_operands.h"
#include "conv/wide_tile.h"

namespace nvdla::sim
{

namespace
{

/** \return the first element of the data that a block's lanes meet */
size_t denseOffset(const ConvOp &op, const Block &block)
{
	const size_t line = size_t{ block.row } * op.windows.dilationY * op.windows.data.width;
	const size_t column = size_t{ block.column } * op.windows.dilationX;

	return (line + column) * op.windows.data.channels + block.channel;
}

/** The only line of an operation with one output position, of integers */
class IntegerMaker : public LineMaker
{
public:
	IntegerMaker(const ConvOp &op, const DataView &data)
		: op_(op), blocks_(makeBlocks(op)), elementBytes_(elementBytes(op.precision)),
		  lineBytes_(data.lineBytes()), data_(lineBytes_ * op.windows.data.height),
		  sums_(op.groupKernels()), wide_(op.groupKernels())
	{
		for (uint32_t y = 0; y < op.windows.data.height; y++)
			data.read(0, y, &data_[y * lineBytes_]);
		if (isWide()) {
			range_ = rangeOf(data_.data(), data_.size() / elementBytes_);
			return;
		}
		for (const Block &block : blocks_) {
			const std::byte *bytes = dataOf(block);
			for (uint32_t i = 0; i < block.lanes; i++)
				statistics_.add(static_cast<int8_t>(bytes[i]));
		}
	}

	void load(const WeightGroup &group) override
	{
		operands_.clear();
		for (const Block &block : blocks_)
			operands_.push_back(
				{ dataOf(block),
				  &group.bytes[block.weights * group.kernels * elementBytes_],
				  block.lanes * elementBytes_ });
		if (isWide()) {
			std::fill(wide_.begin(), wide_.end(), 0);
			denseWideSums(operands_, group.kernels, static_cast<int16_t>(range_.lowest),
				      wide_.data());
			saturated_ = clipSums(wide_, op_.clipTruncate, sums_.data());
			return;
		}
		std::fill(sums_.begin(), sums_.end(), 0);
		denseSums(operands_, group.kernels, statistics_, sums_.data());
		if (op_.clipTruncate)
			roundSums(sums_.data(), sums_.size(), op_.clipTruncate);
	}

	/* All that there is to make is made. */
	void make(uint64_t, uint32_t) override {}
	std::span<const int32_t> lines() const override { return sums_; }
	uint32_t saturated() const override { return saturated_; }

private:
	bool isWide() const { return op_.precision == Precision::Int16; }

	const std::byte *dataOf(const Block &block) const
	{
		return &data_[denseOffset(op_, block) * elementBytes_];
	}

	const ConvOp &op_;
	const std::vector<Block> blocks_;
	const size_t elementBytes_;
	const size_t lineBytes_;
	std::vector<std::byte> data_;
	ByteStatistics statistics_; /* INT8 */
	Int16Range range_;	    /* INT16 */
	std::vector<DenseBlock> operands_;
	std::vector<int32_t> sums_;
	std::vector<int64_t> wide_; /* INT16 */
	uint32_t saturated_ = 0;
};

/** The same of FP16 */
class FloatMaker : public LineMaker
{
public:
	FloatMaker(const ConvOp &op, const DataView &data)
		: op_(op), blocks_(makeBlocks(op)),
		  data_(data.lineBytes() * op.windows.data.height / sizeof(uint16_t)),
		  sums_(kFewColumns)
	{
		std::vector<std::byte> halves(data_.size() * sizeof(uint16_t));

		for (uint32_t y = 0; y < op.windows.data.height; y++)
			data.read(0, y, &halves[y * data.lineBytes()]);
		widenHalves(halves.data(), data_.size(), data_.data());
		/* Sums are made row by row, column by column. */
		std::ranges::stable_sort(blocks_, {}, [](const Block &block) {
			return std::pair(block.row, block.column);
		});
	}

	void load(const WeightGroup &group) override
	{
		operands_.clear();
		for (const Block &block : blocks_)
			operands_.push_back(
				{ &data_[denseOffset(op_, block)],
				  &group.bytes[block.weights * group.kernels * sizeof(uint16_t)],
				  block.lanes });
		denseFloatSums(operands_, group.kernels, sums_.data());
	}

	/* All that there is to make is made. */
	void make(uint64_t, uint32_t) override {}
	std::span<const int32_t> lines() const override { return sums_; }
	uint32_t saturated() const override { return 0; }

private:
	const ConvOp &op_;
	std::vector<Block> blocks_;
	std::vector<float> data_;
	std::vector<DenseFloats> operands_;
	std::vector<int32_t> sums_;
};

} /* namespace */

bool isDense(const ConvOp &op)
{
	const Windows &windows = op.windows;
	const CubeSize &kernel = windows.kernel;

	return op.mode == ConvMode::Direct && op.batches == 1 && windows.out.width == 1 &&
	       windows.out.height == 1 && windows.padLeft == 0 && windows.padTop == 0 &&
	       kernel.channels == windows.data.channels &&
	       (kernel.width - 1) * windows.dilationX < windows.data.width &&
	       (kernel.height - 1) * windows.dilationY < windows.data.height;
}

std::unique_ptr<LineMaker> newDenseMaker(const ConvOp &op, const DataView &data)
{
	if (op.precision == Precision::Fp16)
		return std::make_unique<FloatMaker>(op, data);
	return std::make_unique<IntegerMaker>(op, data);
}

} /* namespace nvdla::sim */
