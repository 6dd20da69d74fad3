/* SPDX-License-Identifier: MIT */
/*
 * PDP: pooling of one part of a surface, line by line.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "pdp/pdp_op.h"

namespace nvdla::sim
{

/** \brief Receiver of output lines */
class PdpOutput
{
public:
	virtual ~PdpOutput() = default;

	/** \return \a bytes bytes of memory for output line \a y, valid until write() */
	virtual std::span<std::byte> place(uint32_t y, size_t bytes) = 0;
	/** \param atoms output line \a y in memory format, in the memory from place() */
	virtual void write(uint32_t y, std::span<const std::byte> atoms) = 0;
};

/**
 * \brief Pools lines as they arrive; an output line is written with the last input line it needs
 *
 * Keeps reduced rows of the windows, for as many input lines as a window has. Pools all
 * lanes of an atom, also those beyond the last channel.
 */
class PdpPooler
{
public:
	/** \param op must outlive the pooler, as must \a part */
	static std::unique_ptr<PdpPooler> create(const PdpOp &op, const PdpPart &part);

	virtual ~PdpPooler() = default;

	/**
	 * \brief Pool the next line of the surface
	 *
	 * The line after the last one is the first of the next surface.
	 *
	 * \param line part.inWidth atoms as they are in memory
	 */
	void push(std::span<const std::byte> line, PdpOutput &output);

protected:
	/** \brief Columns of an output's window that are inside the line, and number of padded
	 * columns */
	struct Window {
		uint32_t first;
		uint32_t columns;
		uint32_t padded;
	};

	static constexpr uint32_t kMostRows = 8; /* most rows of a window */

	/** \param numberBytes bytes of a lane of a reduced row */
	PdpPooler(const PdpOp &op, const PdpPart &part, size_t numberBytes);

	/** \brief Reduce each window's columns on one line; without columns the result is zero */
	virtual void poolLine(const std::byte *line, std::byte *row) const = 0;
	/**
	 * \brief Reduce the rows of each window to an output element
	 * \param rows reduced rows of the lines in the cube; \a padded more rows are padding
	 */
	virtual void finish(std::span<const std::byte *const> rows, uint32_t padded,
			    std::byte *out) const = 0;

	const std::vector<Window> windows_;
	const size_t rowNumbers_;

private:
	/** \brief Consecutive output lines */
	struct Outputs {
		uint32_t first = 0;
		uint32_t end = 0;
	};

	void findOutputs();
	void finishLine(uint32_t count, std::byte *out) const;

	const PdpOp &op_;
	uint32_t y_ = 0;
	uint32_t slot_ = 0; /* slot of rows_ for the line at y_ */
	Outputs outputs_;   /* output lines that need the line at y_ */
	const size_t rowBytes_;
	/* Ring buffer: a reduced row for each line of a window, aligned to cache lines. */
	LineVector rows_;
};

} /* namespace nvdla::sim */
