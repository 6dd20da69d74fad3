/* SPDX-License-Identifier: MIT */
/*
 * Streams between fused engines: CACC to SDP, SDP to PDP.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/placement.h"
#include "core/precision.h"

namespace nvdla::sim
{

class MemoryPort;

/** \brief Bytes of nv_full's memory atom: all channels of one column in one surface of a cube. The
 * vector code is written for this size */
inline constexpr uint32_t atomBytes = 32;

/** \return channels in one atom of nv_full */
constexpr uint32_t atomChannels(Precision precision)
{
	return precision == Precision::Int8 ? 32 : 16;
}

/** \brief Size of the cube that a stream transports, or of the cubes of a batch */
struct StreamCube {
	uint32_t width;
	uint32_t height;
	uint32_t surfaces;
	uint32_t batches;
	uint32_t lanes; /**< channels of a surface */

	bool operator==(const StreamCube &) const = default;
};

/**
 * \brief A run of atoms along one line of a cube, between CACC and SDP
 *
 * \a data holds \a width atoms of atomChannels() values each, channel fastest.
 * A value is the 32-bit result of the accumulator (INT: integer, FP16: bits of an
 * FP32 number). The lanes beyond the cube's last channel hold the
 * producer's padding.
 */
struct StreamRun {
	uint32_t batch;	  /**< index of the cube in its batch */
	uint32_t surface; /**< index of the surface (atomChannels() channels) */
	uint32_t y;	  /**< index of the line */
	uint32_t x;	  /**< index of the first column */
	uint32_t width;	  /**< columns in this run */
	std::span<const int32_t> data;
	/** Upper bound for the absolute value of integers; the default bounds any integer */
	uint32_t largest = uint32_t{ 1 } << 31;
};

/**
 * \brief Receiver of a stream
 *
 * Runs come in the order in which the producer works: by surface, then line, then column (Winograd:
 * pairs of lines at a time). A receiver must not use the data after the call.
 *
 * Several threads can share a stream if the receiver can be forked, each thread with its own fork.
 * Each line is then pushed whole to one of the forks, in any order, none to the original receiver.
 */
class StreamSink
{
public:
	virtual ~StreamSink() = default;
	virtual void push(const StreamRun &run) = 0;
	/**
	 * \brief Push \a count whole lines, from the line of \a first on
	 * \param first describes the first line; its data has all lines one after another
	 */
	virtual void pushLines(const StreamRun &first, uint32_t count)
	{
		const size_t values = first.data.size() / count;
		StreamRun line = first;

		for (uint32_t i = 0; i < count; i++, line.y++) {
			line.data = first.data.subspan(i * values, values);
			push(line);
		}
	}
	/**
	 * \brief Make a receiver for another thread; other forks may be in use
	 *
	 * Any thread may call this at any time after the first fork.
	 *
	 * \return the fork, or null if the order of runs matters; this receiver must outlive it
	 */
	virtual std::unique_ptr<StreamSink> fork() { return nullptr; }
	/**
	 * \brief Fork for whole surfaces: a fork gets its surfaces one after the other, each
	 * with its lines in order
	 *
	 * For receivers that need a surface's lines in order, but surfaces in any order.
	 *
	 * \param cube the whole stream: all receivers together get exactly its runs
	 */
	virtual std::unique_ptr<StreamSink> forkOfSurfaces(const StreamCube &) { return nullptr; }
	/**
	 * \brief Add the counters of a fork, all of whose runs have arrived
	 *
	 * One thread at a time may call this.
	 */
	virtual void join(StreamSink &) {}
	/** \return true if the receiver writes none of these bytes; false if unknown */
	virtual bool leavesAlone(std::span<const std::byte>) const { return false; }
	/**
	 * \return true if the receiver writes no byte of the placement; for memory without views
	 */
	virtual bool spares(const Placement &) const { return true; }
};

/**
 * \brief A run of atoms along one line of a cube, between SDP and PDP
 *
 * \a atoms are elements as they would be in memory.
 */
struct AtomRun {
	uint32_t batch;	  /**< index of the cube in its batch */
	uint32_t surface; /**< index of the surface (atomChannels() channels) */
	uint32_t y;	  /**< index of the line */
	uint32_t x;	  /**< index of the first column */
	Precision precision;
	std::span<const std::byte> atoms;

	uint32_t width(uint32_t atom = atomBytes) const
	{
		return static_cast<uint32_t>(atoms.size() / atom);
	}
};

/** \brief Receiver of atom runs, in the order of StreamSink */
class AtomSink
{
public:
	virtual ~AtomSink() = default;
	virtual void push(const AtomRun &run) = 0;
	/**
	 * \brief Fork like StreamSink::forkOfSurfaces()
	 * \param memory the fork's memory port, which must outlive it
	 */
	virtual std::unique_ptr<AtomSink> fork(const StreamCube &, MemoryPort &) { return nullptr; }
	/** \brief Add the counters of a fork, except its memory traffic */
	virtual void join(AtomSink &) {}
	/** \return memory that the receiver writes; empty if it writes no lines of a cube */
	virtual Placement written() const { return {}; }
};

} /* namespace nvdla::sim */
