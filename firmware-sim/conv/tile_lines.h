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

/** \brief All lines of an operation as operands, in padded copies */
class TileLines
{
public:
	/** \param plan layout; must outlive this object */
	TileLines(const TilePlan &plan, const DataView &data, Workers &workers);

	/** \return positions of \a count lines; line y of all cubes comes before any line y + 1 */
	std::span<const TilePosition> positions(uint64_t firstLine, uint32_t count) const
	{
		const size_t width = plan_.op.windows.out.width;

		return { positions_.data() + firstLine * width, count * width };
	}

	/** \return INT16: the largest magnitude of operands */
	uint32_t largest() const { return largest_; }

	/** \return FP16 with plan.mayBeChannelwise: true if an operand is a NaN */
	bool hasNan() const { return hasNan_; }

private:
	void makeLine(size_t index, const DataView &data, std::vector<LinePiece> &pieces);
	/** \brief Update largest() and hasNan() with the operands of a line */
	void inspect(const std::byte *line);
	void place();
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
	size_t lineBytes_; /* bytes of a line */
	uint32_t padding_;
	ScratchArray<std::byte> bytes_;
	ScratchArray<TilePosition> positions_;
	std::mutex mutex_; /* protects largest_ */
	uint32_t largest_ = 0;
	std::atomic<bool> hasNan_ = false;
};

} /* namespace nvdla::sim */
