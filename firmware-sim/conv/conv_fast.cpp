/* SPDX-License-Identifier: MIT */
/*
 * Output lines out of conv_tile's sums.
 */
#include "conv/conv_fast.h"

#include <algorithm>

#include "conv/cacc.h"
#include "conv/conv_tile.h"
#include "conv/tile_lines.h"
#include "conv/tile_operands.h"
#include "conv/tile_plan.h"
#include "conv/tile_weights.h"

namespace nvdla::sim
{

namespace
{

/* Positions worth working on at once: many tiles, so that what they leave over is little. */
constexpr uint32_t kPositionsAtOnce = 192;
/* Above this many bytes of padded lines the reference does it. */
constexpr uint64_t kMaximumLineBytes = 64 << 20;

/** Output lines that are worked on together */
class Outputs
{
public:
	Outputs(const TilePlan &plan, const TileLines &lines)
		: op_(plan.op), plan_(plan), lines_(lines),
		  rows_(static_cast<size_t>(linesAtOnce()) * op_.windows.kernel.height),
		  sums_(positionsAtOnce() * plan.columns())
	{
		if (op_.precision != Precision::Int16)
			return;
		wide_.resize(positionsAtOnce() * op_.groupKernels());
		clipped_.resize(wide_.size());
	}

	uint32_t linesAtOnce() const
	{
		const uint32_t wanted = std::max(1U, kPositionsAtOnce / op_.windows.out.width);
		return static_cast<uint32_t>(std::min<uint64_t>(
			wanted, uint64_t{ op_.windows.out.height } * op_.batches));
	}

	/** \brief Compute \a count lines from line \a first, cubes of the batch alternating */
	void compute(const TileWeights &weights, uint64_t first, uint32_t count,
		     ConvCounters &counters)
	{
		const size_t positions = place(first, count);

		if (op_.precision == Precision::Int16) {
			accumulate(weights, positions);
			deliver(positions, counters);
			return;
		}
		tileSums(plan_.kind, positions_.data(), positions, plan_.runs.data(),
			 plan_.runs.size(), weights.segment(plan_.segments[0]), weights.start(),
			 sums_.data());
		if (op_.precision == Precision::Fp16)
			clearBehind(weights.kernels());
		else if (op_.clipTruncate) /* Sums of 8-bit products never need clipping. */
			roundSums(sums_.data(), positions * kTileColumns, op_.clipTruncate);
	}

	std::span<const int32_t> line(uint32_t index) const
	{
		const size_t values =
			static_cast<size_t>(op_.windows.out.width) * op_.groupKernels();
		return std::span(op_.precision == Precision::Int16 ? clipped_ : sums_)
			.subspan(index * values, values);
	}

private:
	size_t positionsAtOnce() const
	{
		return static_cast<size_t>(linesAtOnce()) * op_.windows.out.width;
	}

	size_t place(uint64_t first, uint32_t count)
	{
		const Windows &windows = op_.windows;

		positions_.clear();
		for (uint32_t i = 0; i < count; i++) {
			const auto y = static_cast<uint32_t>((first + i) / op_.batches);
			const auto batch = static_cast<uint32_t>((first + i) % op_.batches);
			const std::byte **rows =
				&rows_[static_cast<size_t>(i) * windows.kernel.height];
			for (uint32_t row = 0; row < windows.kernel.height; row++)
				rows[row] = lines_.row(batch, y * windows.strideY +
								      row * windows.dilationY -
								      windows.padTop);
			for (uint32_t x = 0; x < windows.out.width; x++)
				positions_.push_back({ rows, static_cast<size_t>(x) * plan_.step *
								     plan_.elementBytes });
		}
		return positions_.size();
	}

	/** FP16: a NaN times the weights that there are not is none */
	void clearBehind(uint32_t kernels)
	{
		if (kernels == kFloatColumns)
			return;
		for (size_t i = 0; i < sums_.size(); i += kFloatColumns)
			std::fill(&sums_[i] + kernels, &sums_[i] + kFloatColumns, 0);
	}

	/** INT16: segment by segment into 64 bits */
	void accumulate(const TileWeights &weights, size_t positions)
	{
		std::fill(wide_.begin(), wide_.end(), 0);
		for (const TileSegment &segment : plan_.segments) {
			tileSums(plan_.kind, positions_.data(), positions,
				 &plan_.runs[segment.firstRun], segment.runs,
				 weights.segment(segment), weights.start(), sums_.data());
			addHalves(sums_.data(), positions, wide_.data());
		}
	}

	void deliver(size_t positions, ConvCounters &counters)
	{
		for (size_t i = 0; i < positions * op_.groupKernels(); i++) {
			bool saturated = false;
			clipped_[i] = IntegerSum{ wide_[i] }.deliver(op_.clipTruncate, saturated);
			counters.saturated += saturated;
		}
	}

	const ConvOp &op_;
	const TilePlan &plan_;
	const TileLines &lines_;
	std::vector<const std::byte *> rows_;
	std::vector<TilePosition> positions_;
	std::vector<int32_t> sums_;
	std::vector<int64_t> wide_;    /* INT16 */
	std::vector<int32_t> clipped_; /* INT16 */
};

/** \return true if no sum that the host makes of integers can overflow */
bool sumsFit(const ConvOp &op)
{
	const CubeSize &kernel = op.windows.kernel;
	const uint64_t elements = uint64_t{ kernel.width } * kernel.height * kernel.channels;

	/* INT8: an unsigned by a signed byte, in 32 bits. INT16: squares of 2^15 in 48 bits. */
	return elements < (op.precision == Precision::Int8 ? 1 << 16 : 1 << 17);
}

} /* namespace */

bool fastConvAccepts(const ConvOp &op, Fp16Arithmetic fp16)
{
	const Windows &windows = op.windows;
	const uint64_t columns = uint64_t{ windows.out.width } * windows.strideX +
				 uint64_t{ windows.kernel.width } * windows.dilationX;
	const uint64_t elements = columns * windows.data.channels + windows.kernel.channels;
	/* Four bytes are the most that an element takes. */
	const uint64_t bytes = elements * 4 * windows.data.height * op.batches;

	if (op.mode == ConvMode::Winograd || bytes > kMaximumLineBytes)
		return false;
	if (op.precision == Precision::Fp16)
		return fp16 == Fp16Arithmetic::Fast;
	return sumsFit(op) && tileKind() != TileKind::None;
}

ConvCounters computeConvFast(const ConvOp &op, const DataView &data, WeightSource &source,
			     StreamSink &sink, const MemoryPort &memory)
{
	const TilePlan plan(op);
	const TileLines lines(plan, data);
	TileWeights weights(plan);
	Outputs outputs(plan, lines);
	ConvCounters counters;
	const uint64_t lineCount = uint64_t{ op.windows.out.height } * op.batches;

	for (uint32_t surface = 0; surface < op.surfaces() && !memory.cancelled(); surface++) {
		weights.load(source.next());
		for (uint64_t first = 0; first < lineCount; first += outputs.linesAtOnce()) {
			if (memory.cancelled())
				return counters;
			const auto count = static_cast<uint32_t>(
				std::min<uint64_t>(outputs.linesAtOnce(), lineCount - first));
			outputs.compute(weights, first, count, counters);
			for (uint32_t i = 0; i < count; i++)
				sink.push({ static_cast<uint32_t>((first + i) % op.batches),
					    surface,
					    static_cast<uint32_t>((first + i) / op.batches), 0,
					    op.windows.out.width, outputs.line(i) });
		}
	}
	return counters;
}

} /* namespace nvdla::sim */
