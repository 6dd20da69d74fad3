/* SPDX-License-Identifier: MIT */
/*
 * PDP: pooling of one part of a surface, line by line.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "pdp/pdp_op.h"

namespace nvdla::sim
{

/** \brief Where output lines go */
class PdpOutput
{
public:
	virtual ~PdpOutput() = default;

	/** \return room for all of line \a y, \a bytes bytes, until write() */
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
	 * \brief The next line of the surface
	 *
	 * After the last one, the next surface begins.
	 *
	 * \param line part.inWidth atoms as they are in memory
	 */
	virtual void push(std::span<const std::byte> line, PdpOutput &output) = 0;
};

} /* namespace nvdla::sim */
