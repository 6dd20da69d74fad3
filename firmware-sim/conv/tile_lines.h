/* SPDX-License-Identifier: MIT */
/*
 * Buffered lines as conv_tile wants them.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "conv/csc.h"
#include "conv/tile_plan.h"
#include "conv/wide_tile.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief All lines of an operation as operands, with padding */
class TileLines
{
public:
	/** \param plan must outlive this object */
	TileLines(const TilePlan &plan, const DataView &data, Workers &workers);

	/** \return line \a y of cube \a batch; the padding line if there is none */
	const std::byte *row(uint32_t batch, uint32_t y) const
	{
		const size_t index =
			y < height_ ? static_cast<size_t>(batch) * height_ + y + 1 : size_t{ 0 };
		return &bytes_[index * lineBytes_];
	}

	/** \return bytes from an operand's line to the high bytes of the line, if it has them */
	size_t highsAt() const { return highsAt_; }

	/** \return INT16: what operands there are */
	Int16Range range() const { return { lowest_, highest_ }; }

private:
	/** \return operand \a index of a line */
	std::byte *operand(std::byte *line, size_t index) const
	{
		return line + index * plan_.elementBytes;
	}
	void fill(std::byte *line, size_t first, size_t count, int16_t value) const;
	/** \param pieces of the line, as they are buffered */
	void put(std::span<const LinePiece> pieces, std::byte *line) const;
	/** \brief What there is to know of a line that has its operands */
	void finish(std::byte *line);
	/** \brief Elements as they are buffered to operands */
	void convert(const std::byte *elements, size_t count, std::byte *out) const;
	/** \brief Those of a piece to where they are in \a line, behind \a begin operands */
	void convert(const LinePiece &piece, size_t begin, std::byte *line) const;

	const TilePlan &plan_;
	uint32_t height_;
	size_t left_;	  /* operands of padding at the left */
	size_t elements_; /* of a line as it is buffered */
	size_t highsAt_;
	size_t lineBytes_;
	std::unique_ptr<std::byte[]> bytes_;
	std::atomic<int32_t> lowest_ = 0;
	std::atomic<int32_t> highest_ = 0;
};

} /* namespace nvdla::sim */
