/* SPDX-License-Identifier: MIT */
/*
 * Output lines out of conv_tile's sums.
 */
#include "conv/conv_fast.h"

#include <algorithm>
#include <optional>

#include "conv/channel_weights.h"
#include "conv/conv_lines.h"
#include "conv/conv_tile.h"
#include "conv/dense_maker.h"
#include "conv/sparse_weights.h"
#include "conv/tile_lines.h"
#include "conv/tile_operands.h"
#include "conv/tile_plan.h"
#include "conv/tile_weights.h"
#include "conv/wide_tile.h"

namespace nvdla::sim
{

namespace
{

/* Positions worth working on at once: many tiles, so that what they leave over is little and SDP
 * has long runs, with sums that stay in a near cache until it has read them. */
constexpr size_t kSumBytesAtOnce = 56 << 10;
/* Above this many bytes of padded lines, or of positions, the reference does it. */
constexpr uint64_t kMaximumLineBytes = 64 << 20;

/** Output lines that are worked on together, of one or two groups */
class TileMaker : public LineMaker
{
public:
	TileMaker(const TilePlan &plan, const TileLines &lines, uint32_t linesAtOnce,
		  Scratch &scratch)
		: op_(plan.op), plan_(plan), lines_(lines), kind_(kindOf(plan, lines)),
		  weights_(plan, scratch),
		  sums_(scratch,
			size_t{ linesAtOnce } * op_.windows.out.width * op_.groupKernels()),
		  wide_(scratch, 0)
	{
		if (plan.mayBeChannelwise && !lines.hasNan())
			channels_.emplace(plan);
	}

	void begin(std::span<int32_t> second) override
	{
		second_ = second;
		loaded_ = 0;
		isWide_ = false;
		weights_.begin(groups());
	}

	void load(const WeightGroup &given) override
	{
		WeightGroup group = given;

		isChannelwise_ = channels_ && channels_->load(group, lines_.data().numbers.range);
		if (!isChannelwise_ && group.bytes.empty())
			unpack(group);
		isWide_ |= isChannelwise_ ? channels_->areWide() : mayBeWide(group);
		kernels_[loaded_] = group.kernels;
		ahead_ = group.nextGroups(groups());
		if (!isChannelwise_)
			weights_.load(group, loaded_);
		loaded_++;
		if (isWide_ && isChannelwise_)
			wide_.resize(sums_.size());
		else if (isWide_ && loaded_ == groups())
			carries_ = wideCarries(weights_.operands(), lines_.data());
	}

	void make(uint64_t first, uint32_t count) override
	{
		const auto positions = lines_.positions(first, count);
		const size_t values = positions.size() * op_.groupKernels();
		const std::span<int32_t> one = std::span(sums_).first(values);
		std::span<int32_t> other;

		if (groups() > 1)
			other = second_.subspan(first * op_.windows.out.width * kFewColumns,
						values);
		saturated_ = 0;
		if (isChannelwise_)
			makeChannels(positions, one);
		else if (isWide_)
			makeWide(positions, placesOf(one, other), aheadOf(first, count));
		else
			tileSums(kind_, positions, weights_.operands(), placesOf(one, other),
				 aheadOf(first, count));
		if (isWide_)
			return;
		finish(one, kernels_[0]);
		finish(other, kernels_[1]);
	}

	std::span<const int32_t> lines() const override { return sums_; }
	uint32_t saturated() const override { return saturated_; }

private:
	/** \return what suits the operands there are */
	static TileKind kindOf(const TilePlan &plan, const TileLines &lines)
	{
		if (plan.kind == TileKind::Bytes && !lines.hasNegative())
			return TileKind::PositiveBytes;
		return plan.kind;
	}

	uint32_t groups() const { return second_.empty() ? 1 : 2; }

	void unpack(WeightGroup &group)
	{
		expandSparse(group.masks, group.packed.data(), elementBytes(op_.precision),
			     unpacked_);
		group.bytes = unpacked_;
	}

	/** \return INT16: conv_tile's sums may overflow 32 bits */
	bool mayBeWide(const WeightGroup &group) const
	{
		constexpr size_t kPiece = 4096; /* which often says so already */
		const uint32_t data = lines_.data().numbers.range.largest();

		if (op_.precision != Precision::Int16)
			return false;
		for (auto rest = group.bytes; !rest.empty();) {
			const auto piece = rest.first(std::min(kPiece, rest.size()));
			const Int16Range weights =
				rangeOf(piece.data(), piece.size() / sizeof(int16_t));
			if (!plan_.sumsFit(data, weights.largest()))
				return true;
			rest = rest.subspan(piece.size());
		}
		return false;
	}

	/** \return the lines' share of what is wanted next */
	std::span<const std::byte> aheadOf(uint64_t first, uint32_t count) const
	{
		const uint64_t lines = uint64_t{ op_.windows.out.height } * op_.batches;
		const size_t begin = ahead_.size() * first / lines;

		return ahead_.subspan(begin, ahead_.size() * (first + count) / lines - begin);
	}

	/** \return where the sums of one group go, or of two */
	TileSums placesOf(std::span<int32_t> one, std::span<int32_t> other) const
	{
		/* Kernels behind the first ones are another group's, or its own. */
		return { { one.data(), other.empty() ? one.data() + kFewColumns : other.data() },
			 op_.groupKernels() };
	}

	/** What becomes of sums that fit 32 bits */
	void finish(std::span<int32_t> sums, uint32_t kernels) const
	{
		if (op_.precision == Precision::Fp16)
			clearBehind(sums, kernels);
		else if (op_.clipTruncate) /* What fits 32 bits needs no clipping. */
			roundSums(sums.data(), sums.size(), op_.clipTruncate);
	}

	/** FP16: a NaN times the weights that there are not is none */
	static void clearBehind(std::span<int32_t> sums, uint32_t kernels)
	{
		if (kernels == kFewColumns)
			return;
		for (size_t i = 0; i < sums.size(); i += kFewColumns)
			std::fill(&sums[i] + kernels, &sums[i] + kFewColumns, 0);
	}

	void makeChannels(std::span<const TilePosition> positions, std::span<int32_t> sums)
	{
		if (!isWide_) {
			channelSums(channels_->operands(), positions.data(), positions.size(),
				    sums.data());
			return;
		}
		wideChannelSums(channels_->operands(), positions.data(), positions.size(),
				wide_.data());
		saturated_ = clipSums(std::span(wide_).first(sums.size()), op_.clipTruncate,
				      sums.data());
	}

	/** INT16: sums that 32 bits do not hold */
	void makeWide(std::span<const TilePosition> positions, const TileSums &sums,
		      std::span<const std::byte> ahead)
	{
		if (carries_.empty() || plan_.units > kMostWideUnits)
			saturated_ = wideSumsReference(positions, weights_.operands(),
						       op_.clipTruncate, sums);
		else
			saturated_ = wideSums(positions, weights_.operands(), carries_,
					      op_.clipTruncate, sums, ahead);
	}

	const ConvOp &op_;
	const TilePlan &plan_;
	const TileLines &lines_;
	const TileKind kind_;
	TileWeights weights_;
	std::optional<ChannelWeights> channels_; /* if there may be such kernels */
	std::vector<std::byte> unpacked_;	 /* that are none, if they came compressed */
	std::span<const std::byte> ahead_;	 /* weights of the next groups */
	std::span<int32_t> second_; /* all lines of the second group, if there is one */
	uint32_t loaded_ = 0;	    /* groups */
	uint32_t kernels_[kTileColumns / kFewColumns] = {}; /* of each group */
	bool isChannelwise_ = false;			    /* the group's weights are channels_ */
	bool isWide_ = false;
	ScratchArray<int32_t> sums_;   /* of the first group */
	ScratchArray<int64_t> wide_;   /* INT16, channelwise */
	std::vector<uint8_t> carries_; /* INT16; none if the reference is to do it */
	uint32_t saturated_ = 0;
};

/** \return true if atoms and MAC steps have the sizes that the SIMD kernels are written for */
bool hasWideSteps(const ConvOp &op)
{
	return op.atom() == atomBytes && op.geometry->macChannels == kMacLanes;
}

/** \return true if no sum that the host makes of integers can overflow */
bool sumsFit(const ConvOp &op)
{
	const CubeSize &kernel = op.windows.kernel;
	const uint64_t elements = uint64_t{ kernel.width } * kernel.height * kernel.channels;

	/* INT8: an unsigned by a signed byte, in 32 bits. INT16: squares of 2^15 in 48 bits. */
	return elements < (op.precision == Precision::Int8 ? 1 << 16 : 1 << 17);
}

/** \return INT8 of the first line and of padding are not below zero: others are likely not to be */
bool beginsPositive(const ConvOp &op, const DataView &data)
{
	std::vector<LinePiece> pieces;

	if (op.precision != Precision::Int8 || tileKind() != TileKind::Bytes)
		return false;
	data.find(0, 0, pieces);
	return padElement(op.precision, op.windows.padValue) >= 0 &&
	       std::ranges::all_of(pieces, [](const LinePiece &piece) {
		       for (size_t i = 0; i < piece.parts; i++)
			       if (lowestOf(piece.from + i * piece.fromStep, piece.bytes) < 0)
				       return false;
		       return true;
	       });
}

/** \return ChannelWeights may take the weights, and takes them compressed */
bool channelsTakeCompressed(const TilePlan &plan)
{
	const ConvOp &op = plan.op;

	return op.weights.compressed && op.precision == Precision::Int8 && plan.mayBeChannelwise &&
	       op.windows.kernel.channels % op.groupKernels() == 0;
}

/**
 * \return weights are fewer bytes than cubes, so that they are better loaded by each thread than
 *	   cubes shared; and no more than the buffer, since all are held then
 */
bool areWeightsSmall(const ConvOp &op)
{
	const uint64_t most = op.geometry->banks * uint64_t{ op.geometry->bankBytes() };
	const auto elements = [](const CubeSize &cube) {
		return uint64_t{ cube.width } * cube.height * cube.channels;
	};
	const uint64_t outputs = uint64_t{ op.windows.out.width } * op.windows.out.height;
	const uint64_t weights = elements(op.windows.kernel) * op.windows.kernels;
	const uint64_t cubes =
		(elements(op.windows.data) + outputs * op.windows.kernels) * op.batches;

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

	/* Four bytes are the most that an element takes. */
	return elements * 4 * paddedHeight(windows) * op.batches <= kMaximumLineBytes &&
	       outputs * sizeof(TilePosition) <= kMaximumLineBytes;
}

bool fastConvAccepts(const ConvOp &op, Fp16Arithmetic fp16)
{
	if (op.mode == ConvMode::Winograd || !hasWideSteps(op) || !paddedLinesFit(op))
		return false;
	if (op.precision == Precision::Fp16)
		return fp16 == Fp16Arithmetic::Fast;
	return sumsFit(op) && tileKind() != TileKind::None;
}

unsigned int fastConvThreads(const ConvOp &op)
{
	/* As long as it takes to begin on a thread. */
	constexpr uint64_t kMacsForAThread = 1 << 19;

	/* So few kernels are not worth a second thread, with a copy of the group. */
	if (isDense(op) && staysCompressed(op))
		return 1;
	return worthwhileThreads(op, kMacsForAThread);
}

ConvCounters computeConvFast(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory, Workers &workers)
{
	const unsigned int threads = fastConvThreads(op);

	if (isDense(op) && staysCompressed(op)) {
		weights.keepCompressed();
		return streamLines(op, weights, sink, memory, workers, { threads, 1 },
				   [&] { return newCompressedMaker(op, data); });
	}
	if (isDense(op)) {
		if (op.precision == Precision::Fp16)
			weights.leaveUnseen();
		return streamLines(op, weights, sink, memory, workers, { threads, 1 },
				   [&] { return newDenseMaker(op, data); });
	}

	const TilePlan plan(op, beginsPositive(op, data), data.places());
	const TileLines lines(plan, data, workers);
	if (channelsTakeCompressed(plan))
		weights.keepCompressed();
	const size_t lineSumBytes = op.windows.out.width * op.groupKernels() * sizeof(int32_t);
	const auto linesAtOnce = static_cast<uint32_t>(std::clamp<size_t>(
		kSumBytesAtOnce / lineSumBytes, 1, op.windows.out.height * op.batches));

	return streamLines(op, weights, sink, memory, workers,
			   { threads, linesAtOnce, plan.groupsAtOnce(), areWeightsSmall(op) }, [&] {
				   return std::make_unique<TileMaker>(plan, lines, linesAtOnce,
								      workers.scratch());
			   });
}

} /* namespace nvdla::sim */
