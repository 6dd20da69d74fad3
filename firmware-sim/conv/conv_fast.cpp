/* SPDX-License-Identifier: MIT */
/* The fast convolution: multiplies panels of weights by tiles of output positions. */
#include "conv/conv_compute.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "conv/channel_weights.h"
#include "conv/conv_lines.h"
#include "conv/conv_tile.h"
#include "conv/dense_sums.h"
#include "conv/tile_lines.h"
#include "conv/tile_operands.h"
#include "conv/tile_plan.h"
#include "conv/tile_weights.h"
#include "conv/wide_sums.h"

namespace nvdla::sim
{

namespace
{

/* Bytes of sums computed at a time. With more positions, partial tiles are rarer and SDP gets
 * longer runs; with fewer, the sums stay in a near cache until SDP reads them. */
constexpr size_t kSumBytesAtOnce = 56 << 10;
/* If padded lines or positions need more bytes, another implementation computes the operation. */
constexpr uint64_t kMaximumLineBytes = 64 << 20;

/** Makes the output lines of all groups of a panel */
class PanelMaker : public LineMaker
{
public:
	PanelMaker(const TilePlan &plan, TileLines &lines, uint32_t linesAtOnce, Scratch &scratch)
		: op_(plan.op), plan_(plan), lines_(lines), weights_(plan, scratch),
		  kernels_(plan.groupsAtOnce()),
		  most_((size_t{ linesAtOnce } * op_.windows.out.width + kRounded - 1) / kRounded *
			kRounded),
		  sums_(scratch, most_ * kTileColumns)
	{
		if (plan.mayBeChannelwise && !lines.hasNan())
			channels_.emplace(plan);
		if (plan.kernel.kind == TileKind::Rows)
			findRows();
	}

	void load(const WeightGroup &group, uint32_t place) override
	{
		kernels_[place] = group.kernels;
		if (plan_.kernel.kind == TileKind::Rows) {
			makeRows(group);
			return;
		}
		isChannelwise_ = channels_ && channels_->load(group, lines_.largest());
		if (isChannelwise_)
			return;
		weights_.load(group, place);
		next_ = group.soon.first(
			std::min(plan_.groupsAtOnce() * group.bytes.size(), group.soon.size()));
		groups_ = place + 1;
		isNew_ = true;
	}

	void make(uint64_t first, uint32_t count) override
	{
		const auto positions = lines_.positions(first, count);
		const size_t sums = positions.size() * op_.groupKernels();

		if (plan_.kernel.kind == TileKind::Rows)
			return;
		if (isChannelwise_) {
			int32_t *const out = linesOf(0).data();
			channelSums(channels_->operands(), positions.data(), positions.size(), out);
			round({ out, sums });
			clearBehind({ out, sums }, kernels_[0]);
			return;
		}
		if (std::exchange(isNew_, false)) {
			panel_ = weights_.panel();
			isWide_ = op_.precision == Precision::Int16 &&
				  wide_.load(panel_, lines_.largest());
		}
		panel_.next = nextOf(first, count);
		const TileSums out = { sums_.data(), op_.groupKernels(), linesOf(0).size() };
		saturated_ = 0;
		if (isWide_)
			saturated_ = wide_.sums(positions, panel_, op_.clipTruncate, out);
		else
			tileSums(plan_.kernel.kind, positions, panel_, out);
		for (uint32_t place = 0; place < groups_; place++) {
			if (!isWide_)
				round(linesOf(place).first((sums + kRounded - 1) / kRounded *
							   kRounded));
			clearBehind(linesOf(place).first(sums), kernels_[place]);
		}
	}

	std::span<const int32_t> lines(uint32_t place) const override
	{
		return const_cast<PanelMaker *>(this)->linesOf(place);
	}
	uint32_t saturated() const override { return saturated_; }

private:
	static constexpr size_t kRounded = 16; /* sums that round() handles at a time */

	/* TileKind::Rows: finds the operands of the only position, block by block. */
	void findRows()
	{
		const Windows &windows = op_.windows;
		const std::byte *first = lines_.positions(0, 1)[0].at;

		for (const Block &block : plan_.blocks) {
			const size_t column =
				size_t{ block.column } * windows.dilationX * windows.data.channels;
			rows_.push_back(
				{ first + block.row * plan_.rowBytes() + column + block.channel,
				  block.weights, block.lanes });
		}
	}

	void makeRows(const WeightGroup &group)
	{
		std::ranges::fill(std::span(sums_), 0);
		denseSums(rows_, { group.bytes.data(), group.kernels }, sums_.data());
		round(sums_);
	}

	/** \return the part of next_ to prefetch while \a count lines from \a first on are made */
	std::span<const std::byte> nextOf(uint64_t first, uint32_t count) const
	{
		const uint64_t lines = uint64_t{ op_.windows.out.height } * op_.batches;
		const size_t begin = next_.size() * first / lines;

		return next_.subspan(begin, next_.size() * (first + count) / lines - begin);
	}

	std::span<int32_t> linesOf(uint32_t place)
	{
		const size_t values = most_ * op_.groupKernels();

		return std::span(sums_).subspan(place * values, values);
	}

	/* Truncates sums of at most 32 bits, which need no clipping. */
	void round(std::span<int32_t> sums) const
	{
		if (op_.precision != Precision::Fp16 && op_.clipTruncate)
			roundSums(sums.data(), sums.size(), op_.clipTruncate);
	}

	/** FP16: clears the sums of columns without a kernel: their weights are zero, but a NaN
	 * times zero is a NaN */
	void clearBehind(std::span<int32_t> sums, uint32_t kernels) const
	{
		const uint32_t columns = op_.groupKernels();

		if (op_.precision != Precision::Fp16 || kernels == columns)
			return;
		for (size_t i = 0; i < sums.size(); i += columns)
			std::fill(&sums[i] + kernels, &sums[i] + columns, 0);
	}

	const ConvOp &op_;
	const TilePlan &plan_;
	TileLines &lines_;
	TileWeights weights_;
	std::optional<ChannelWeights> channels_; /* set if depthwise sums are possible */
	std::vector<DenseBlock> rows_;		 /* TileKind::Rows: operands */
	std::vector<uint32_t> kernels_;		 /* kernels of each group */
	uint32_t groups_ = 0;
	std::span<const std::byte> next_; /* weights of the next panel */
	bool isNew_ = false;		  /* true after load(), until make() */
	bool isChannelwise_ = false;	  /* true if the group's weights are in channels_ */
	bool isWide_ = false;		  /* sums may exceed 32 bits */
	Panel panel_ = {};
	WideWeights wide_;
	const size_t most_;	     /* largest number of positions in a call of make() */
	ScratchArray<int32_t> sums_; /* the first group's sums, then those of the next groups */
	uint32_t saturated_ = 0;
};

/** \return true if no sum can overflow the host's 32-bit (INT8) or 48-bit (INT16) integers */
bool sumsFit(const ConvOp &op)
{
	/* INT8: products of an unsigned and a signed byte, in 32 bits. INT16: products up to 2^30,
	 * in 48 bits. */
	return op.windows.kernel.elements() < (op.precision == Precision::Int8 ? 1 << 16 : 1 << 17);
}

/** \return true if no datum is negative; checked only on hosts that use TileKind::Bytes */
bool isPositive(const ConvOp &op, const DataView &data)
{
	if (op.precision != Precision::Int8 || tileKind() != TileKind::Bytes ||
	    padElement(op.precision, op.windows.padValue) < 0)
		return false;
	std::vector<std::byte> line(data.lineBytes());
	for (uint32_t y = 0; y < op.windows.data.height; y++) {
		for (uint32_t batch = 0; batch < op.batches; batch++) {
			data.read(batch, y, line.data());
			if (anyNegative(line.data(), line.size()))
				return false;
		}
	}
	return true;
}

/** \return true if weights are smaller than the cubes and fit into the buffer: it is then faster if
 * each thread makes a band of lines with all weights (see LineShares::inBands) */
bool areWeightsSmall(const ConvOp &op)
{
	const uint64_t most = op.geometry->banks * uint64_t{ op.geometry->bankBytes() };
	const uint64_t outputs = uint64_t{ op.windows.out.width } * op.windows.out.height;
	const uint64_t weights = op.windows.kernel.elements() * op.windows.kernels;
	const uint64_t cubes =
		(op.windows.data.elements() + outputs * op.windows.kernels) * op.batches;

	return weights < cubes && weights * elementBytes(op.precision) <= most;
}

} /* namespace */

bool paddedLinesFit(const ConvOp &op)
{
	const Windows &windows = op.windows;
	const uint64_t columns = uint64_t{ windows.out.width } * windows.strideX +
				 uint64_t{ windows.kernel.width } * windows.dilationX;
	const uint64_t elements = columns * windows.data.channels + windows.kernel.channels;
	const uint64_t outputs = uint64_t{ windows.out.width } * windows.out.height * op.batches;

	/* An operand has at most four bytes. */
	return elements * 4 * paddedHeight(windows) * op.batches <= kMaximumLineBytes &&
	       outputs * sizeof(TilePosition) <= kMaximumLineBytes;
}

bool fastConvAccepts(const ConvOp &op, Fp16Arithmetic fp16)
{
	if (op.mode == ConvMode::Winograd || kTileColumns % op.groupKernels() ||
	    !paddedLinesFit(op))
		return false;
	if (op.precision == Precision::Fp16)
		return fp16 == Fp16Arithmetic::Fast;
	return sumsFit(op) && tileKind() != TileKind::None;
}

unsigned int worthwhileThreads(const ConvOp &op, Fp16Arithmetic fp16)
{
	if (fastConvAccepts(op, fp16))
		return worthwhileThreads(op, kFastMacsForAThread);
	return fp16ConvAccepts(op) ? worthwhileThreads(op, kFp16MacsForAThread) : 1;
}

ConvCounters computeConvFast(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory, Workers &workers)
{
	const unsigned int threads = worthwhileThreads(op, kFastMacsForAThread);

	const TilePlan plan(op, isPositive(op, data));
	TileLines lines(plan, data, workers);
	const size_t lineSumBytes = op.windows.out.width * kTileColumns * sizeof(int32_t);
	const auto linesAtOnce = static_cast<uint32_t>(std::clamp<size_t>(
		kSumBytesAtOnce / lineSumBytes, 1, op.windows.out.height * op.batches));

	return streamLines(op, weights, sink, memory, workers,
			   { threads, linesAtOnce, plan.groupsAtOnce(), areWeightsSmall(op) }, [&] {
				   return std::make_unique<PanelMaker>(plan, lines, linesAtOnce,
								       workers.scratch());
			   });
}

} /* namespace nvdla::sim */
