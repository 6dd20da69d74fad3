/* SPDX-License-Identifier: MIT */
/*
 * PDP: pooling of one part of a surface, line by line.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "pdp/pdp_op.h"

namespace nvdla::sim
{

/**
 * \brief Pools lines as they come; output lines come out as soon as their last row went in
 *
 * Keeps what became of the windows' rows on the last lines, as many as a window
 * has. Channels are in atoms, all of whose lanes are pooled.
 */
class PdpPooler
{
public:
	/** \brief Receives an output line: its number, and its atoms as they are in memory */
	using Emit = std::function<void(uint32_t, std::span<const std::byte>)>;

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
	virtual void push(std::span<const std::byte> line, const Emit &emit) = 0;
};

} /* namespace nvdla::sim */
