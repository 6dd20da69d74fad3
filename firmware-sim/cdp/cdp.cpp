/* SPDX-License-Identifier: MIT */
#include "cdp/cdp.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <nvdla/hw/registers.h>

#include "arith/float.h"
#include "cdp/cdp_fast.h"
#include "core/elements.h"
#include "lut/lut_fast.h"

namespace nvdla::sim
{

using namespace arith;

namespace
{

/* Positions of a line worked on at a time: bounds the memory that an operation takes. */
constexpr uint32_t chunkAtoms = 32;
constexpr uint32_t margin = kCdpMargin;

/** \brief One operation at work */
class CdpRun
{
public:
	CdpRun(const CdpOp &op, const LutTables &tables, MemoryPort &memory)
		: op_(op), memory_(memory), lanes_(atomChannels(op.precision)),
		  stride_(op.surfaces() * lanes_ + 2 * margin), lut_(cdpLut, op.lut, tables)
	{
		if (op.precision != Precision::Int8 || !FastLut::accepts(op.lut))
			return;
		fastLut_.emplace(cdpLut, op.lut, tables);
		for (int element = INT8_MIN; element <= INT8_MAX; element++)
			converted_[static_cast<uint8_t>(element)] = convertInput(element);
	}

	OperationResult run();

private:
	void readChunk(uint32_t y, uint32_t x, uint32_t count);
	void writeChunk(uint32_t y, uint32_t x, uint32_t count);
	int32_t convertInput(int32_t element) const;
	void convertAtoms(uint32_t channel, uint32_t count);
	void normaliseFast(uint32_t atom);
	int32_t normalise(const int32_t *center);
	int32_t normaliseFloat(const int32_t *center);
	uint32_t squareSumFloat(const int32_t *center) const;
	OperationResult report() const;

	const CdpOp &op_;
	MemoryPort &memory_;
	const uint32_t lanes_;
	/** Values per position: its channels and a margin on both sides */
	const uint32_t stride_;
	Lut lut_;
	std::optional<FastLut> fastLut_;     /**< INT8, if it can take lut_'s place */
	std::array<int32_t, 256> converted_; /**< INT8's inputs, by the byte */

	std::vector<int32_t> values_;
	std::vector<int32_t> results_; /**< of the channels of a position, one chunk */
	std::vector<int32_t> elements_;
	std::vector<std::byte> bytes_;
	LutCounters counters_;
	uint32_t saturation_ = 0;
	uint32_t nanOutput_ = 0;
};

/* Integers of 9 or 17 bits, or FP17 bits. */
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
	/* What is not read, and channels beyond the last one, count as zero. */
	values_.assign(size_t{ count } * stride_, 0);
	elements_.resize(size_t{ count } * lanes_);
	bytes_.resize(size_t{ count } * atomBytes);

	for (uint32_t surface = 0; surface < op_.surfaces(); surface++) {
		const uint64_t address =
			op_.source.address + uint64_t{ surface } * op_.source.surfaceStride +
			uint64_t{ y } * op_.source.lineStride + uint64_t{ x } * atomBytes;

		memory_.read(op_.source.ram, address, bytes_);
		convertAtoms(surface * lanes_, count);
	}
}

/* bytes_ to the channels from \a channel on of values_. */
void CdpRun::convertAtoms(uint32_t channel, uint32_t count)
{
	const uint32_t valid = std::min(lanes_, op_.channels - channel);

	if (!fastLut_)
		widenElements(bytes_, op_.precision, elements_);
	for (uint32_t atom = 0; atom < count; atom++) {
		const size_t in = size_t{ atom } * lanes_;
		int32_t *out = &values_[size_t{ atom } * stride_ + margin + channel];

		for (uint32_t lane = 0; lane < valid; lane++)
			out[lane] = fastLut_ ? converted_[static_cast<uint8_t>(bytes_[in + lane])]
					     : convertInput(elements_[in + lane]);
	}
}

/* All channels of a position, to results_. */
void CdpRun::normaliseFast(uint32_t atom)
{
	const size_t channels = stride_ - 2 * margin;
	const int32_t *center = &values_[size_t{ atom } * stride_ + margin];
	const std::span<int32_t> results(&results_[atom * channels], channels);

	if (op_.squareSumBypass)
		std::copy_n(center, channels, results.begin());
	else
		cdpSquareSums(center, op_.radius, channels, results.data());
	fastLut_->lookup(results, counters_);
	saturation_ +=
		cdpOutput(op_.output, results.data(), op_.mulBypass ? nullptr : center, channels);
}

/* What misses the range by one is clipped but not counted, as in SDP. */
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

	int64_t result = lut_.lookup(sum, counters_);
	if (!op_.mulBypass)
		result *= *center;

	const int64_t product = (result - op_.output.offset) * op_.output.scale;
	const int64_t clipped = isInt8 ? truncate<8>(product, op_.output.shift)
				       : truncate<16>(product, op_.output.shift);
	const int64_t floor = product >> op_.output.shift;
	saturation_ += floor > clipped + 1 || floor < clipped - 1;
	return static_cast<int32_t>(clipped);
}

/* From the middle outwards, the pair on both sides first. */
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
	uint32_t result = lut_.lookupFloat(input, counters_);

	if (!op_.mulBypass)
		result = multiply<Fp17>(x, result);
	else if (Fp17::isNan(x))
		result = x;

	const uint16_t half = fp17ToFp16(result);
	saturation_ += (half & Fp16::kMagnitudeMask) == Fp16::kMax;
	nanOutput_ += Fp16::isNan(half);
	return half;
}

void CdpRun::writeChunk(uint32_t y, uint32_t x, uint32_t count)
{
	const bool isFloat = op_.precision == Precision::Fp16;

	if (fastLut_) {
		results_.resize(size_t{ count } * op_.surfaces() * lanes_);
		for (uint32_t atom = 0; atom < count; atom++)
			normaliseFast(atom);
	}
	for (uint32_t surface = 0; surface < op_.surfaces(); surface++) {
		const uint64_t address = op_.destination.address +
					 uint64_t{ surface } * op_.destination.surfaceStride +
					 uint64_t{ y } * op_.destination.lineStride +
					 uint64_t{ x } * atomBytes;

		for (uint32_t atom = 0; atom < count; atom++) {
			const int32_t *in =
				&values_[size_t{ atom } * stride_ + margin + surface * lanes_];
			int32_t *out = &elements_[size_t{ atom } * lanes_];
			if (fastLut_) {
				std::copy_n(&results_[(size_t{ atom } * op_.surfaces() + surface) *
						      lanes_],
					    lanes_, out);
				continue;
			}
			for (uint32_t lane = 0; lane < lanes_; lane++)
				out[lane] =
					isFloat ? normaliseFloat(in + lane) : normalise(in + lane);
		}
		narrowElements(elements_, op_.precision, bytes_);
		memory_.write(op_.destination.ram, address, bytes_);
	}
}

OperationResult CdpRun::report() const
{
	const LutCounters lut = op_.countsLut ? counters_ : LutCounters{};

	OperationResult result;
	result.updates = {
		/* The RTL does not count special numbers of the input. */
		{ NVDLA_CDP_D_NAN_INPUT_NUM, 0 },
		{ NVDLA_CDP_D_INF_INPUT_NUM, 0 },
		{ NVDLA_CDP_D_NAN_OUTPUT_NUM, nanOutput_ },
		{ NVDLA_CDP_D_OUT_SATURATION, saturation_ },
		{ NVDLA_CDP_D_PERF_LUT_UFLOW, lut.underflow },
		{ NVDLA_CDP_D_PERF_LUT_OFLOW, lut.overflow },
		{ NVDLA_CDP_D_PERF_LUT_HYBRID, lut.hybrid },
		{ NVDLA_CDP_D_PERF_LUT_LE_HIT, lut.leHit },
		{ NVDLA_CDP_D_PERF_LUT_LO_HIT, lut.loHit },
	};
	result.work.cdp = cdpWork(op_);
	result.guestError = op_.guestError;
	return result;
}

OperationResult CdpRun::run()
{
	for (uint32_t y = 0; y < op_.height; y++) {
		for (uint32_t x = 0; x < op_.width; x += chunkAtoms) {
			if (memory_.cancelled())
				return report();
			const uint32_t count = std::min(chunkAtoms, op_.width - x);
			readChunk(y, x, count);
			writeChunk(y, x, count);
		}
	}
	return report();
}

} /* namespace */

CdpWork cdpWork(const CdpOp &op)
{
	CdpWork work;

	work.atoms = uint64_t{ op.surfaces() } * op.height * op.width;
	work.fp16 = op.precision == Precision::Fp16;
	work.squares = !op.squareSumBypass;
	work.traffic.of(op.source.ram).readBytes += work.atoms * atomBytes;
	work.traffic.of(op.destination.ram).writeBytes += work.atoms * atomBytes;
	return work;
}

OperationResult runCdp(const CdpOp &op, const LutTables &tables, MemoryPort &memory)
{
	return CdpRun(op, tables, memory).run();
}

} /* namespace nvdla::sim */
