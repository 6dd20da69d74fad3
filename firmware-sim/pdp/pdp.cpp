/* SPDX-License-Identifier: MIT */
#include "pdp/pdp.h"

#include <algorithm>

#include <nvdla/hw/registers.h>

#include "arith/float.h"
#include "core/shared_units.h"

namespace nvdla::sim
{

namespace
{

uint32_t nansOf(const uint16_t *halves, size_t count)
{
	uint32_t nans = 0;

	for (size_t i = 0; i < count; i++)
		nans += static_cast<int16_t>(halves[i] & 0x7fff) > 0x7c00;
	return nans;
}

/* \return \a atoms (FP16) with NaNs replaced by 0, in \a line */
std::span<const std::byte> withoutNans(std::span<const std::byte> atoms,
				       std::vector<std::byte> &line)
{
	if (atoms.data() != line.data())
		line.assign(atoms.begin(), atoms.end());
	auto *halves = reinterpret_cast<uint16_t *>(line.data());
	for (size_t i = 0; i < line.size() / sizeof(uint16_t); i++)
		halves[i] = arith::Fp16::isNan(halves[i]) ? 0 : halves[i];
	return line;
}

/*
 * The hardware's counters of NaNs and infinities of the input always read 0. The core later
 * replaces the stall counter's 0 by the timing model's value.
 */
void addCounters(OperationResult &result, uint32_t nans)
{
	result.updates = {
		{ NVDLA_PDP_D_INF_INPUT_NUM, 0 },
		{ NVDLA_PDP_D_NAN_INPUT_NUM, 0 },
		{ NVDLA_PDP_D_NAN_OUTPUT_NUM, nans },
		{ NVDLA_PDP_D_PERF_WRITE_STALL, 0 },
	};
}

Placement destinationOf(const PdpOp &op)
{
	return op.destination.placement(uint64_t{ op.outWidth } * op.atom(), op.outHeight,
					op.surfaces());
}

/** \brief Pools surfaces from memory, part by part of a split width */
class PdpReader
{
public:
	/** \param op must outlive this object, as must \a parts and \a port */
	PdpReader(const PdpOp &op, const std::vector<PdpPart> &parts, MemoryPort &port)
		: op_(op), parts_(parts), port_(port), writer_(op, port)
	{
	}

	/** \brief Pool a surface of a part; \a unit counts the surfaces of the first part first */
	void work(uint64_t unit);
	uint32_t nanCount() const { return writer_.nanCount(); }

private:
	void poolLine(uint32_t surface, uint32_t y);

	const PdpOp &op_;
	const std::vector<PdpPart> &parts_;
	MemoryPort &port_;
	PdpWriter writer_;
	const PdpPart *part_ = nullptr; /* part of the last pooled surface */
	std::unique_ptr<PdpPooler> pooler_;
	std::vector<std::byte> line_;
};

void PdpReader::work(uint64_t unit)
{
	const PdpPart *part = &parts_[unit / op_.surfaces()];
	const auto surface = static_cast<uint32_t>(unit % op_.surfaces());

	if (part != part_)
		pooler_ = PdpPooler::create(op_, *part);
	part_ = part;
	writer_.begin(surface, part->outX);
	for (uint32_t y = 0; y < op_.inHeight && !port_.cancelled(); y++)
		poolLine(surface, y);
}

void PdpReader::poolLine(uint32_t surface, uint32_t y)
{
	const uint64_t first = static_cast<uint64_t>(part_->inX) * op_.atom();
	std::span<const std::byte> atoms =
		port_.view(op_.source.ram, op_.source.addressOf(surface, y, first),
			   size_t{ part_->inWidth } * op_.atom(), line_);

	if (op_.precision == Precision::Fp16 && op_.nanToZero)
		atoms = withoutNans(atoms, line_);
	pooler_->push(atoms, writer_);
}

/* \return number of useful threads; 1 if an output overwrites the input of another surface. */
unsigned int worthwhileThreads(const PdpOp &op)
{
	constexpr uint64_t kAtoms = 1024; /* work of some microseconds, worth waking a thread */
	const Placement written = destinationOf(op);
	const Placement read =
		op.source.placement(uint64_t{ op.inWidth } * op.atom(), op.inHeight, op.surfaces());

	if (!op.guestError.empty() || !written.hasLinesApart() || !read.isApart(written))
		return 1;
	return threadsFor(uint64_t{ op.inWidth } * op.inHeight * op.surfaces(), kAtoms);
}

} /* namespace */

uint64_t PdpWriter::addressOf(uint32_t y) const
{
	return op_.destination.addressOf(surface_, y, uint64_t{ x_ } * op_.atom());
}

std::span<std::byte> PdpWriter::place(uint32_t y, size_t bytes)
{
	const auto there = port_.place(op_.destination.ram, addressOf(y), bytes);

	if (!there.empty())
		return there;
	buffer_.resize(bytes);
	return buffer_;
}

void PdpWriter::write(uint32_t y, std::span<const std::byte> atoms)
{
	if (op_.precision == Precision::Fp16)
		nans_ += nansOf(reinterpret_cast<const uint16_t *>(atoms.data()),
				atoms.size() / sizeof(uint16_t));
	port_.write(op_.destination.ram, addressOf(y), atoms);
}

PdpStream::PdpStream(const PdpOp &op, MemoryPort &port, bool anySurface)
	: op_(op), part_(pdpParts(op).front()), port_(port), pooler_(PdpPooler::create(op_, part_)),
	  writer_(op_, port), anySurface_(anySurface)
{
	for (Line &line : lines_)
		line.atoms.resize(size_t{ op_.inWidth } * op_.atom());
}

bool PdpStream::accepts(const AtomRun &run)
{
	if (anySurface_ && y_ == 0)
		surface_ = run.surface;
	return !mismatch_ && run.batch == 0 && surface_ < op_.surfaces() &&
	       run.surface == surface_ && (run.y == y_ || run.y == y_ + 1) &&
	       run.y < op_.inHeight && run.x <= op_.inWidth &&
	       run.width(op_.atom()) <= op_.inWidth - run.x &&
	       elementBytes(run.precision) == elementBytes(op_.precision);
}

void PdpStream::poolLine(std::span<const std::byte> atoms)
{
	writer_.begin(surface_, 0);
	if (!port_.cancelled())
		pooler_->push(atoms, writer_);
	if (++y_ == op_.inHeight) {
		y_ = 0;
		surface_++;
		pooled_++;
	}
}

void PdpStream::push(const AtomRun &run)
{
	if (!accepts(run)) {
		mismatch_ = true;
		return;
	}
	Line &line = lines_[run.y % lines_.size()];
	if (run.y == y_ && run.width(op_.atom()) == op_.inWidth && line.filled == 0) {
		poolLine(run.atoms);
		return;
	}
	std::ranges::copy(run.atoms, line.atoms.begin() + ptrdiff_t{ run.x } * op_.atom());
	line.filled += run.width(op_.atom());
	for (Line *next = &lines_[y_ % lines_.size()]; next->filled >= op_.inWidth;
	     next = &lines_[y_ % lines_.size()]) {
		next->filled = 0;
		poolLine(next->atoms);
	}
}

std::unique_ptr<AtomSink> PdpStream::fork(const StreamCube &cube, MemoryPort &memory)
{
	const StreamCube whole = { op_.inWidth, op_.inHeight, op_.surfaces(), 1, op_.lanes() };

	if (cube != whole || !op_.guestError.empty() || !written().hasLinesApart())
		return nullptr;
	return std::make_unique<PdpStream>(op_, memory, true);
}

void PdpStream::join(AtomSink &sink)
{
	const auto &other = static_cast<const PdpStream &>(sink);

	writer_.join(other.writer_);
	pooled_ += other.pooled_;
	mismatch_ |= other.mismatch_;
}

Placement PdpStream::written() const
{
	return destinationOf(op_);
}

OperationResult PdpStream::finish()
{
	OperationResult result;

	result.guestError = op_.guestError;
	if (mismatch_ || pooled_ < op_.surfaces()) {
		result.guestError = "PDP: SDP puts out another cube than PDP takes in";
		result.hangs = true;
	}
	addCounters(result, writer_.nanCount());
	result.work.pdp = pdpWork(op_);
	return result;
}

OperationResult runPdp(const PdpOp &op, MemoryPort &port, Workers *workers)
{
	OperationResult result;
	const std::vector<PdpPart> parts = pdpParts(op);
	uint32_t nans = 0;

	result.guestError = op.guestError;
	result.work.pdp = pdpWork(op);
	shareUnits(
		workers, worthwhileThreads(op), port, uint64_t{ op.surfaces() } * parts.size(),
		[&](MemoryPort &own) { return std::make_unique<PdpReader>(op, parts, own); },
		[&](const PdpReader &reader) { nans += reader.nanCount(); });
	addCounters(result, nans);
	result.updates.push_back({ NVDLA_PDP_RDMA_D_PERF_READ_STALL, 0 });
	return result;
}

} /* namespace nvdla::sim */
