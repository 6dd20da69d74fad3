/* SPDX-License-Identifier: MIT */
/*
 * PDP: the planar data processor, with input from memory or on the fly from SDP.
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
#include "core/workers.h"
#include "pdp/pdp_op.h"
#include "pdp/pdp_pooler.h"

namespace nvdla::sim
{

/** \brief Writes output lines to the destination cube, and counts NaNs for a register */
class PdpWriter final : public PdpOutput
{
public:
	/** \param op must outlive the writer, as must \a port */
	PdpWriter(const PdpOp &op, MemoryPort &port) : op_(op), port_(port) {}

	/** \brief Set the surface and the first output column of the next lines */
	void begin(uint32_t surface, uint32_t x)
	{
		surface_ = surface;
		x_ = x;
	}
	std::span<std::byte> place(uint32_t y, size_t bytes) override;
	void write(uint32_t y, std::span<const std::byte> atoms) override;

	uint32_t nanCount() const { return nans_; }
	/** \brief Add the NaN count of another writer */
	void join(const PdpWriter &other) { nans_ += other.nans_; }

private:
	uint64_t addressOf(uint32_t y) const;

	const PdpOp &op_;
	MemoryPort &port_;
	uint32_t surface_ = 0;
	uint32_t x_ = 0;
	std::vector<std::byte> buffer_;
	uint32_t nans_ = 0;
};

/**
 * \brief PDP on the fly after SDP
 *
 * Takes SDP's output elements and writes the pooled cube to memory. Surfaces must come one after
 * another, each from its first to its last line; only two successive lines may arrive interleaved.
 */
class PdpStream : public AtomSink
{
public:
	/**
	 * \param op a flying operation
	 * \param port must outlive the stream
	 * \param anySurface the stream gets whole surfaces in any order, and not all of them
	 */
	PdpStream(const PdpOp &op, MemoryPort &port, bool anySurface = false);
	PdpStream(const PdpStream &) = delete; /* the pooler refers to this object's members */
	PdpStream &operator=(const PdpStream &) = delete;

	void push(const AtomRun &run) override;

	/** \return null if \a cube is not the operation's input, or output surfaces overlap */
	std::unique_ptr<AtomSink> fork(const StreamCube &cube, MemoryPort &memory) override;
	void join(AtomSink &sink) override;
	Placement written() const override;

	/**
	 * \brief End the operation after its input
	 *
	 * If SDP delivered less or more than PDP was programmed for, the operation
	 * hangs, as on hardware.
	 */
	OperationResult finish();

private:
	struct Line {
		std::vector<std::byte> atoms;
		uint32_t filled = 0;
	};

	bool accepts(const AtomRun &run);
	void poolLine(std::span<const std::byte> atoms);

	const PdpOp op_;
	const PdpPart part_;
	MemoryPort &port_;
	std::unique_ptr<PdpPooler> pooler_;
	PdpWriter writer_;
	std::array<Line, 2> lines_; /* lines of which only parts have arrived */
	const bool anySurface_;
	uint32_t surface_ = 0;
	uint32_t y_ = 0;
	uint32_t pooled_ = 0; /* number of pooled surfaces */
	bool mismatch_ = false;
};

/**
 * \brief Carry out an operation whose input is in memory
 * \param workers threads that share the operation
 */
OperationResult runPdp(const PdpOp &op, MemoryPort &port, Workers *workers = nullptr);

} /* namespace nvdla::sim */
