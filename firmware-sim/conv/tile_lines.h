/* SPDX-License-Identifier: MIT */
/*
 * Buffered lines as conv_tile wants them.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "conv/csc.h"
#include "conv/tile_plan.h"
#include "conv/wide_tile.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief All lines of an operation as operands: with padding, or where they are buffered */
class TileLines
{
public:
	/** \param plan must outlive this object, and \a data what it looks at */
	TileLines(const TilePlan &plan, const DataView &data, Workers &workers);

	/**
	 * \return line \a y of cube \a batch, counted with those of padding above; the next one is
	 *	   TilePlan::lineBytes() away, unless lines are where they are buffered
	 */
	const std::byte *line(uint32_t batch, uint32_t y) const
	{
		return lines_[indexOf(batch, y)];
	}

	/** \return what the sums of the line's positions begin with; null if that is zero */
	const int32_t *starts(uint32_t batch, uint32_t y) const
	{
		return starts_.empty() ? nullptr
				       : &starts_[indexOf(batch, y) * plan_.op.windows.out.width];
	}

	/** \return INT16: what operands there are */
	const WideData &data() const { return data_; }

	/** \return FP16, if the plan is for one atom: there is a NaN */
	bool hasNan() const { return hasNan_; }

private:
	size_t indexOf(uint32_t batch, uint32_t y) const { return batch * height_ + y; }
	void makeLines(const DataView &data);
	void makeLine(size_t index, const DataView &data, std::vector<LinePiece> &pieces);
	void findLine(size_t index, const DataView &data);
	void findStarts(size_t index);
	/** \return operand \a index of a line */
	std::byte *operand(std::byte *line, size_t index) const
	{
		return line + index * plan_.elementBytes;
	}
	void fill(std::byte *line, size_t first, size_t count, int16_t value) const;
	/** \param pieces of the line, as they are buffered */
	void put(std::span<const LinePiece> pieces, std::byte *line) const;
	/** \brief Elements as they are buffered to operands; \a out is that of the first one */
	void convert(const LinePiece &piece, std::byte *out) const;

	const TilePlan &plan_;
	size_t height_;	   /* lines of a cube, with padding above and below */
	size_t lineBytes_; /* of those that are made */
	ScratchArray<std::byte> bytes_;
	std::vector<std::vector<std::byte>> turned_; /* lines in which the buffer turns round */
	std::vector<const std::byte *> lines_;
	std::vector<int32_t> starts_;
	std::atomic<size_t> next_ = 0; /* line that is to be made */
	std::mutex mutex_;	       /* of data_ */
	WideData data_;
	std::atomic<bool> hasNan_ = false;
};

} /* namespace nvdla::sim */
