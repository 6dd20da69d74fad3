/* SPDX-License-Identifier: MIT */
/*
 * SDP's input from memory.
 */
#include <algorithm>
#include <span>
#include <vector>

#include "arith/float.h"
#include "core/shared_units.h"
#include "sdp/sdp_fast.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

using namespace arith;

namespace
{

/** \brief MRDMA: reads the source cube and feeds it to a stream */
class SdpSource
{
public:
	SdpSource(const SdpOp &op, MemoryPort &memory, SdpStream &stream)
		: op_(op), memory_(memory), stream_(stream), lanes_(op.lanes()),
		  sourceLanes_(op.geometry->atomChannels(op.in)),
		  runsOfLine_((op.width + SdpStream::kMostAtoms - 1) / SdpStream::kMostAtoms),
		  runsOfUnit_(std::max(SdpStream::kMostAtoms / op.width, 1U))
	{
	}

	uint64_t units() const { return (runs() + runsOfUnit_ - 1) / runsOfUnit_; }
	/** \brief Feed the runs of unit of work \a unit: a part of a line, or a few short lines */
	void work(uint64_t unit);

private:
	uint64_t runs() const { return uint64_t{ op_.surfaces() } * op_.height * runsOfLine_; }
	void push(const StreamRun &run);
	/** \return \a count atoms of the source */
	std::span<const std::byte> readRaw(uint32_t sourceSurface, uint32_t y, uint32_t x,
					   uint32_t count);
	/** \brief Gather the channels of a surface from the surfaces of the source */
	void gather(uint32_t surface, uint32_t y, uint32_t x, uint32_t count);
	void toFloat();

	const SdpOp &op_;
	MemoryPort &memory_;
	SdpStream &stream_;
	const uint32_t lanes_;
	const uint32_t sourceLanes_;
	const uint32_t runsOfLine_;
	const uint32_t runsOfUnit_;
	std::vector<std::byte> buffer_;
	std::vector<int32_t> part_;
	std::vector<int32_t> values_;
};

std::span<const std::byte> SdpSource::readRaw(uint32_t sourceSurface, uint32_t y, uint32_t x,
					      uint32_t count)
{
	return memory_.view(op_.source.ram,
			    op_.source.addressOf(sourceSurface, y, uint64_t{ x } * op_.atom()),
			    size_t{ count } * op_.atom(), buffer_);
}

/*
 * An INT16 source has the channels of one INT8 surface in two surfaces; the second one is read even
 * if the cube's channels end before it.
 */
void SdpSource::gather(uint32_t surface, uint32_t y, uint32_t x, uint32_t count)
{
	const uint32_t parts = op_.sourceParts();
	const uint32_t lanes = std::min(lanes_, sourceLanes_);

	part_.resize(size_t{ count } * sourceLanes_);
	for (uint32_t part = 0; part < parts; part++) {
		widenSdpElements(readRaw(surface * parts + part, y, x, count), op_.in, part_);
		for (uint32_t atom = 0; atom < count; atom++)
			std::copy_n(&part_[atom * sourceLanes_], lanes,
				    &values_[atom * lanes_ + part * sourceLanes_]);
	}
}

void SdpSource::toFloat()
{
	uint32_t nan = 0;
	uint32_t inf = 0;

	for (int32_t &value : values_) {
		const auto half = static_cast<uint16_t>(value);
		nan += Fp16::isNan(half);
		inf += Fp16::isInf(half);
		value = static_cast<int32_t>(fp16ToFp32(half));
	}
	stream_.countInput(nan, inf);
}

void SdpSource::push(const StreamRun &run)
{
	if (op_.in == op_.proc) {
		stream_.pushBytes(run, readRaw(run.surface, run.y, run.x, run.width));
		return;
	}
	StreamRun numbers = run;
	values_.resize(size_t{ run.width } * lanes_);
	gather(run.surface, run.y, run.x, run.width);
	if (op_.proc == Precision::Fp16)
		toFloat();
	numbers.data = values_;
	stream_.push(numbers);
}

void SdpSource::work(uint64_t unit)
{
	const uint64_t end = std::min((unit + 1) * runsOfUnit_, runs());

	for (uint64_t i = unit * runsOfUnit_; i < end && !memory_.cancelled(); i++) {
		const uint64_t line = i / runsOfLine_;
		const uint32_t x = static_cast<uint32_t>(i % runsOfLine_) * SdpStream::kMostAtoms;
		push({ .batch = 0,
		       .surface = static_cast<uint32_t>(line / op_.height),
		       .y = static_cast<uint32_t>(line % op_.height),
		       .x = x,
		       .width = std::min(SdpStream::kMostAtoms, op_.width - x),
		       .data = {} });
	}
}

/** \brief One thread's part of a shared operation */
class SdpPart
{
public:
	SdpPart(const SdpOp &op, const LutTables &tables, MemoryPort &memory)
		: stream_(op, tables, memory), source_(op, memory, stream_)
	{
	}

	void work(uint64_t unit) { source_.work(unit); }
	SdpStream &stream() { return stream_; }

private:
	SdpStream stream_;
	SdpSource source_;
};

/* Joins lines that are contiguous in all cubes to one line; not before PDP, which pools lines. */
SdpOp withLongestLines(const SdpOp &op)
{
	SdpOp result = op;
	const uint64_t pixels = uint64_t{ op.width } * op.height;

	if (op.toPdp || pixels > UINT32_MAX || op.source.lineStride != op.width * op.atom() ||
	    !op.linesFollow())
		return op;
	result.width = static_cast<uint32_t>(pixels);
	result.height = 1;
	return result;
}

unsigned int worthwhileThreads(const SdpOp &op)
{
	constexpr uint64_t kAtoms = 1024; /* least work of a thread: some microseconds of INT8 */

	return threadsFor(uint64_t{ op.width } * op.height * op.surfaces(), kAtoms);
}

} /* namespace */

OperationResult runSdp(const SdpOp &op, const LutTables &tables, MemoryPort &memory,
		       AtomSink *toPdp, Workers *workers)
{
	const SdpOp longest = withLongestLines(op);
	SdpStream stream(longest, tables, memory, toPdp);
	SdpSource source(longest, memory, stream);
	const unsigned int threads = workers ? worthwhileThreads(longest) : 1;

	if (threads > 1 && stream.isShareable())
		shareUnits(
			workers, threads, memory, source.units(),
			[&](MemoryPort &port) {
				return std::make_unique<SdpPart>(longest, tables, port);
			},
			[&](SdpPart &part) { stream.count(part.stream()); });
	else
		for (uint64_t unit = 0; !op.hangs && unit < source.units(); unit++)
			source.work(unit);
	OperationResult result = stream.finish();
	result.work.sdp = sdpWork(op);
	return result;
}

} /* namespace nvdla::sim */
