/* SPDX-License-Identifier: MIT */
/*
 * SDP on several threads: after a convolution, each thread processes the lines that it has summed.
 */
#include <algorithm>

#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

namespace
{

/* Per-kernel operands are shared by all batches. */
Placement operandsOf(const SdpOp &op, const SdpOperandRead &read)
{
	const uint64_t atom = uint64_t{ op.lanes() } * read.elementBytes();

	return read.perElement ? read.cube.placement(op.width * atom, op.height, op.surfaces())
			       : read.cube.placement(op.surfaces() * atom, 1, 1);
}

Placement destinationOf(const SdpOp &op)
{
	Placement written = op.destination.placement(uint64_t{ op.width } * op.atom(), op.height,
						     op.surfaces() * op.outParts());

	written.batches = { op.batches, op.destination.batchStride };
	return written;
}

/* An INT16 source has the channels of each surface that INT8 processes in two surfaces. */
Placement sourceOf(const SdpOp &op)
{
	return op.source.placement(uint64_t{ op.width } * op.atom(), op.height,
				   op.surfaces() * op.sourceParts());
}

/* \return true if writing an element overwrites no input or operand of another element */
bool isApart(const SdpOp &op, const Placement &written)
{
	const auto changesNone = [&](const SdpStage &stage) {
		return !stage.readsOperands() || operandsOf(op, stage.read).isUsableBy(written);
	};

	return written.hasLinesApart() && (op.flying || sourceOf(op).isUsableBy(written)) &&
	       changesNone(op.x1) && changesNone(op.x2) && changesNone(op.y);
}

/** \brief A stream and its memory port, which the PDP that gets its output uses, too */
class ForkedStream : public StreamSink
{
public:
	ForkedStream(const SdpOp &op, const LutTables &tables, const MemoryPort &memory)
		: port_(memory.fork()), stream_(op, tables, port_)
	{
	}
	ForkedStream(const SdpOp &op, const LutTables &tables, const MemoryPort &memory,
		     AtomSink &toPdp, const StreamCube &cube)
		: port_(memory.fork()), pdp_(toPdp.fork(cube, port_)),
		  stream_(op, tables, port_, pdp_.get())
	{
	}

	void push(const StreamRun &run) override { stream_.push(run); }
	void pushLines(const StreamRun &first, uint32_t count) override
	{
		stream_.pushLines(first, count);
	}
	SdpStream &stream() { return stream_; }
	AtomSink *pdp() { return pdp_.get(); }

private:
	MemoryPort port_;
	std::unique_ptr<AtomSink> pdp_;
	SdpStream stream_;
};

} /* namespace */

bool SdpStream::isShareable() const
{
	return !op_.toPdp && !op_.hangs && isApart(op_, destinationOf(op_));
}

bool SdpStream::leavesAlone(std::span<const std::byte> bytes) const
{
	if (op_.toPdp && !toPdp_)
		return true;
	const Placement written = op_.toPdp ? toPdp_->written() : destinationOf(op_);
	const auto there = memory_.look(written.ram, written.address, written.size());

	return !there.empty() && areApart(bytes, there);
}

bool SdpStream::spares(const Placement &read) const
{
	if (op_.toPdp && !toPdp_)
		return true;
	return read.isApart(op_.toPdp ? toPdp_->written() : destinationOf(op_));
}

std::unique_ptr<StreamSink> SdpStream::fork()
{
	return isShareable() ? std::make_unique<ForkedStream>(op_, tables_, memory_) : nullptr;
}

std::unique_ptr<StreamSink> SdpStream::forkOfSurfaces(const StreamCube &cube)
{
	const StreamCube whole = { op_.width, op_.height, op_.surfaces(), op_.batches, lanes_ };

	if (!toPdp_ || !op_.toPdp || op_.hangs || !staysAtoms() || cube != whole ||
	    !isApart(op_, toPdp_->written()))
		return nullptr;
	auto forked = std::make_unique<ForkedStream>(op_, tables_, memory_, *toPdp_, cube);
	return forked->pdp() ? std::move(forked) : nullptr;
}

void SdpStream::count(SdpStream &other)
{
	counters_ += other.counters_;
	atoms_ += other.atoms_;
	error(other.guestError_);
}

void SdpStream::join(StreamSink &sink)
{
	auto &forked = static_cast<ForkedStream &>(sink);
	SdpStream &other = forked.stream();

	count(other);
	memory_.join(other.memory_);
	if (forked.pdp())
		toPdp_->join(*forked.pdp());
}

} /* namespace nvdla::sim */
