/* SPDX-License-Identifier: MIT */
/*
 * Convolution sequence controller: which buffered elements are multiplied with which weights.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "conv/cbuf.h"
#include "conv/conv_op.h"

namespace nvdla::sim
{

/** \brief Operand pairs that a MAC cell of nv_full multiplies in a step; other cores have fewer */
inline constexpr uint32_t kMacLanes = 64;

/**
 * \brief The work of one step of all MAC cells: a data vector, and one weight vector per kernel
 *
 * Direct: up to 64 channels of one kernel position. Image: up to 64 elements of a kernel row, which
 * has S * C elements, or of several short rows (channel post-extension). Winograd: 4 channels of a
 * 4x4 tile; lane (y * 4 + x) * 4 + c has channel c of column x in line y.
 */
struct Block {
	uint32_t row = 0;     /**< kernel row */
	uint32_t column = 0;  /**< kernel column, direct only */
	uint32_t channel = 0; /**< first channel (image: element of the row) */
	uint32_t rows = 1;    /**< kernel rows in the block, image only */
	uint32_t lanes = 0;   /**< operand pairs, at most kMacLanes */
	size_t weights = 0;   /**< elements of a kernel in the blocks before this one */
};

/** \return the blocks of a kernel in the order the hardware accumulates them */
std::vector<Block> makeBlocks(const ConvOp &op);

/**
 * \brief Weights of one kernel group in the order CSC loads them
 *
 * The order is block by block, then kernel by kernel, then channel by channel; format as in memory.
 */
struct WeightGroup {
	uint32_t kernels = 0;
	std::span<const std::byte> bytes;
	/** Memory that the next groups are likely to be read from, for prefetching */
	std::span<const std::byte> soon = {};
	bool stays = false; /**< true if the bytes stay valid until the operation ends */
};

/** \brief The hardware waits forever for weights; what() says which weights */
class NeverArrive : public std::runtime_error
{
	using std::runtime_error::runtime_error;
};

/** \brief Source of a convolution's weights, kernel group by kernel group */
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

/** \brief Parts of a line that are in the buffer at equal distances */
struct LinePiece {
	const std::byte *from; /**< first part in the buffer */
	size_t fromStep = 0;   /**< bytes from one part to the next */
	size_t to = 0;	       /**< offset of the first part in the line, bytes */
	size_t toStep = 0;
	size_t bytes; /**< bytes of a part */
	size_t parts = 1;
};

/** \brief A cube that CSC reads from memory instead of the buffer */
struct CubeInMemory {
	std::span<const std::byte> bytes; /**< from the first atom or pixel to the last one */
	size_t size;			  /**< bytes of all atoms or pixels, without gaps */
	size_t lineStride;		  /**< bytes between lines */
	size_t surfaceStride;		  /**< bytes between surfaces */
	/** Image: a buffered line with its padding and zeroes, and the range of its bytes that
	 * pixels replace
	 */
	std::span<const std::byte> around = {};
	size_t firstPixel = 0;
	size_t pixelBytes = 0;
};

/**
 * \brief The lines that CSC reads from its pointer on, with the layout that CSC's registers
 * describe
 *
 * CDMA may have written the lines in another layout. The view reads lines in place, without copies.
 */
class DataView
{
public:
	/**
	 * \param op an operation for which fits() is true; must outlive the view, as must \a cbuf
	 * \param cube the cube if it is in memory instead of the buffer, else null; only in image
	 *	  mode, or in direct mode with a batch of one
	 */
	DataView(const ConvOp &op, const Cbuf &cbuf, const CubeInMemory *cube = nullptr);

	/** \return true if the lines fit the data banks, which bounds their memory */
	static bool fits(const ConvOp &op);

	/** \return bytes of a line: its elements as they are in memory */
	size_t lineBytes() const;

	/** \brief Copy the elements of line \a y of cube \a batch, lineBytes(), to \a out */
	void read(uint32_t batch, uint32_t y, std::byte *out) const;

	/**
	 * \brief The places of the bytes that read() copies; not in Winograd mode
	 * \param pieces overwritten
	 */
	void find(uint32_t batch, uint32_t y, std::vector<LinePiece> &pieces) const;

	/**
	 * \brief Write the elements of line \a y of cube \a batch to \a out
	 *
	 * INT8 is sign-extended, FP16 are raw bits. Image lines include the columns of padding and
	 * all bytes of their last entry; Winograd lines are those of the channel-extended cube.
	 */
	void line(uint32_t batch, uint32_t y, std::span<int16_t> out) const;

private:
	void findDirect(uint32_t first, std::vector<LinePiece> &pieces) const;
	void findInMemory(uint32_t y, std::vector<LinePiece> &pieces) const;
	void findImageInMemory(uint32_t y, std::vector<LinePiece> &pieces) const;
	void findImage(uint32_t first, std::vector<LinePiece> &pieces) const;
	void readWinograd(uint32_t first, uint32_t row, std::byte *out) const;
	/** \return distance of the line's first entry from CSC's pointer */
	uint32_t firstEntry(uint32_t batch, uint32_t y) const;
	/** \return the bytes from \a offset entries behind CSC's pointer to the end of the ring */
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
	 * \brief Gather the data vectors of \a block for output line \a y
	 * \return one pointer per output column to block.lanes elements; kMacLanes are readable
	 */
	const std::vector<const int16_t *> &line(uint32_t batch, uint32_t y, const Block &block);

	/**
	 * \brief Transform the tiles of \a block for output lines 2 * \a tileY and 2 * \a tileY + 1
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
	size_t lineElements_;		/* elements of a line; in lines_, kMacLanes more follow */
	std::vector<int16_t> lines_;	/* lines of the cubes of a batch */
	std::vector<int16_t> padding_;	/* kMacLanes padding values */
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
 * \param truncate PRA_TRUNCATE; 3 has the effect of 2
 */
void winogradTransform(Precision precision, uint32_t truncate, const int16_t tile[16],
		       int16_t out[16]);

} /* namespace nvdla::sim */
