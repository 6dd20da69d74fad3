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

	/** \return memory for line \a y, \a bytes bytes, valid until write() */
	virtual std::span<std::byte> place(uint32_t y, size_t bytes) = 0;
	/** \param atoms in memory format, in the memory of place() */
	virtual void write(uint32_t y, std::span<const std::byte> atoms) = 0;
};

/**
 * \brief Pools lines as they arrive; an output line is ready as soon as its last row has arrived
 *
 * Keeps the reduced rows of the windows for as many lines as a window
 * has. Channels are in atoms, all of whose lanes are pooled.
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
	 * After the last one, the next surface begins.
	 *
	 * \param line part.inWidth atoms as they are in memory
	 */
	void push(std::span<const std::byte> line, PdpOutput &output);

protected:
	/** \brief The columns of an output's window that are on the line, and the number of padded
	 * ones */
	struct Window {
		uint32_t first;
		uint32_t columns;
		uint32_t padded;
	};

	static constexpr uint32_t kMostRows = 8; /* rows of a window */

	/** \param numberBytes bytes of a reduced row of a window, per lane */
	PdpPooler(const PdpOp &op, const PdpPart &part, size_t numberBytes);

	/** \brief Reduce the row of each window on one line; a row without columns becomes zero */
	virtual void poolLine(const std::byte *line, std::byte *row) const = 0;
	/**
	 * \brief Reduce windows to elements
	 * \param rows reduced rows, without padding
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
	Outputs outputs_;   /* outputs that need the line at y_ */
	const size_t rowBytes_;
	/* A ring of as many rows as a window has, aligned to cache lines. */
	LineVector rows_;
};

} /* namespace nvdla::sim */
