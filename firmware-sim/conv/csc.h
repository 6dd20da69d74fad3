/* SPDX-License-Identifier: MIT */
/*
 * Convolution sequence controller: which buffered elements meet which weights.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "conv/cbuf.h"
#include "conv/conv_op.h"

namespace nvdla::sim
{

/** \brief Operand pairs that a MAC cell of nv_full multiplies in a step; others have no more */
inline constexpr uint32_t kMacLanes = 64;

/**
 * \brief What all MAC cells work on at once: one weight vector per kernel
 *
 * Direct: up to 64 channels of one kernel position. Image: up to 64 elements of
 * one kernel row, a row being S * C elements, or of several short rows (channel
 * post-extension). Winograd: 4 channels of a 4x4 tile, lane (y * 4 + x) * 4 + c.
 */
struct Block {
	uint32_t row = 0;     /**< kernel row */
	uint32_t column = 0;  /**< kernel column, direct only */
	uint32_t channel = 0; /**< first channel (image: element of the row) */
	uint32_t rows = 1;    /**< kernel rows in the block, image only */
	uint32_t lanes = 0;   /**< operand pairs, at most kMacLanes */
	size_t weights = 0;   /**< elements of the group before this block, per kernel */
};

/** \return the blocks of a kernel in the order the hardware accumulates them */
std::vector<Block> makeBlocks(const ConvOp &op);

/**
 * \brief Weights of one kernel group in the order CSC loads them
 *
 * For every block the elements of each kernel, channel fastest, as they are in memory.
 */
struct WeightGroup {
	uint32_t kernels = 0;
	std::span<const std::byte> bytes;
	/** Where the groups that its taker gets next are likely to be taken from */
	std::span<const std::byte> soon = {};
	bool stays = false; /**< the bytes stay valid until the operation ends */
};

/** \brief The hardware waits forever for weights; what() says for which */
class NeverArrive : public std::runtime_error
{
	using std::runtime_error::runtime_error;
};

/** \brief Where a convolution's weights come from, kernel group by kernel group */
class WeightSource
{
public:
	virtual ~WeightSource() = default;
	/**
	 * \brief The next group; called once per surface, in order
	 * \return the group; its bytes stay valid until the next call
	 * \throw NeverArrive
	 */
	virtual WeightGroup next() = 0;
};

/** \brief Elements of a line that are in the buffer at regular distances */
struct LinePiece {
	const std::byte *from; /**< the first of them */
	size_t fromStep = 0;   /**< bytes from one part to the next */
	size_t to = 0;	       /**< bytes of the line before them */
	size_t toStep = 0;
	size_t bytes; /**< of a part */
	size_t parts = 1;
};

/** \brief A cube in memory that is read where it is, instead of being buffered */
struct CubeInMemory {
	std::span<const std::byte> bytes; /**< from its first atom or pixel to its last one */
	size_t size;			  /**< bytes of its atoms or pixels */
	size_t lineStride;		  /**< bytes */
	size_t surfaceStride;		  /**< of atoms */
	/** A line of an image as it would be buffered, with the columns of padding and zeroes
	 * behind them; of what pixels replace in it, the first byte and how many there are
	 */
	std::span<const std::byte> around = {};
	size_t firstPixel = 0;
	size_t pixelBytes = 0;
};

/** \brief Where the atoms of a line of a feature cube are, with respect to the first one */
struct AtomPlaces {
	/** Bytes of a column that follow each other; the next column's are behind them */
	uint32_t column;
	uint32_t behind; /**< bytes that may be read behind the last column's */
	size_t next;	 /**< bytes from them to those of the column's next channels */
};

/** \return where the buffer has them; nothing if not all columns' atoms are as far apart */
std::optional<AtomPlaces> bufferedPlaces(const ConvOp &op);

/**
 * \brief The lines that CSC reads, from its pointer on, as its own registers describe them
 *
 * What CDMA put there does not matter. Nothing is kept: each line is read where it is.
 */
class DataView
{
public:
	/**
	 * \param op an operation with fits(); both must outlive the view
	 * \param cube in direct mode, of a batch of one, or in image mode: where the lines are if
	 *	  the buffer has none; null if it has
	 */
	DataView(const ConvOp &op, const Cbuf &cbuf, const CubeInMemory *cube = nullptr);

	/** \return the lines are no more than the data banks hold: what bounds their memory */
	static bool fits(const ConvOp &op);

	/** \return bytes of a line: its elements as they are in memory */
	size_t lineBytes() const;

	/** \brief Copy the elements of line \a y of cube \a batch, lineBytes(), to \a out */
	void read(uint32_t batch, uint32_t y, std::byte *out) const;

	/**
	 * \brief What read() would copy, where it is; not in Winograd mode
	 * \param pieces overwritten
	 */
	void find(uint32_t batch, uint32_t y, std::vector<LinePiece> &pieces) const;

	/** \return bufferedPlaces(), or those of the memory; only in direct mode */
	std::optional<AtomPlaces> places() const;

	/**
	 * \return the first atom of line \a y of cube \a batch, the others of which are at
	 *	   places(); null where the buffer turns round in it, or where it might be written
	 *	   while the operation runs; only in direct mode
	 */
	const std::byte *whole(uint32_t batch, uint32_t y) const;

	/** \brief The line's entries, where whole() is null, to \a out */
	void copyWhole(uint32_t batch, uint32_t y, std::span<std::byte> out) const;

	/**
	 * \brief The elements of line \a y of cube \a batch to \a out, which has room for them
	 *
	 * INT8 is sign-extended, FP16 are raw bits. Image lines include the columns of padding and
	 * whatever their last entry holds; Winograd lines are those of the channel-extended cube.
	 */
	void line(uint32_t batch, uint32_t y, std::span<int16_t> out) const;

private:
	void findDirect(uint32_t first, std::vector<LinePiece> &pieces) const;
	void findInMemory(uint32_t y, std::vector<LinePiece> &pieces) const;
	void findImageInMemory(uint32_t y, std::vector<LinePiece> &pieces) const;
	void findImage(uint32_t first, std::vector<LinePiece> &pieces) const;
	void readWinograd(uint32_t first, uint32_t row, std::byte *out) const;
	/** \return the line's first entry behind CSC's pointer */
	uint32_t firstEntry(uint32_t batch, uint32_t y) const;
	/** \return the bytes from an entry behind CSC's pointer to where the buffer turns round */
	std::span<const std::byte> entries(uint32_t offset) const;

	const ConvOp &op_;
	const Cbuf &cbuf_;
	const CubeInMemory *cube_;
};

/**
 * \brief Gathers MAC operands for whole output lines
 *
 * The vectors stay valid until the next call.
 */
class Operands
{
public:
	Operands(const ConvOp &op, const DataView &data);

	/**
	 * \brief Data vectors of \a block for output line \a y
	 * \return one pointer per output column to block.lanes elements; kMacLanes can be read
	 */
	const std::vector<const int16_t *> &line(uint32_t batch, uint32_t y, const Block &block);

	/**
	 * \brief Transformed tiles of \a block for output lines 2 * \a tileY and the next
	 * \return one pointer per tile to kMacLanes elements
	 */
	const std::vector<const int16_t *> &tiles(uint32_t tileY, const Block &block);

private:
	void gatherDirect(uint32_t batch, uint32_t y, const Block &block);
	void gatherImage(uint32_t y, const Block &block);

	size_t lineStep() const { return lineElements_ + kMacLanes; }
	size_t lineOffset(uint32_t batch, uint32_t y) const
	{
		return (size_t{ y } * op_.batches + batch) * lineStep();
	}
	const int16_t *line(uint32_t batch, uint32_t y) const
	{
		return lines_.data() + lineOffset(batch, y);
	}

	const ConvOp &op_;
	size_t lineElements_;		/* of a line; there are kMacLanes more behind each */
	std::vector<int16_t> lines_;	/* of the cube, those of a batch one behind the other */
	std::vector<int16_t> padding_;	/* kMacLanes times the padding value */
	std::vector<int16_t> gathered_; /* vectors that are not contiguous in a line */
	std::vector<const int16_t *> vectors_;
};

/**
 * \brief Winograd transform of one channel's 4x4 tile, C^T * tile * C
 *
 * Integers: exact, then shifted right by \a truncate rounding half away from zero
 * and clipped to 8 or 16 bits. FP16: through the 17-bit format.
 *
 * \param tile 16 elements by lines
 * \param truncate PRA_TRUNCATE; 3 works as 2
 */
void winogradTransform(Precision precision, uint32_t truncate, const int16_t tile[16],
		       int16_t out[16]);

} /* namespace nvdla::sim */
