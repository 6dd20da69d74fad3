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
#include "core/bands.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief All lines of an operation as operands: with padding, or where they are buffered */
class TileLines
{
public:
	/** \param plan must outlive this object, and \a data what it looks at */
	TileLines(const TilePlan &plan, const DataView &data, Workers &workers);

	/** \return where the outputs of lines begin, which of a batch's cubes alternate */
	std::span<const TilePosition> positions(uint64_t firstLine, uint32_t count) const
	{
		const size_t width = plan_.op.windows.out.width;

		return { positions_.data() + firstLine * width, count * width };
	}

	/** \return INT16: what operands there are */
	const WideData &data() const { return data_; }

	/** \return INT8, if the plan is for bytes: one of the operands is below zero */
	bool hasNegative() const { return hasNegative_; }

	/** \return FP16, if the plan is for one atom: there is a NaN */
	bool hasNan() const { return hasNan_; }

private:
	/** \brief Those that \a thread takes */
	void makeLines(const DataView &data, Bands &lines, unsigned int thread);
	/** \brief Positions of those, once all lines are made that their windows have */
	void placeLines(Bands &lines, unsigned int thread);
	/** \return sums begin with what is made of windows of several lines, which have to be there
	 */
	bool areSummed() const { return plan_.kind == TileKind::SignedQuads && !plan_.inPlace; }
	const std::byte *makeLine(size_t index, const DataView &data,
				  std::vector<LinePiece> &pieces);
	const std::byte *findLine(size_t index, const DataView &data);
	/** \brief Look at the operands of a line */
	void inspect(const std::byte *line, Int16Numbers &numbers);
	/** \brief Look at \a count operands that follow each other */
	void inspect(const std::byte *operands, size_t count, Int16Numbers &numbers);
	/** \return positions of outputs whose windows begin in a line; none if there are not any */
	std::span<TilePosition> positionsOf(size_t index);
	/** \param sums of the positions' data, for a line */
	void place(const std::byte *line, std::span<TilePosition> positions,
		   std::vector<int32_t> &sums) const;
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
	size_t count_;	   /* of all cubes */
	size_t lineBytes_; /* of those that are made */
	ScratchArray<std::byte> bytes_;
	std::vector<std::vector<std::byte>> turned_; /* lines in which the buffer turns round */
	ScratchArray<TilePosition> positions_;
	std::mutex mutex_; /* of data_ */
	WideData data_;
	std::atomic<bool> hasNegative_ = false;
	std::atomic<bool> hasNan_ = false;
};

} /* namespace nvdla::sim */
