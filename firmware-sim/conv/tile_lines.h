/* SPDX-License-Identifier: MIT */
/*
 * Buffered lines in the layout of conv_tile.
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
#include "core/scratch.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief All lines of an operation as operands: padded copies, or the buffered lines themselves */
class TileLines
{
public:
	/** \param plan layout; must outlive this object, as must the bytes that \a data reads */
	TileLines(const TilePlan &plan, const DataView &data, Workers &workers);

	/** \return the positions of output lines; lines of a batch's cubes alternate */
	std::span<const TilePosition> positions(uint64_t firstLine, uint32_t count) const
	{
		const size_t width = plan_.op.windows.out.width;

		return { positions_.data() + firstLine * width, count * width };
	}

	/**
	 * \brief Compute the initial value of Quads' sums for each position
	 *
	 * Depthwise kernels do not need it. Any thread may call it, any number of times.
	 */
	void prepareStarts();

	/** \return INT16: the largest magnitude of operands */
	uint32_t largest() const { return largest_; }

	/** \return FP16 with plan.mayBeChannelwise: true if an operand is a NaN */
	bool hasNan() const { return hasNan_; }

private:
	const std::byte *makeLine(size_t index, const DataView &data,
				  std::vector<LinePiece> &pieces);
	const std::byte *findLine(size_t index, const DataView &data);
	/** \brief Update largest() and hasNan() with the operands of a line */
	void inspect(const std::byte *line);
	/** \brief Update largest() and hasNan() with \a count contiguous operands */
	void inspect(const std::byte *operands, size_t count);
	/** \return the positions of outputs whose windows begin in line \a index; may be empty */
	std::span<TilePosition> positionsOf(size_t index);
	void sumRow(size_t index);
	void place(size_t index, bool summed, std::vector<int32_t> &sums);
	/** \return operand \a index of a line */
	std::byte *operand(std::byte *line, size_t index) const
	{
		return line + index * plan_.elementBytes;
	}
	/** \return the operand of padding, in the low bytes */
	uint32_t padding() const;
	void fill(std::byte *line, size_t first, size_t count, uint32_t value) const;
	/** \brief Convert the buffered \a pieces of a line to operands */
	void put(std::span<const LinePiece> pieces, std::byte *line) const;

	const TilePlan &plan_;
	size_t height_;	   /* lines of a cube, with padding above and below */
	size_t count_;	   /* lines of all cubes */
	size_t lineBytes_; /* bytes of a padded copy */
	uint32_t padding_;
	ScratchArray<std::byte> bytes_;
	std::vector<const std::byte *> lines_;
	std::vector<std::vector<std::byte>> turned_; /* copies of lines in which the ring wraps */
	ScratchArray<TilePosition> positions_;
	ScratchArray<int32_t> rowSums_; /* Quads: sums by line and output column */
	std::once_flag started_;
	std::mutex mutex_; /* protects largest_ */
	uint32_t largest_ = 0;
	std::atomic<bool> hasNan_ = false;
};

} /* namespace nvdla::sim */
