/* SPDX-License-Identifier: MIT */
/*
 * Streams between engines that work on the fly: CACC to SDP, SDP to PDP.
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

/** \brief Bytes of an atom of nv_full, for which the SIMD code is written: all channels of one
 * column in one surface of a cube */
inline constexpr uint32_t atomBytes = 32;

/** \return channels in one atom of nv_full */
constexpr uint32_t atomChannels(Precision precision)
{
	return precision == Precision::Int8 ? 32 : 16;
}

/** \brief Description of a stream's cube */
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
 * A value is the 32-bit accumulator result (INT: integer, FP16: the bits of an
 * FP32 number). Channels beyond the cube's last one are present, with the
 * producer's padding.
 */
struct StreamRun {
	uint32_t batch;	  /**< cube of a multi-batch operation, else 0 */
	uint32_t surface; /**< surface (group of atomChannels() channels) */
	uint32_t y;	  /**< line */
	uint32_t x;	  /**< first column */
	uint32_t width;	  /**< columns in this run */
	std::span<const int32_t> data;
	/** Upper bound of the magnitudes of integers, known by the producer */
	uint32_t largest = uint32_t{ 1 } << 31;
};

/**
 * \brief Receiver of a stream
 *
 * Runs come in the order the producer works: surface, then line, then column (Winograd: by pairs of
 * lines). A receiver must not use the data after the call.
 *
 * If a receiver can be forked, several threads can share a stream, each with a fork of its own.
 * Whole lines then come in any order, each to one of the forks, and none to the original receiver.
 */
class StreamSink
{
public:
	virtual ~StreamSink() = default;
	virtual void push(const StreamRun &run) = 0;
	/**
	 * \brief Push \a count whole lines, beginning with that of \a first
	 * \param first the first line, with the data of all lines one after another
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
	 * \brief Make a receiver for another thread, while other forks may be in use
	 *
	 * After the first fork, any thread may call this at any time.
	 *
	 * \return the fork, or null if the order of runs matters; this receiver must outlive it
	 */
	virtual std::unique_ptr<StreamSink> fork() { return nullptr; }
	/**
	 * \brief Fork for whole surfaces, which come one after the other, each with its lines in
	 * order
	 *
	 * For receivers to which the order of lines matters, but not that of surfaces.
	 *
	 * \param cube the whole stream: this and other receivers get exactly its runs
	 */
	virtual std::unique_ptr<StreamSink> forkOfSurfaces(const StreamCube &) { return nullptr; }
	/**
	 * \brief Add the counts of a fork, all of whose runs have arrived
	 *
	 * One thread at a time may call this.
	 */
	virtual void join(StreamSink &) {}
	/** \return true if the receiver writes none of these bytes; false if unknown */
	virtual bool leavesAlone(std::span<const std::byte>) const { return false; }
	/**
	 * \return true if the receiver writes no byte of the placement; for readers without a view
	 */
	virtual bool spares(const Placement &) const { return true; }
};

/**
 * \brief A run of atoms along one line of a cube, between SDP and PDP
 *
 * \a atoms are elements as they would be in memory.
 */
struct AtomRun {
	uint32_t batch;	  /**< cube of a multi-batch operation, else 0 */
	uint32_t surface; /**< surface (group of atomChannels() channels) */
	uint32_t y;	  /**< line */
	uint32_t x;	  /**< first column */
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
	/** \brief Add the counts of a fork, except its memory traffic */
	virtual void join(AtomSink &) {}
	/** \return the memory that the receiver writes, if it writes lines of a cube */
	virtual Placement written() const { return {}; }
};

} /* namespace nvdla::sim */
