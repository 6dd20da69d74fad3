/* SPDX-License-Identifier: MIT */
/*
 * SDP behind a convolution that several threads share: each takes the lines that it has summed up.
 */
#include <algorithm>

#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

namespace
{

/* Where a cube of the operation begins, and the address behind it. */
struct Extent {
	RamType ram;
	uint64_t begin;
	uint64_t end;

	bool isApart(const Extent &other) const
	{
		return ram != other.ram || end <= other.begin || other.end <= begin;
	}
};

Extent extentOf(const SdpOp &op, const SdpCube &cube, uint64_t atom)
{
	const uint64_t surfaces = (op.channels + atomChannels(op.out) - 1) / atomChannels(op.out);
	const uint64_t last =
		(std::max<uint64_t>(surfaces, op.surfaces()) - 1) * cube.surfaceStride +
		uint64_t{ op.height - 1 } * cube.lineStride +
		uint64_t{ op.batches - 1 } * cube.batchStride;

	return { cube.ram, cube.address, cube.address + last + op.width * atom };
}

/* What is written changes no operand but those of the same elements, which were read then. */
bool isApart(const SdpOp &op, const SdpStage &stage)
{
	const SdpOperandRead &read = stage.read;
	const SdpCube &out = op.destination;
	const uint64_t lanes = atomChannels(op.proc);

	if (!stage.readsAlu() && !stage.readsMul())
		return true;
	const uint64_t atom = lanes * read.elementBytes();
	const bool isInPlace = read.perElement && op.batches == 1 && op.out == op.proc &&
			       atom == atomBytes && read.cube.address == out.address &&
			       read.cube.lineStride == out.lineStride &&
			       read.cube.surfaceStride == out.surfaceStride;
	const Extent written = extentOf(op, out, atomBytes);
	const Extent operands = read.perElement
					? extentOf(op, read.cube, atom)
					: Extent{ read.cube.ram, read.cube.address,
						  read.cube.address + op.surfaces() * atom };

	return isInPlace || operands.isApart(written);
}

/** \brief A stream with ways of its own to memory */
class ForkedStream : public StreamSink
{
public:
	ForkedStream(const SdpOp &op, const LutTables &tables, const MemoryPort &memory,
		     SharedReads &reads)
		: port_(memory.fork()), again_(memory.fork()), stream_(op, tables, port_)
	{
		stream_.share(reads, again_);
	}

	void push(const StreamRun &run) override { stream_.push(run); }
	void pushLines(const StreamRun &first, uint32_t count) override
	{
		stream_.pushLines(first, count);
	}
	SdpStream &stream() { return stream_; }

private:
	MemoryPort port_;
	MemoryPort again_; /* for operands that somebody has counted already */
	SdpStream stream_;
};

} /* namespace */

std::unique_ptr<StreamSink> SdpStream::fork()
{
	if (given_.toPdp || given_.hangs || !isApart(given_, given_.x1) ||
	    !isApart(given_, given_.x2) || !isApart(given_, given_.y))
		return nullptr;
	if (!reads_)
		reads_.emplace(given_.surfaces());
	return std::make_unique<ForkedStream>(given_, tables_, memory_, *reads_);
}

void SdpStream::share(SharedReads &reads, MemoryPort &again)
{
	x1_.share(reads, 0, again);
	x2_.share(reads, 1, again);
	y_.share(reads, 2, again);
}

void SdpStream::join(StreamSink &sink)
{
	SdpStream &other = static_cast<ForkedStream &>(sink).stream();

	other.processCollected();
	/* What the convolution itself has missed came before. */
	const bool first =
		other.faultAt_ < faultAt_ && (faultAt_ != UINT64_MAX || !memory_.faulted());

	memory_.join(other.memory_, first);
	faultAt_ = std::min(faultAt_, other.faultAt_);
	counters_ += other.counters_;
	atoms_ += other.atoms_;
	error(other.guestError_.c_str());
}

} /* namespace nvdla::sim */
