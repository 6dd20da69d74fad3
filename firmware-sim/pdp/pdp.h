/* SPDX-License-Identifier: MIT */
/*
 * PDP: the planar data processor, off-line and behind SDP.
 */
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/memory.h"
#include "core/operation.h"
#include "core/stream.h"
#include "pdp/pdp_op.h"
#include "pdp/pdp_pooler.h"

namespace nvdla::sim
{

/** \brief Writes output lines to the destination cube and counts what the registers count */
class PdpWriter
{
public:
	/** \param op must outlive the writer, as must \a port */
	PdpWriter(const PdpOp &op, MemoryPort &port) : op_(op), port_(port) {}

	/** \param atoms of one line, beginning at output column \a x */
	void write(uint32_t surface, uint32_t y, uint32_t x, std::span<const std::byte> atoms);

	uint32_t nanCount() const { return nans_; }

private:
	const PdpOp &op_;
	MemoryPort &port_;
	uint32_t nans_ = 0;
};

/**
 * \brief PDP behind SDP
 *
 * Takes the elements that SDP puts out and writes the pooled cube to memory.
 * Runs must come surface after surface and line after line; the runs of a pair
 * of lines may alternate.
 */
class PdpStream : public StreamSink
{
public:
	/** \param op a flying operation \param port must outlive the stream */
	PdpStream(const PdpOp &op, MemoryPort &port);
	PdpStream(const PdpStream &) = delete; /* the pooler refers to this object's members */
	PdpStream &operator=(const PdpStream &) = delete;

	void push(const StreamRun &run) override;

	/**
	 * \brief The producer is done
	 *
	 * If it delivered less or more than PDP was programmed for, the operation
	 * hangs as it does on hardware.
	 */
	OperationResult finish();

private:
	struct Line {
		std::vector<std::byte> atoms;
		uint32_t filled = 0;
	};

	bool accepts(const StreamRun &run) const;
	void poolLine(std::span<const std::byte> atoms);

	const PdpOp op_;
	const PdpPart part_;
	MemoryPort &port_;
	std::unique_ptr<PdpPooler> pooler_;
	PdpWriter writer_;
	std::array<Line, 2> lines_; /* of a pair that arrives in pieces */
	uint32_t surface_ = 0;
	uint32_t y_ = 0;
	bool mismatch_ = false;
};

/** \brief Carry out an operation whose input is in memory */
OperationResult runPdp(const PdpOp &op, MemoryPort &port);

} /* namespace nvdla::sim */
