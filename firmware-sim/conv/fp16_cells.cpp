/* SPDX-License-Identifier: MIT */
/*
 * Vectors go over the kernels of a group; a step goes over the data that are not zero
 * (fp16_products-inl.h).
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "conv/fp16_cells.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/fp16_cells.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/fp16_columns-inl.h"
#include "conv/fp16_products-inl.h"
#include "conv/fp16_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors of a known size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;

constexpr int16_t kAbsentExponent = 0x4000;
/* From the exponent of a step (50 below the point) to that of a double. */
constexpr int64_t kDoubleExponent = 1023 - 50;

using QuarterTag = hn::CappedTag<int8_t, kMacLanes>;

/** The largest exponent of a step for each kernel, in units of four */
HWY_INLINE void largestQuarters(const Fp16Weights &weights, const Data &data, int8_t *out)
{
	const QuarterTag tag;
	const hn::Repartition<uint32_t, QuarterTag> wordTag;
	const hn::RebindToUnsigned<QuarterTag> byteTag;
	constexpr size_t kRows = hn::MaxLanes(QuarterTag()) / kFp16Kernels;
	/* As many data as a vector has rows of kernels, each datum for a row. */
	const auto rows = hn::BitCast(tag, hn::ShiftRight<4>(hn::Iota(byteTag, 0)));
	auto largest = hn::Zero(tag);

	for (size_t i = 0; i < weights.lanes; i += kRows) {
		uint32_t quarters;
		std::memcpy(&quarters, data.quarter + i, sizeof(quarters));
		const auto spread =
			hn::TableLookupBytes(hn::BitCast(tag, hn::Set(wordTag, quarters)), rows);
		largest = hn::Max(
			largest,
			hn::Add(spread, hn::LoadU(tag, &weights.quarter[i * kFp16Kernels])));
	}
	alignas(64) int8_t all[kRows * kFp16Kernels];
	hn::Store(largest, tag, all);
	const hn::CappedTag<int8_t, kFp16Kernels> rowTag;
	for (size_t kernel = 0; kernel < kFp16Kernels; kernel += hn::Lanes(rowTag)) {
		auto most = hn::Load(rowTag, all + kernel);
		for (size_t row = 1; row < kRows; row++)
			most = hn::Max(most, hn::Load(rowTag, all + row * kFp16Kernels + kernel));
		hn::StoreU(most, rowTag, out + kernel);
	}
}

/** \a value + step * 2^(\a exponent - 50), rounded as FloatSum::add() does; see TowardZero */
HWY_INLINE Doubles accumulate(Doubles value, Doubles step, hn::Vec<HalfTag> exponent)
{
	const BitsTag bitsTag;
	const auto scale = hn::BitCast(
		DoubleTag(), hn::ShiftLeft<52>(hn::Add(hn::PromoteTo(bitsTag, exponent),
						       hn::Set(bitsTag, kDoubleExponent))));
	return rounded(hn::MulAdd(step, scale, value));
}

/** Adds the products of a step to the position's sums */
HWY_INLINE void accumulate(const Position &position)
{
	const DoubleTag tag;
	const hn::Rebind<int32_t, DoubleTag> narrowTag;

	for (size_t kernel = 0; kernel < kFp16Kernels; kernel += kDoubleLanes) {
		double *value = position.sums->value + kernel;
		const Doubles far = hn::PromoteTo(tag, hn::Load(narrowTag, position.far + kernel));
		const Doubles step = hn::Add(hn::Load(tag, position.near + kernel), far);
		hn::Store(accumulate(hn::Load(tag, value), step,
				     position.largestOf(narrowTag, kernel)),
			  tag, value);
	}
}

HWY_INLINE void noteNans(const Fp16Weights &weights, const Data &data, Fp16Sums &sums)
{
	if (!data.nan && !weights.anyNan)
		return;
	for (size_t kernel = 0; kernel < weights.kernels; kernel++)
		if (sums.nan[kernel] == 0)
			sums.nan[kernel] = weights.nan[kernel] ? weights.nan[kernel] : data.nan;
}

/**
 * Steps of any weights
 * \param oneSum steps of one position, each with weights of its own
 */
void stepAny(const Fp16Weights *weights, const int16_t *const *data, size_t count, Fp16Sums *sums,
	     bool oneSum)
{
	static const LostCarries carries;
	Position positions[kPositionsAtOnce];

	for (size_t first = 0; first < count; first += kPositionsAtOnce) {
		const size_t some = std::min(kPositionsAtOnce, count - first);
		for (size_t i = 0; i < some; i++) {
			Position &position = positions[i];
			position.weights = weights + (oneSum ? first + i : 0);
			position.sums = sums + (oneSum ? 0 : first + i);
			position.data.load(data[first + i], position.weights->lanes);
			noteNans(*position.weights, position.data, *position.sums);
			largestQuarters(*position.weights, position.data, position.largest);
		}
		addProducts(carries, positions, some);
		for (size_t i = 0; i < some; i++)
			accumulate(positions[i]);
	}
}

bool supportedOfTarget()
{
	return true;
}

void stepOfTarget(const Fp16Weights &weights, const int16_t *const *data, size_t count,
		  Fp16Sums *sums)
{
	stepAny(&weights, data, count, sums, false);
}

void stepsOfTarget(std::span<const Fp16Weights> weights, const int16_t *const *data, Fp16Sums &sums)
{
	stepAny(weights.data(), data, weights.size(), &sums, true);
}

void deliverOfTarget(const Fp16Sums *sums, size_t count, int32_t *out)
{
	const hn::RebindToUnsigned<RowTag> nanTag;

	for (size_t i = 0; i < count; i++, out += kFp16Kernels) {
		for (size_t kernel = 0; kernel < kFp16Kernels; kernel += kDoubleLanes)
			deliver(hn::Load(DoubleTag(), sums[i].value + kernel), out + kernel);
		bool anyNan = false;
		for (size_t kernel = 0; kernel < kFp16Kernels; kernel += kRowLanes) {
			const auto nans = hn::LoadU(nanTag, sums[i].nan + kernel);
			anyNan |= !hn::AllTrue(nanTag, hn::Eq(nans, hn::Zero(nanTag)));
		}
		for (size_t kernel = 0; anyNan && kernel < kFp16Kernels; kernel++)
			out[kernel] = static_cast<int32_t>(sums[i].deliver(kernel));
	}
}

/** The weights of a lane that data meet */
HWY_INLINE void storeLane(const Parts &parts, size_t first, Fp16Weights &out)
{
	const RowTag tag;

	hn::Store(parts.significand, tag, out.significand + first);
	/* Large for zeroes, so that no distance is positive. */
	hn::Store(hn::IfThenElse(parts.present, parts.exponent, rowOf(kAbsentExponent)), tag,
		  out.exponent + first);
	hn::Store(LostCarries::bitOf(parts.significand), tag, out.carryBit + first);
	parts.storeQuarters(out.quarter + first);
}

void loadOfTarget(const std::byte *weights, uint64_t wanted, Fp16Weights &out)
{
	const Columns columns(weights, out.kernels, out.lanes);

	for (uint64_t rest = wanted; rest; rest &= rest - 1) {
		const auto lane = static_cast<size_t>(std::countr_zero(rest));
		for (size_t i = 0; i < kFp16Kernels; i += kRowLanes) {
			const size_t at = lane * kFp16Kernels + i;
			storeLane(Parts(hn::Load(RowTag(), columns.numbers + at)), at, out);
		}
	}
	out.anyNan = columns.anyNan;
	std::fill_n(out.nan, kFp16Kernels, uint16_t{ 0 });
	for (size_t kernel = 0; columns.anyNan && kernel < out.kernels; kernel++) {
		int16_t numbers[kMacLanes];
		for (size_t lane = 0; lane < out.lanes; lane++)
			numbers[lane] = columns.numbers[lane * kFp16Kernels + kernel];
		out.nan[kernel] = firstNan(numbers, out.lanes);
	}
}

/** The sums of \a some positions, as many as there are indices */
template<size_t... kIndex>
HWY_INLINE void sumChannels(const Fp16ChannelTaps &channels, const double *const *some,
			    int32_t *out, std::index_sequence<kIndex...>)
{
	const DoubleTag tag;

	for (size_t kernel = 0; kernel < kFp16Kernels; kernel += kDoubleLanes) {
		const double *const at[] = { (some[kIndex] + kernel)... };
		Doubles sums[] = { (static_cast<void>(kIndex), hn::Zero(tag))... };
		const double *weights = channels.weights + kernel;
		for (const size_t tap : channels.taps) {
			const Doubles weight = hn::LoadU(tag, weights);
			((sums[kIndex] = rounded(hn::MulAdd(hn::LoadU(tag, at[kIndex] + tap),
							    weight, sums[kIndex]))),
			 ...);
			weights += kFp16Kernels;
		}
		(deliver(sums[kIndex], out + kIndex * kFp16Kernels + kernel), ...);
	}
}

void sumChannelsOfTarget(const Fp16ChannelTaps &channels, std::span<const double *const> positions,
			 int32_t *out)
{
	/* Each product waits for the sum before it, so that some positions take turns. */
	constexpr size_t kTogether = 8;
	const size_t whole = positions.size() / kTogether * kTogether;

	for (size_t i = 0; i < whole; i += kTogether)
		sumChannels(channels, &positions[i], out + i * kFp16Kernels,
			    std::make_index_sequence<kTogether>());
	for (size_t i = whole; i < positions.size(); i++)
		sumChannels(channels, &positions[i], out + i * kFp16Kernels,
			    std::make_index_sequence<1>());
}

bool widenOfTarget(const float *numbers, size_t count, double *out)
{
	const DoubleTag tag;
	const hn::Rebind<float, DoubleTag> floatTag;
	bool anyNan = false;

	for (size_t i = 0; i < count; i += hn::Lanes(tag)) {
		const Doubles wide = hn::PromoteTo(tag, hn::LoadU(floatTag, numbers + i));
		anyNan |= !hn::AllFalse(tag, hn::IsNaN(wide));
		hn::StoreU(wide, tag, out + i);
	}
	return !anyNan;
}

#else

bool supportedOfTarget()
{
	return false;
}

void stepOfTarget(const Fp16Weights &, const int16_t *const *, size_t, Fp16Sums *)
{
}

void stepsOfTarget(std::span<const Fp16Weights>, const int16_t *const *, Fp16Sums &)
{
}

void deliverOfTarget(const Fp16Sums *, size_t, int32_t *)
{
}

void loadOfTarget(const std::byte *, uint64_t, Fp16Weights &)
{
}

void sumChannelsOfTarget(const Fp16ChannelTaps &, std::span<const double *const>, int32_t *)
{
}

bool widenOfTarget(const float *, size_t, double *)
{
	return false;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(supportedOfTarget);
HWY_EXPORT(stepOfTarget);
HWY_EXPORT(stepsOfTarget);
HWY_EXPORT(deliverOfTarget);
HWY_EXPORT(loadOfTarget);
HWY_EXPORT(sumChannelsOfTarget);
HWY_EXPORT(widenOfTarget);

bool fp16CellsSupported()
{
	return HWY_DYNAMIC_DISPATCH(supportedOfTarget)();
}

void Fp16Weights::load(const std::byte *weights, uint32_t kernelCount, uint32_t laneCount,
		       uint64_t wanted)
{
	kernels = kernelCount;
	lanes = laneCount;
	HWY_DYNAMIC_DISPATCH(loadOfTarget)
	(weights, wanted & ~uint64_t{ 0 } >> (kMacLanes - lanes), *this);
}

void stepFp16(const TowardZero &, const Fp16Weights &weights, const int16_t *const *data,
	      size_t count, Fp16Sums *sums)
{
	HWY_DYNAMIC_DISPATCH(stepOfTarget)(weights, data, count, sums);
}

void stepsFp16(const TowardZero &, std::span<const Fp16Weights> weights, const int16_t *const *data,
	       Fp16Sums &sums)
{
	HWY_DYNAMIC_DISPATCH(stepsOfTarget)(weights, data, sums);
}

void deliverFp16(const Fp16Sums *sums, size_t count, int32_t *out)
{
	HWY_DYNAMIC_DISPATCH(deliverOfTarget)(sums, count, out);
}

void sumFp16Channels(const TowardZero &, const Fp16ChannelTaps &channels,
		     std::span<const double *const> positions, int32_t *out)
{
	HWY_DYNAMIC_DISPATCH(sumChannelsOfTarget)(channels, positions, out);
}

bool widenFp16(const float *numbers, size_t count, double *out)
{
	return HWY_DYNAMIC_DISPATCH(widenOfTarget)(numbers, count, out);
}

uint32_t Fp16Sums::deliver(size_t kernel) const
{
	constexpr uint64_t kDropped = uint64_t{ 1 } << kNotDelivered;

	if (nan[kernel])
		return (nan[kernel] & 0x8000U) << 16 | 0x7f800000 | (nan[kernel] & 0x3ffU);
	/* Half away from zero to 24 bits; FP32 has all exponents that there are. */
	const uint64_t rounded =
		(std::bit_cast<uint64_t>(value[kernel]) + kDropped / 2) & ~(kDropped - 1);
	return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(rounded)));
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
