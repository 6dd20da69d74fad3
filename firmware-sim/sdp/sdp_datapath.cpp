/* SPDX-License-Identifier: MIT */
#include "sdp/sdp_datapath.h"

#include <algorithm>

#include "arith/float.h"
#include "arith/integer.h"

namespace nvdla::sim
{

using namespace arith;

namespace
{

constexpr uint32_t fp16MaxMagnitude = Fp16::kMax;

uint32_t aluFloat(SdpAlu algorithm, uint32_t a, uint32_t b)
{
	switch (algorithm) {
	case SdpAlu::Max:
		return maximum<Fp32>(a, b);
	case SdpAlu::Min:
		return minimum<Fp32>(a, b);
	case SdpAlu::Sum:
		return add<Fp32>(a, b);
	case SdpAlu::Equal:
		break;
	}
	return a != b;
}

int64_t aluInteger(SdpAlu algorithm, int64_t a, int64_t b)
{
	switch (algorithm) {
	case SdpAlu::Max:
		return std::max(a, b);
	case SdpAlu::Min:
		return std::min(a, b);
	case SdpAlu::Sum:
		return a + b;
	case SdpAlu::Equal:
		break;
	}
	return a != b;
}

/*
 * In X, sums have 33 bits, products 49. Truncation happens even if the multiplier is bypassed;
 * PReLU passes non-negative values without truncation.
 */
int32_t xInteger(const SdpStage &stage, int32_t value, int32_t alu, int32_t mul)
{
	/* X has no compare mode: the code of Equal selects the sum. */
	const SdpAlu algorithm = stage.algorithm == SdpAlu::Equal ? SdpAlu::Sum : stage.algorithm;
	int64_t result = stage.alu.bypass ? value : aluInteger(algorithm, value, alu);

	if (stage.mul.bypass)
		result = truncate<32>(result, stage.mulShift);
	else if (!stage.prelu || result < 0)
		result = truncate<32>(result * mul, stage.mulShift);
	if (!stage.reluBypass)
		result = std::max<int64_t>(result, 0);
	return static_cast<int32_t>(result);
}

int32_t xFloat(const SdpStage &stage, int32_t value, int32_t alu, int32_t mul)
{
	auto bits = static_cast<uint32_t>(value);

	if (!stage.alu.bypass)
		bits = aluFloat(stage.algorithm, bits, static_cast<uint32_t>(alu));
	if (!stage.mul.bypass && !(stage.prelu && !Fp32::sign(bits)))
		bits = multiply<Fp32>(bits, static_cast<uint32_t>(mul));
	if (!stage.reluBypass && Fp32::sign(bits) && !Fp32::isNan(bits))
		bits = 0;
	return static_cast<int32_t>(bits);
}

int32_t yInteger(const SdpStage &stage, int32_t value, int32_t alu, int32_t mul)
{
	int64_t result = value;

	if (!stage.mul.bypass && !(stage.prelu && result >= 0))
		result = truncate<32>(result * mul, stage.mulShift);
	if (!stage.alu.bypass)
		result = saturate<32>(aluInteger(stage.algorithm, result, alu));
	return static_cast<int32_t>(result);
}

int32_t yFloat(const SdpStage &stage, int32_t value, int32_t alu, int32_t mul)
{
	auto bits = static_cast<uint32_t>(value);

	if (!stage.mul.bypass && !(stage.prelu && !Fp32::sign(bits)))
		bits = multiply<Fp32>(bits, static_cast<uint32_t>(mul));
	if (!stage.alu.bypass)
		bits = aluFloat(stage.algorithm, bits, static_cast<uint32_t>(alu));
	return static_cast<int32_t>(bits);
}

/* Clips to 17 bits, then converts. As on hardware, an excess of one does not count as saturated. */
int32_t convertInteger(const SdpOp &op, int32_t value, uint32_t &saturated)
{
	const int64_t product =
		(static_cast<int64_t>(value) - op.converter.offset) * op.converter.scale;
	const int64_t clipped = truncate<17>(product, op.converter.shift);
	const int64_t floor = product >> op.converter.shift;

	saturated += floor > clipped + 1 || floor < clipped - 1;
	switch (op.out) {
	case Precision::Int8:
		return static_cast<int32_t>(saturate<8>(clipped));
	case Precision::Int16:
		return static_cast<int32_t>(saturate<16>(clipped));
	case Precision::Fp16:
		break;
	}
	return int17ToFp16(static_cast<int32_t>(clipped));
}

int32_t convertFloat(const SdpOp &op, int32_t value)
{
	const uint16_t half = fp32ToFp16(static_cast<uint32_t>(value));

	switch (op.out) {
	case Precision::Int16:
		return fp16ToInt16(half);
	case Precision::Int8:
	case Precision::Fp16:
		break;
	}
	return half;
}

} /* namespace */

void applySdpStage(const SdpStageRun &run, Precision precision, std::span<int32_t> values,
		   size_t lanes)
{
	const bool isFloat = precision == Precision::Fp16;
	const auto function =
		run.isY ? (isFloat ? yFloat : yInteger) : (isFloat ? xFloat : xInteger);
	size_t atom = 0;

	for (size_t first = 0; first < values.size(); first += lanes, atom++) {
		int32_t *value = &values[first];
		/*
		 * A bypassed ALU or multiplier has no operands: the pointer to the values takes
		 * their place, and is not used.
		 */
		const int32_t *a = run.alu.data ? run.alu.data + atom * run.alu.atomStride : value;
		const int32_t *m = run.mul.data ? run.mul.data + atom * run.mul.atomStride : value;
		const size_t end =
			std::min(lanes, values.size() - first); /* the last values may fill only a
								 * part of the lanes */
		for (size_t lane = 0; lane < end; lane++)
			value[lane] = function(*run.stage, value[lane], a[lane], m[lane]);
	}
}

void applySdpLut(const Lut &lut, Precision precision, std::span<int32_t> values,
		 LutCounters &counters)
{
	if (precision == Precision::Fp16) {
		for (int32_t &value : values)
			value = static_cast<int32_t>(fp17ToFp32(
				lut.lookupFloat(static_cast<uint32_t>(value), counters)));
	} else {
		for (int32_t &value : values)
			value = static_cast<int32_t>(lut.lookup(value, counters));
	}
}

void convertSdpOutput(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters)
{
	uint32_t saturated = 0;

	if (op.proc == Precision::Fp16) {
		for (int32_t &value : values)
			value = convertFloat(op, value);
	} else {
		for (int32_t &value : values)
			value = convertInteger(op, value, saturated);
	}

	if (op.out == Precision::Fp16) {
		saturated = 0;
		for (int32_t value : values) {
			const auto half = static_cast<uint32_t>(value);
			saturated += (half & Fp16::kMagnitudeMask) == fp16MaxMagnitude;
			counters.nanOutput += Fp16::isNan(half);
		}
	}
	counters.saturation += saturated;
}

void clearSdpNans(const SdpOp &op, std::span<int32_t> values)
{
	if (op.nanToZero && op.proc == Precision::Fp16)
		for (int32_t &value : values)
			if (Fp32::isNan(static_cast<uint32_t>(value)))
				value = 0;
}

int32_t sdpResultAt(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		    std::span<const int32_t> in, size_t at)
{
	const auto of = [&](const SdpOperandRun &run) {
		return run.data ? run.data[run.atomStride ? at : at & (lanes - 1)] : 0;
	};
	int32_t value = in[at];
	uint32_t saturated = 0;

	for (const SdpStageRun &run : stages)
		value = (run.isY ? yInteger : xInteger)(*run.stage, value, of(run.alu),
							of(run.mul));
	return convertInteger(op, value, saturated);
}

} /* namespace nvdla::sim */
