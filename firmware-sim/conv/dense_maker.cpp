/* SPDX-License-Identifier: MIT */
#include "conv/dense_maker.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "conv/dense_floats.h"
#include "conv/dense_sums.h"
#include "conv/sparse_weights.h"
#include "conv/tile_operands.h"
#include "conv/wide_tile.h"
#include "core/aligned.h"

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
		: op_(op), elementBytes_(elementBytes(op.precision)), lineBytes_(data.lineBytes()),
		  data_(lineBytes_ * op.windows.data.height), sums_(op.groupKernels()),
		  wide_(op.groupKernels())
	{
		for (uint32_t y = 0; y < op.windows.data.height; y++)
			data.read(0, y, &data_[y * lineBytes_]);
		for (const Block &block : makeBlocks(op))
			blocks_.push_back({ &data_[denseOffset(op, block) * elementBytes_],
					    block.weights * elementBytes_,
					    block.lanes * elementBytes_ });
		if (isWide())
			range_ = rangeOf(data_.data(), data_.size() / elementBytes_);
	}

	void load(const WeightGroup &group) override
	{
		const DenseWeights weights = { group.bytes.data(), group.kernels };

		if (isWide()) {
			std::fill(wide_.begin(), wide_.end(), 0);
			denseWideSums(blocks_, weights, static_cast<int16_t>(range_.lowest),
				      wide_.data());
			saturated_ = clipSums(wide_, op_.clipTruncate, sums_.data());
			return;
		}
		std::fill(sums_.begin(), sums_.end(), 0);
		denseSums(blocks_, weights, sums_.data());
		if (op_.clipTruncate)
			roundSums(sums_.data(), sums_.size(), op_.clipTruncate);
	}

	/* All that there is to make is made. */
	void make(uint64_t, uint32_t) override {}
	std::span<const int32_t> lines() const override { return sums_; }
	uint32_t saturated() const override { return saturated_; }

private:
	bool isWide() const { return op_.precision == Precision::Int16; }

	const ConvOp &op_;
	const size_t elementBytes_;
	const size_t lineBytes_;
	LineVector data_;
	std::vector<DenseBlock> blocks_;
	Int16Range range_; /* INT16 */
	std::vector<int32_t> sums_;
	std::vector<int64_t> wide_; /* INT16 */
	uint32_t saturated_ = 0;
};

/** The same of FP16 */
class FloatMaker : public LineMaker
{
public:
	FloatMaker(const ConvOp &op, const DataView &data)
		: data_(data.lineBytes() * op.windows.data.height / sizeof(uint16_t))
	{
		std::vector<Block> blocks = makeBlocks(op);
		std::vector<std::byte> halves(data_.size() * sizeof(uint16_t));

		for (uint32_t y = 0; y < op.windows.data.height; y++)
			data.read(0, y, &halves[y * data.lineBytes()]);
		widenHalves(halves.data(), data_.size(), data_.data());
		/* Sums are made row by row, column by column. */
		std::ranges::stable_sort(blocks, {}, [](const Block &block) {
			return std::pair(block.row, block.column);
		});
		for (const Block &block : blocks)
			blocks_.push_back(
				{ &data_[denseOffset(op, block)], block.weights, block.lanes });
	}

	/* The next group, too, if it is of the same size: it is done if it is where it is expected.
	 */
	void load(const WeightGroup &group) override
	{
		const bool isWhole = group.kernels == kFewColumns;
		const bool isDone = isWhole && group.bytes.data() == next_;
		const size_t bytes = group.bytes.size();
		const bool both = isWhole && group.ahead.size() >= bytes;
		const std::byte *const groups[] = { group.bytes.data(), group.ahead.data() };

		shown_ = isDone ? kFewColumns : 0;
		next_ = nullptr;
		if (isDone)
			return;
		if (!denseFloatSums(blocks_, std::span(groups).first(both ? 2 : 1), group.kernels,
				    sums_,
				    group.nextGroups(both ? 3 : 1).subspan(both ? bytes : 0)) &&
		    group.unseen) {
			const std::byte *const seen = group.unseen->see(group.bytes, seen_).data();
			denseFloatSums(blocks_, { &seen, 1 }, group.kernels, sums_);
		} else if (both) {
			next_ = group.ahead.data();
		}
	}

	/* All that there is to make is made. */
	void make(uint64_t, uint32_t) override {}
	std::span<const int32_t> lines() const override
	{
		return std::span(sums_).subspan(shown_, kFewColumns);
	}
	uint32_t saturated() const override { return 0; }

private:
	std::vector<float> data_;
	std::vector<DenseFloats> blocks_;
	const std::byte *next_ = nullptr; /* the group whose sums are the second ones */
	size_t shown_ = 0;		  /* sums before those of the group */
	std::vector<std::byte> seen_;
	int32_t sums_[2 * kFewColumns] = {};
};

/* Numbers, and zeroes behind them that a whole row of columns may be read from the last one on. */
std::vector<int16_t> numbersOf(std::span<const std::byte> elements, int16_t)
{
	std::vector<int16_t> numbers(elements.size() + kTileColumns);

	widenBytes(elements.data(), elements.size(), numbers.data());
	return numbers;
}

std::vector<float> numbersOf(std::span<const std::byte> elements, float)
{
	const size_t count = elements.size() / sizeof(uint16_t);
	std::vector<float> numbers(count + kFewColumns);

	widenHalves(elements.data(), count, numbers.data());
	return numbers;
}

int32_t bitsOf(int32_t sum)
{
	return sum;
}

int32_t bitsOf(float sum)
{
	return std::isnan(sum) ? kFloatNan : std::bit_cast<int32_t>(sum);
}

/**
 * \brief The same of weights that are compressed, where each kernel has those of one channel alone
 *
 * The mask says so. Others are expanded, and left to newDenseMaker()'s.
 *
 * \tparam Number of data and weights: of INT8 16 bits \tparam Sum of their products
 */
template<typename Number, typename Sum>
class CompressedMaker : public LineMaker
{
public:
	CompressedMaker(const ConvOp &op, const DataView &data)
		: op_(op), view_(data), channels_(op.windows.kernel.channels),
		  mask_(channelMask(op.windows.kernels, channels_)), sums_(op.groupKernels())
	{
		std::vector<std::byte> elements(data.lineBytes() * op.windows.data.height);

		for (uint32_t y = 0; y < op.windows.data.height; y++)
			data.read(0, y, &elements[y * data.lineBytes()]);
		data_ = numbersOf(elements, Number());
		/* A NaN times the weights that there are not is none. */
		if constexpr (std::is_same_v<Number, float>)
			hasNan_ = !areFinite(elements.data(), elements.size() / sizeof(uint16_t)) &&
				  std::ranges::any_of(data_,
						      [](float one) { return std::isnan(one); });
	}

	void load(const WeightGroup &group) override
	{
		const size_t bytes = elementBytes(op_.precision);

		if (!hasNan_ && isChannels(group)) {
			sumUp(numbersOf(group.packed, Number()), group.kernels);
			if (op_.clipTruncate && op_.precision == Precision::Int8)
				roundSums(sums_.data(), sums_.size(), op_.clipTruncate);
			return;
		}
		expandSparse(group.masks, group.packed.data(), bytes, expanded_);
		other_ = newDenseMaker(op_, view_);
		other_->load({ group.kernels, expanded_ });
	}

	/* All that there is to make is made. */
	void make(uint64_t, uint32_t) override {}
	std::span<const int32_t> lines() const override { return other_ ? other_->lines() : sums_; }
	uint32_t saturated() const override { return 0; }

private:
	static constexpr size_t kColumns =
		std::is_same_v<Number, float> ? kFewColumns : kTileColumns;

	/** \return the mask of each element of a kernel: its own channel for each of them */
	static std::vector<std::byte> channelMask(size_t kernels, size_t channels)
	{
		std::vector<std::byte> mask(kernels * channels / 8);

		for (size_t kernel = 0; kernel < kernels; kernel++) {
			const size_t bit = kernel * channels + kernel;
			mask[bit / 8] |= std::byte{ 1 } << bit % 8;
		}
		return mask;
	}

	/* The first element's mask is mask_, and each other one's is that of the element before. */
	bool isChannels(const WeightGroup &group) const
	{
		const std::byte *masks = group.masks.data();
		const size_t one = mask_.size();

		return std::memcmp(masks, mask_.data(), one) == 0 &&
		       std::memcmp(masks, masks + one, group.masks.size() - one) == 0;
	}

	/*
	 * Row by row and column by column, as other makers add up FP16. A constant number of
	 * columns is what compilers make vectors of: behind the kernels there are sums of anything.
	 */
	void sumUp(const std::vector<Number> &weights, size_t kernels)
	{
		const Number *weight = weights.data();
		Sum sums[kColumns] = {};

		for (const Block &block : makeBlocks(op_)) {
			const Number *data = &data_[denseOffset(op_, block)];
			for (size_t column = 0; column < kColumns; column++)
				sums[column] += static_cast<Sum>(data[column] * weight[column]);
			weight += kernels;
		}
		std::transform(sums, sums + kernels, sums_.begin(),
			       [](Sum one) { return bitsOf(one); });
	}

	const ConvOp &op_;
	const DataView &view_;
	const size_t channels_;
	const std::vector<std::byte> mask_; /* of all kernels, one element each */
	std::vector<Number> data_;
	bool hasNan_ = false;
	std::vector<int32_t> sums_;
	std::vector<std::byte> expanded_;
	std::unique_ptr<LineMaker> other_; /* if the weights are no such */
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

bool staysCompressed(const ConvOp &op)
{
	const uint32_t channels = op.windows.kernel.channels;

	return op.weights.compressed && op.precision != Precision::Int16 && channels % 8 == 0 &&
	       op.windows.kernels <= channels && channels <= op.groupKernels();
}

std::unique_ptr<LineMaker> newCompressedMaker(const ConvOp &op, const DataView &data)
{
	if (op.precision == Precision::Fp16)
		return std::make_unique<CompressedMaker<float, float>>(op, data);
	return std::make_unique<CompressedMaker<int16_t, int32_t>>(op, data);
}

std::unique_ptr<LineMaker> newDenseMaker(const ConvOp &op, const DataView &data)
{
	if (op.precision == Precision::Fp16)
		return std::make_unique<FloatMaker>(op, data);
	return std::make_unique<IntegerMaker>(op, data);
}

} /* namespace nvdla::sim */
