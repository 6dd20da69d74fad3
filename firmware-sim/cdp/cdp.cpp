/* SPDX-License-Identifier: MIT */
#include "cdp/cdp.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <nvdla/hw/registers.h>

#include "arith/float.h"
#include "cdp/cdp_fast.h"
#include "core/elements.h"
#include "core/shared_units.h"
#include "lut/lut_fast.h"

namespace nvdla::sim
{

using namespace arith;

namespace
{

/* Positions of a line that are processed together; limits the size of a thread's buffers. */
constexpr uint32_t chunkAtoms = 64;
constexpr uint32_t margin = kCdpMargin;

/** \brief Counters of an operation, or of a thread's part of it */
struct CdpCounters {
	LutCounters lut;
	uint32_t saturation = 0;
	uint32_t nanOutput = 0;

	CdpCounters &operator+=(const CdpCounters &other)
	{
		lut += other.lut;
		saturation += other.saturation;
		nanOutput += other.nanOutput;
		return *this;
	}
};

/* Joins all lines into one if neither the source nor the destination has gaps between lines. */
CdpOp withLongestLines(const CdpOp &op)
{
	CdpOp result = op;
	const uint32_t line = op.width * op.atom();
	const uint64_t pixels = uint64_t{ op.width } * op.height;

	if (pixels > UINT32_MAX || op.source.lineStride != line ||
	    op.destination.lineStride != line)
		return op;
	result.width = static_cast<uint32_t>(pixels);
	result.height = 1;
	return result;
}

uint32_t chunksOfLine(const CdpOp &op)
{
	return (op.width + chunkAtoms - 1) / chunkAtoms;
}

/** \brief One running operation, or one thread's part of it */
class CdpRun
{
public:
	/** \param op must outlive this object, as must \a memory */
	CdpRun(const CdpOp &op, const LutTables &tables, MemoryPort &memory)
		: op_(op), memory_(memory), lanes_(op.geometry->atomChannels(op.precision)),
		  stride_(op.surfaces() * lanes_ + 2 * margin),
		  mostValues_(size_t{ std::min(chunkAtoms, op.width) } * stride_),
		  lut_(cdpLut, op.lut, tables)
	{
		/* The vector code is written for atoms of 32 bytes. */
		if (op.atom() != atomBytes)
			return;
		if (op.precision != Precision::Fp16) {
			if (FastLut::accepts(op.lut))
				fastLut_.emplace(cdpLut, op.lut, tables, op.countsLut);
		} else if (FloatLut::accepts(op.lut, tables)) {
			floatLut_.emplace(cdpLut, op.lut, tables, op.countsLut);
			float_.emplace(floatOf(op));
		}
	}

	/** \brief Normalise a chunk of a line */
	void work(uint64_t chunk);
	CdpCounters counters() const;

private:
	/** \return channels rounded up to whole atoms */
	size_t channels() const { return stride_ - 2 * margin; }
	CdpFloat floatOf(const CdpOp &op);
	void readChunk(uint32_t y, uint32_t x, uint32_t count);
	void writeChunk(uint32_t y, uint32_t x, uint32_t count);
	int32_t convertInput(int32_t element) const;
	void convertAtoms(std::span<const std::byte> atoms, uint32_t channel, uint32_t count);
	void normalisePosition(uint32_t atom, std::byte *out, size_t step);
	void lookUpFast(const int32_t *center);
	/** \brief Destination of output atoms: place of the first surface's atoms, and bytes from
	 * one surface to the next */
	struct Places {
		std::byte *atoms;
		size_t step;
	};
	Places place(uint32_t y, uint32_t x, size_t bytes);
	int32_t normalise(const int32_t *center);
	int32_t normaliseFloat(const int32_t *center);
	uint32_t squareSumFloat(const int32_t *center) const;

	const CdpOp &op_;
	MemoryPort &memory_;
	const uint32_t lanes_;
	/** Numbers from one position to the next: all channels, and a margin on both sides */
	const uint32_t stride_;
	const size_t mostValues_; /**< number of values in a full chunk */
	Lut lut_;
	/* Tables of the vector code for integers and for FP16; set if they can replace lut_. */
	std::optional<FastLut> fastLut_;
	std::optional<FloatLut> floatLut_;
	std::optional<CdpFloat> float_; /**< set if floatLut_ is */

	std::vector<int32_t> values_;  /**< values of a chunk; if float_ is set, FP32 bits */
	std::vector<double> sums_;     /**< INT16: sums of squares of a position */
	std::vector<int32_t> results_; /**< results of a position */
	std::vector<int32_t> elements_;
	std::vector<std::byte> bytes_;
	CdpCounters counters_; /**< without the counts in float_ */
};

CdpFloat CdpRun::floatOf(const CdpOp &op)
{
	return { .radius = op.radius,
		 .squares = !op.squareSumBypass,
		 .multiplies = !op.mulBypass,
		 .lut = *floatLut_,
		 .one = [this](const int32_t *center) { return normaliseFloat(center); },
		 .counters = {},
		 .saturation = 0 };
}

/* Converts an element to an integer of 9 or 17 bits, or to FP17 bits. */
int32_t CdpRun::convertInput(int32_t element) const
{
	switch (op_.precision) {
	case Precision::Int8:
		return static_cast<int32_t>(saturate<9>(op_.input.apply(element)));
	case Precision::Int16:
		return static_cast<int32_t>(saturate<17>(op_.input.apply(element)));
	case Precision::Fp16:
		break;
	}

	const auto half = static_cast<uint16_t>(element);
	if (op_.nanToZero && Fp16::isNan(half))
		return 0;
	return static_cast<int32_t>(fp16ToFp17(half));
}

void CdpRun::readChunk(uint32_t y, uint32_t x, uint32_t count)
{
	/* The margins around the channels stay zero. The array is longer because vectors reach
	 * beyond the last position. */
	values_.resize(mostValues_ + atomBytes);
	for (uint32_t surface = 0; surface < op_.surfaces(); surface++) {
		const uint64_t address =
			op_.source.addressOf(surface, y, uint64_t{ x } * op_.atom());

		convertAtoms(
			memory_.view(op_.source.ram, address, size_t{ count } * op_.atom(), bytes_),
			surface * lanes_, count);
	}
}

/* Converts atoms of one surface, and stores them in values_ from \a channel on. */
void CdpRun::convertAtoms(std::span<const std::byte> atoms, uint32_t channel, uint32_t count)
{
	const uint32_t valid = std::min(lanes_, op_.channels - channel);
	int32_t *first = &values_[margin + channel];

	if (float_) {
		cdpFloatInput(op_.nanToZero, atoms.data(), count, first, stride_);
	} else if (fastLut_) {
		cdpInput(op_.input, op_.precision, atoms.data(), count, first, stride_);
	} else {
		elements_.resize(size_t{ count } * lanes_);
		widenElements(atoms, op_.precision, elements_);
		for (uint32_t atom = 0; atom < count; atom++)
			for (uint32_t lane = 0; lane < valid; lane++)
				first[size_t{ atom } * stride_ + lane] =
					convertInput(elements_[size_t{ atom } * lanes_ + lane]);
	}
	for (uint32_t atom = 0; atom < count && valid < lanes_; atom++)
		std::fill_n(first + size_t{ atom } * stride_ + valid, lanes_ - valid, 0);
}

/* Looks up all channels of a position and stores them in results_. */
void CdpRun::lookUpFast(const int32_t *center)
{
	const size_t channels = results_.size();

	if (op_.squareSumBypass) {
		std::copy_n(center, channels, results_.begin());
	} else if (op_.precision == Precision::Int8) {
		cdpSquareSums(center, op_.radius, channels, results_.data());
	} else {
		sums_.resize(channels);
		cdpSquareSums(center, op_.radius, channels, sums_.data());
		fastLut_->lookup(sums_, results_, counters_.lut);
		return;
	}
	fastLut_->lookup(results_, counters_.lut);
}

/* Normalises all channels of a position; \a step is the distance to the next surface's atom in
 * bytes. */
void CdpRun::normalisePosition(uint32_t atom, std::byte *out, size_t step)
{
	const int32_t *center = &values_[size_t{ atom } * stride_ + margin];

	if (float_) {
		cdpFloatPosition(*float_, center, channels(), out, step);
		return;
	}
	results_.resize(channels());
	if (fastLut_) {
		lookUpFast(center);
		counters_.saturation +=
			cdpOutput(op_.output, op_.precision, results_.data(),
				  op_.mulBypass ? nullptr : center, results_.size(), out, step);
		return;
	}
	for (int32_t &result : results_)
		result = op_.precision == Precision::Fp16 ? normaliseFloat(center++)
							  : normalise(center++);
	for (uint32_t surface = 0; surface < op_.surfaces(); surface++)
		narrowElements(std::span(results_).subspan(size_t{ surface } * lanes_, lanes_),
			       op_.precision, { out + surface * step, op_.atom() });
}

/* A result beyond the range by one is clipped but does not count as saturated, as in SDP. */
int32_t CdpRun::normalise(const int32_t *center)
{
	const bool isInt8 = op_.precision == Precision::Int8;
	const auto radius = static_cast<int32_t>(op_.radius);
	int64_t sum = 0;

	if (op_.squareSumBypass)
		sum = *center;
	else
		for (int32_t i = -radius; i <= radius; i++)
			sum += static_cast<int64_t>(center[i]) * center[i];

	int64_t result = lut_.lookup(sum, counters_.lut);
	if (!op_.mulBypass)
		result *= *center;

	const int64_t product = (result - op_.output.offset) * op_.output.scale;
	const int64_t clipped = isInt8 ? truncate<8>(product, op_.output.shift)
				       : truncate<16>(product, op_.output.shift);
	const int64_t floor = product >> op_.output.shift;
	counters_.saturation += floor > clipped + 1 || floor < clipped - 1;
	return static_cast<int32_t>(clipped);
}

/* Adds pairs from the middle outwards, and the centre to the first pair, as the hardware does. */
uint32_t CdpRun::squareSumFloat(const int32_t *center) const
{
	const auto radius = static_cast<int32_t>(op_.radius);
	const auto square = [&](int32_t i) {
		const uint32_t value = fp17ToFp32(static_cast<uint32_t>(center[i]));
		return multiply<Fp32>(value, value);
	};

	uint32_t sum = add<Fp32>(add<Fp32>(square(-1), square(1)), square(0));
	for (int32_t i = 2; i <= radius; i++)
		sum = add<Fp32>(sum, add<Fp32>(square(-i), square(i)));
	return sum;
}

int32_t CdpRun::normaliseFloat(const int32_t *center)
{
	const auto x = static_cast<uint32_t>(*center);
	const uint32_t input = op_.squareSumBypass ? fp17ToFp32(x) : squareSumFloat(center);
	uint32_t result = lut_.lookupFloat(input, counters_.lut);

	if (!op_.mulBypass)
		result = multiply<Fp17>(x, result);
	else if (Fp17::isNan(x))
		result = x;

	const uint16_t half = fp17ToFp16(result);
	counters_.saturation += (half & Fp16::kMagnitudeMask) == Fp16::kMax;
	counters_.nanOutput += Fp16::isNan(half);
	return half;
}

/*
 * \param bytes bytes of a chunk in one surface
 * \return the places of the chunk's atoms in all surfaces
 */
CdpRun::Places CdpRun::place(uint32_t y, uint32_t x, size_t bytes)
{
	const size_t stride = op_.destination.surfaceStride;
	const bool areApart = stride >= bytes || op_.surfaces() == 1;

	/* Results go directly to memory only if the output's surfaces do not overlap. */
	const auto all = memory_.place(op_.destination.ram,
				       op_.destination.addressOf(0, y, uint64_t{ x } * op_.atom()),
				       (op_.surfaces() - 1) * stride + bytes);
	if (areApart && !all.empty())
		return { all.data(), stride };
	bytes_.resize(bytes * op_.surfaces());
	return { bytes_.data(), bytes };
}

void CdpRun::writeChunk(uint32_t y, uint32_t x, uint32_t count)
{
	const size_t bytes = size_t{ count } * op_.atom();
	const Places places = place(y, x, bytes);

	for (uint32_t atom = 0; atom < count; atom++)
		normalisePosition(atom, places.atoms + size_t{ atom } * op_.atom(), places.step);
	for (uint32_t surface = 0; surface < op_.surfaces(); surface++)
		memory_.write(op_.destination.ram,
			      op_.destination.addressOf(surface, y, uint64_t{ x } * op_.atom()),
			      { places.atoms + surface * places.step, bytes });
}

void CdpRun::work(uint64_t chunk)
{
	const auto y = static_cast<uint32_t>(chunk / chunksOfLine(op_));
	const uint32_t x = static_cast<uint32_t>(chunk % chunksOfLine(op_)) * chunkAtoms;
	const uint32_t count = std::min(chunkAtoms, op_.width - x);

	readChunk(y, x, count);
	writeChunk(y, x, count);
}

CdpCounters CdpRun::counters() const
{
	CdpCounters all = counters_;

	if (float_) {
		all.lut += float_->counters;
		all.saturation += float_->saturation;
	}
	return all;
}

/* \return number of useful threads; 1 if an output overwrites the input of another position. */
unsigned int worthwhileThreads(const CdpOp &op)
{
	constexpr uint64_t kAtoms = 640; /* work of some microseconds, worth waking a thread */
	const uint64_t line = uint64_t{ op.width } * op.atom();
	const Placement written = op.destination.placement(line, op.height, op.surfaces());
	const Placement read = op.source.placement(line, op.height, op.surfaces());

	if (!written.hasLinesApart() || !read.isUsableBy(written))
		return 1;
	return threadsFor(uint64_t{ op.width } * op.height * op.surfaces(), kAtoms);
}

OperationResult cdpResult(const CdpOp &op, const CdpCounters &counters)
{
	const LutCounters lut = op.countsLut ? counters.lut : LutCounters{};

	OperationResult result;
	result.updates = {
		/* The RTL does not count NaNs and infinities of the input. */
		{ NVDLA_CDP_D_NAN_INPUT_NUM, 0 },
		{ NVDLA_CDP_D_INF_INPUT_NUM, 0 },
		{ NVDLA_CDP_D_NAN_OUTPUT_NUM, counters.nanOutput },
		{ NVDLA_CDP_D_OUT_SATURATION, counters.saturation },
		{ NVDLA_CDP_D_PERF_LUT_UFLOW, lut.underflow },
		{ NVDLA_CDP_D_PERF_LUT_OFLOW, lut.overflow },
		{ NVDLA_CDP_D_PERF_LUT_HYBRID, lut.hybrid },
		{ NVDLA_CDP_D_PERF_LUT_LE_HIT, lut.leHit },
		{ NVDLA_CDP_D_PERF_LUT_LO_HIT, lut.loHit },
	};
	result.work.cdp = cdpWork(op);
	result.guestError = op.guestError;
	return result;
}

} /* namespace */

CdpWork cdpWork(const CdpOp &op)
{
	CdpWork work = { .core = op.geometry->timing };

	work.positions = uint64_t{ op.height } * op.width;
	work.atoms = work.positions * op.surfaces();
	work.fp16 = op.precision == Precision::Fp16;
	work.squares = !op.squareSumBypass;
	work.traffic.of(op.source.ram).readBytes += work.atoms * op.atom();
	work.traffic.of(op.destination.ram).writeBytes += work.atoms * op.atom();
	return work;
}

OperationResult runCdp(const CdpOp &op, const LutTables &tables, MemoryPort &memory,
		       Workers *workers)
{
	const CdpOp longest = withLongestLines(op);
	CdpCounters counters;

	shareUnits(
		workers, worthwhileThreads(longest), memory,
		uint64_t{ longest.height } * chunksOfLine(longest),
		[&](MemoryPort &own) { return std::make_unique<CdpRun>(longest, tables, own); },
		[&](const CdpRun &run) { counters += run.counters(); });
	return cdpResult(op, counters);
}

} /* namespace nvdla::sim */
