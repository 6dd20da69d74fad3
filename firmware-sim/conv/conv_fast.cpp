/* SPDX-License-Identifier: MIT */
/*
 * Lays data and weights out for conv_tile and puts its sums into the stream.
 *
 * Lines get their padding, so that a kernel row is one run of elements in them
 * (with dilation, one run for each kernel column). A run's elements are multiplied
 * in units of 4 bytes; where a run ends inside a unit, the weights are zero.
 *
 *  - INT8 in quads: data + 128 as unsigned numbers; 128 times the kernel's sum of
 *    weights is taken off at the end.
 *  - INT8 in pairs: both as 16-bit numbers.
 *  - FP16 as f32, one at a time.
 *  - INT16 in pairs: the weight is 256 * high + low, with a column for each; the
 *    sums of 256 products fit 32 bits and then go into 64.
 */
#include "conv/conv_fast.h"

#include <algorithm>
#include <cstring>

#include "conv/cacc.h"
#include "conv/conv_tile.h"

namespace nvdla::sim
{

namespace
{

/* Positions worth working on at once: several tiles, so that short lines waste little. */
constexpr uint32_t kPositionsAtOnce = 48;
/* INT16: sums of this many products of 16 by 8 bits stay below 2^31. */
constexpr uint32_t kProductsIn32Bits = 256;
/* Above this many bytes of padded lines the reference does it. */
constexpr uint64_t kMaximumLineBytes = 64 << 20;
constexpr int32_t kUnsignedOffset = 128;

/** A kernel row, or one column of a dilated one */
struct Tap {
	uint32_t row;
	uint32_t offset; /* elements from the position's first */
	uint32_t elements;
	size_t unit = 0; /* first unit of its weights */
};

/** Runs whose sums fit 32 bits together */
struct Segment {
	size_t firstRun;
	size_t runs;
	size_t firstUnit;
};

/** How an operation is laid out */
struct Plan {
	explicit Plan(const ConvOp &op);

	TileKind kind;
	uint32_t elementBytes; /* of an operand */
	uint32_t step;	       /* elements from one output column to the next */
	uint32_t lineElements; /* that the windows touch */
	std::vector<Tap> taps;
	std::vector<TileRun> runs;
	std::vector<Segment> segments;
	size_t units = 0; /* of all runs */

	/** \return weight columns that a unit has */
	size_t columns() const { return kind == TileKind::Float ? kFloatColumns : kTileColumns; }

private:
	static TileKind kindFor(Precision precision);
	void layTaps(const Windows &windows);
	/** \param limit units whose sums fit 32 bits */
	void layRuns(uint32_t limit);
};

Plan::Plan(const ConvOp &op)
	: kind(kindFor(op.precision)), elementBytes(kind == TileKind::Quads   ? 1
						    : kind == TileKind::Pairs ? 2
									      : 4),
	  step(op.windows.strideX * op.windows.data.channels)
{
	const Windows &windows = op.windows;

	lineElements = (windows.out.width - 1) * step +
		       (windows.kernel.width - 1) * windows.dilationX * windows.data.channels +
		       windows.kernel.channels;
	layTaps(windows);
	layRuns(op.precision == Precision::Int16
			? static_cast<uint32_t>(kProductsIn32Bits * elementBytes / kUnitBytes)
			: UINT32_MAX);
}

TileKind Plan::kindFor(Precision precision)
{
	switch (precision) {
	case Precision::Int8:
		return tileKind();
	case Precision::Int16:
		return TileKind::Pairs;
	default:
		return TileKind::Float;
	}
}

void Plan::layTaps(const Windows &windows)
{
	const bool wholeRows = windows.dilationX == 1;
	const uint32_t columns = wholeRows ? 1 : windows.kernel.width;
	const uint32_t elements = windows.kernel.channels * (wholeRows ? windows.kernel.width : 1);

	for (uint32_t row = 0; row < windows.kernel.height; row++)
		for (uint32_t column = 0; column < columns; column++)
			taps.push_back({ row, column * windows.dilationX * windows.data.channels,
					 elements });
}

void Plan::layRuns(uint32_t limit)
{
	uint32_t inSegment = limit;

	for (Tap &tap : taps) {
		const auto bytes = tap.elements * elementBytes;
		auto left = static_cast<uint32_t>((bytes + kUnitBytes - 1) / kUnitBytes);
		auto offset = tap.offset * elementBytes;

		tap.unit = units;
		while (left > 0) {
			if (inSegment == limit) {
				segments.push_back({ runs.size(), 0, units });
				inSegment = 0;
			}
			const uint32_t count = std::min(left, limit - inSegment);
			runs.push_back({ tap.row, offset, count });
			segments.back().runs++;
			inSegment += count;
			left -= count;
			units += count;
			offset += static_cast<uint32_t>(count * kUnitBytes);
		}
	}
}

/** Buffered lines as the tiles want them, with padding */
class Lines
{
public:
	Lines(const ConvOp &op, const DataView &data, const Plan &plan)
		: height_(op.windows.data.height),
		  /* A run may read to the end of its last unit. */
		  lineBytes_(plan.lineElements * plan.elementBytes + kUnitBytes),
		  bytes_(lineBytes_ * (static_cast<size_t>(height_) * op.batches + 1))
	{
		const int16_t pad = padElement(op.precision, op.windows.padValue);
		const bool image = op.mode == ConvMode::Image;
		const size_t left =
			image ? 0
			      : static_cast<size_t>(op.windows.padLeft) * op.windows.data.channels;
		Slice line(plan.lineElements, pad);

		put(plan, line, padding());
		for (uint32_t batch = 0; batch < op.batches; batch++) {
			for (uint32_t y = 0; y < height_; y++) {
				const Slice &slice = data.line(batch, y);
				/* Behind an image line there is nothing, behind others padding. */
				std::fill(line.begin(), line.end(), image ? int16_t{ 0 } : pad);
				const size_t begin = std::min(left, line.size());
				std::copy_n(slice.begin(),
					    std::min(slice.size(), line.size() - begin),
					    line.begin() + static_cast<ptrdiff_t>(begin));
				std::fill_n(line.begin(), begin, pad);
				put(plan, line, at(batch, y));
			}
		}
	}

	/** \return line \a y of cube \a batch; the padding line if there is none */
	const std::byte *row(uint32_t batch, uint32_t y) const
	{
		const size_t index =
			y < height_ ? static_cast<size_t>(batch) * height_ + y + 1 : size_t{ 0 };
		return &bytes_[index * lineBytes_];
	}

private:
	std::byte *padding() { return bytes_.data(); }
	std::byte *at(uint32_t batch, uint32_t y)
	{
		return &bytes_[(static_cast<size_t>(batch) * height_ + y + 1) * lineBytes_];
	}

	static void put(const Plan &plan, const Slice &line, std::byte *out)
	{
		if (plan.kind == TileKind::Float) {
			widenHalves(line.data(), line.size(), reinterpret_cast<float *>(out));
			return;
		}
		if (plan.kind == TileKind::Pairs) {
			std::memcpy(out, line.data(), line.size() * sizeof(line[0]));
			return;
		}
		for (size_t i = 0; i < line.size(); i++)
			out[i] = static_cast<std::byte>(line[i] + kUnsignedOffset);
	}

	uint32_t height_;
	size_t lineBytes_;
	std::vector<std::byte> bytes_;
};

/** The weights of one kernel group as the tiles want them */
class Columns
{
public:
	Columns(const ConvOp &op, const Plan &plan)
		: op_(op), plan_(plan), blocks_(makeBlocks(op)),
		  bytes_(plan.units * plan.columns() * kUnitBytes),
		  zeroes_(plan.lineElements * plan.elementBytes + kUnitBytes,
			  std::byte{ kUnsignedOffset })
	{
	}

	void load(const WeightGroup &group)
	{
		const int16_t *element = group.elements.data();

		kernels_ = group.kernels;

		std::fill(bytes_.begin(), bytes_.end(), std::byte{ 0 });
		for (const Block &block : blocks_) {
			const uint32_t perRow = block.lanes / block.rows;
			for (uint32_t kernel = 0; kernel < group.kernels; kernel++)
				for (uint32_t row = 0; row < block.rows; row++, element += perRow)
					put(block, block.row + row, kernel, element, perRow);
		}
		if (plan_.kind == TileKind::Quads)
			sumOffsets();
	}

	/** \return units from the first of \a segment on */
	const int32_t *segment(const Segment &segment) const
	{
		return reinterpret_cast<const int32_t *>(bytes_.data()) +
		       segment.firstUnit * plan_.columns();
	}

	/** \return all units of FP16 */
	const float *floats() const { return reinterpret_cast<const float *>(bytes_.data()); }

	uint32_t kernels() const { return kernels_; }

	/** \return what to take off each column's sums */
	const int32_t *offsets() const { return offsets_; }

private:
	/** What an output is whose data are all zero */
	void sumOffsets()
	{
		const std::vector<const std::byte *> rows(op_.windows.kernel.height,
							  zeroes_.data());
		const TilePosition position = { rows.data(), 0 };

		tileSums(plan_.kind, &position, 1, plan_.runs.data(), plan_.runs.size(),
			 segment(plan_.segments[0]), offsets_);
	}

	void put(const Block &block, uint32_t row, uint32_t kernel, const int16_t *elements,
		 uint32_t count)
	{
		const Windows &windows = op_.windows;
		const bool rows = windows.dilationX == 1;
		const Tap &tap = plan_.taps[rows ? row : row * windows.kernel.width + block.column];
		uint32_t at = block.channel + (rows ? block.column * windows.kernel.channels : 0);

		/* Whole units where they begin at one; the rest element by element. */
		const uint32_t perUnit = kUnitBytes / plan_.elementBytes;
		const uint32_t whole = at % perUnit == 0 ? count / perUnit : 0;
		putUnits(place(tap, at, kernel), kernel, elements, whole);
		for (uint32_t i = whole * perUnit; i < count; i++)
			putElement(tap, at + i, kernel, elements[i]);
	}

	std::byte *place(const Tap &tap, uint32_t at, uint32_t kernel)
	{
		const size_t byte = static_cast<size_t>(at) * plan_.elementBytes;
		const size_t unit = tap.unit + byte / kUnitBytes;

		return &bytes_[(unit * plan_.columns() + kernel) * kUnitBytes + byte % kUnitBytes];
	}

	/** Whole units, the first one at \a out */
	void putUnits(std::byte *out, uint32_t kernel, const int16_t *elements, uint32_t units)
	{
		const size_t step = plan_.columns() * kUnitBytes;

		if (plan_.kind == TileKind::Float) {
			floats_.resize(units);
			widenHalves(elements, units, floats_.data());
			for (float element : floats_) {
				std::memcpy(out, &element, sizeof(element));
				out += step;
			}
			return;
		}
		if (plan_.kind == TileKind::Quads) {
			putQuads(elements, units, out);
			return;
		}
		for (uint32_t unit = 0; unit < units;
		     unit++, out += step, elements += kUnitBytes / 2) {
			if (op_.precision == Precision::Int8) {
				std::memcpy(out, elements, kUnitBytes);
			} else {
				putHalves(out, elements[0]);
				putHalves(out + sizeof(int16_t), elements[1]);
			}
		}
	}

	void putElement(const Tap &tap, uint32_t at, uint32_t kernel, int16_t element)
	{
		std::byte *out = place(tap, at, kernel);

		if (plan_.kind == TileKind::Quads) {
			*out = static_cast<std::byte>(element);
		} else if (op_.precision == Precision::Int8) {
			std::memcpy(out, &element, sizeof(element));
		} else {
			putHalves(out, element);
		}
	}

	/** INT16: the low byte's column and the high byte's */
	static void putHalves(std::byte *out, int16_t element)
	{
		const auto low = static_cast<int16_t>(element & 0xff);
		const auto high = static_cast<int16_t>(element >> 8);

		std::memcpy(out, &low, sizeof(low));
		std::memcpy(out + kTileColumns / 2 * kUnitBytes, &high, sizeof(high));
	}

	const ConvOp &op_;
	const Plan &plan_;
	std::vector<Block> blocks_;
	std::vector<std::byte> bytes_;
	std::vector<std::byte> zeroes_; /* a line of data for quads */
	std::vector<float> floats_;
	uint32_t kernels_ = 0;
	int32_t offsets_[kTileColumns] = {};
};

/** Output lines that are worked on together */
class Outputs
{
public:
	Outputs(const ConvOp &op, const Plan &plan, const Lines &lines)
		: op_(op), plan_(plan), lines_(lines),
		  rows_(static_cast<size_t>(linesAtOnce()) * op.windows.kernel.height),
		  sums_(positionsAtOnce() * kTileColumns)
	{
		out_.resize(positionsAtOnce() * op.groupKernels());
		if (op.precision == Precision::Int16)
			wide_.resize(positionsAtOnce() * op.groupKernels());
	}

	uint32_t linesAtOnce() const
	{
		const uint32_t wanted = std::max(1U, kPositionsAtOnce / op_.windows.out.width);
		return static_cast<uint32_t>(std::min<uint64_t>(
			wanted, uint64_t{ op_.windows.out.height } * op_.batches));
	}

	/** \brief Compute \a count lines from line \a first, cubes of the batch alternating */
	void compute(const Columns &columns, uint64_t first, uint32_t count, ConvCounters &counters)
	{
		const size_t positions = place(first, count);

		if (op_.precision == Precision::Int8) {
			tileSums(plan_.kind, positions_.data(), positions, plan_.runs.data(),
				 plan_.runs.size(), columns.segment(plan_.segments[0]),
				 sums_.data());
			/* Sums of 8-bit products never need clipping. */
			deliverTile(sums_.data(), positions, columns.offsets(), op_.clipTruncate,
				    out_.data());
		} else if (op_.precision == Precision::Fp16) {
			tileFloatSums(positions_.data(), positions, plan_.runs.data(),
				      plan_.runs.size(), columns.floats(), out_.data());
			clearBehind(columns.kernels());
		} else {
			accumulate(columns, positions);
			deliverInt16(positions, counters);
		}
	}

	std::span<const int32_t> line(uint32_t index) const
	{
		const size_t values =
			static_cast<size_t>(op_.windows.out.width) * op_.groupKernels();
		return std::span(out_).subspan(index * values, values);
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
		for (size_t i = 0; i < out_.size(); i += kFloatColumns)
			std::fill(&out_[i] + kernels, &out_[i] + kFloatColumns, 0);
	}

	/** INT16: segment by segment into 64 bits */
	void accumulate(const Columns &columns, size_t positions)
	{
		const uint32_t kernels = op_.groupKernels();

		std::fill(wide_.begin(), wide_.end(), 0);
		for (const Segment &segment : plan_.segments) {
			tileSums(plan_.kind, positions_.data(), positions,
				 &plan_.runs[segment.firstRun], segment.runs,
				 columns.segment(segment), sums_.data());
			for (size_t p = 0; p < positions; p++) {
				const int32_t *low = &sums_[p * kTileColumns];
				const int32_t *high = low + kTileColumns / 2;
				for (uint32_t k = 0; k < kernels; k++)
					wide_[p * kernels + k] += low[k] + int64_t{ high[k] } * 256;
			}
		}
	}

	void deliverInt16(size_t positions, ConvCounters &counters)
	{
		for (size_t i = 0; i < positions * op_.groupKernels(); i++) {
			bool saturated = false;
			out_[i] = IntegerSum{ wide_[i] }.deliver(op_.clipTruncate, saturated);
			counters.saturated += saturated;
		}
	}

	const ConvOp &op_;
	const Plan &plan_;
	const Lines &lines_;
	std::vector<const std::byte *> rows_;
	std::vector<TilePosition> positions_;
	std::vector<int32_t> sums_;
	std::vector<int64_t> wide_;
	std::vector<int32_t> out_;
};

} /* namespace */

namespace
{

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

ConvCounters computeConvFast(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory)
{
	const Plan plan(op);
	const Lines lines(op, data, plan);
	Columns columns(op, plan);
	Outputs outputs(op, plan, lines);
	ConvCounters counters;
	const uint64_t lineCount = uint64_t{ op.windows.out.height } * op.batches;

	for (uint32_t surface = 0; surface < op.surfaces() && !memory.cancelled(); surface++) {
		columns.load(weights.next());
		for (uint64_t first = 0; first < lineCount; first += outputs.linesAtOnce()) {
			if (memory.cancelled())
				return counters;
			const auto count = static_cast<uint32_t>(
				std::min<uint64_t>(outputs.linesAtOnce(), lineCount - first));
			outputs.compute(columns, first, count, counters);
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
