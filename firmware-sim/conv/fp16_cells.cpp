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

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors of a known size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;

/*
 * The accumulator has 39 bits of a double's 53, and its exponents never leave the range. A sum of
 * two is cut to 53 bits (TowardZero), then rounded half away from zero to 39.
 */

/** Half away from zero, without the last \a kBits bits of the fraction */
template<int kBits>
HWY_INLINE Doubles roundedBy(Doubles number)
{
	const BitsTag tag;
	constexpr int64_t kUnit = int64_t{ 1 } << kBits;
	const auto bits = hn::Add(hn::BitCast(tag, number), hn::Set(tag, kUnit / 2));

	return hn::BitCast(DoubleTag(), hn::And(bits, hn::Set(tag, -kUnit)));
}

/** A sum that was cut to 53 bits, as FloatSum::add() rounds it: cutting changes no half */
HWY_INLINE Doubles rounded(Doubles sum)
{
	constexpr int kDroppedBits = 14;
	return roundedBy<kDroppedBits>(sum);
}

/** \return what FloatSum::deliver() makes of sums without NaNs */
HWY_INLINE hn::Vec<HalfTag> delivered(Doubles sum)
{
	const hn::Rebind<float, DoubleTag> floatTag;
	return hn::BitCast(HalfTag(),
			   hn::DemoteTo(floatTag, roundedBy<Fp16Sums::kNotDelivered>(sum)));
}

/* From the exponent of a step (50 below the point) to that of a double. */
constexpr int64_t kDoubleExponent = 1023 - 50;

/** \a value + step * 2^(\a exponent - 50), rounded as FloatSum::add() does; see TowardZero */
HWY_INLINE Doubles accumulate(Doubles value, Doubles step, hn::Vec<HalfTag> exponent)
{
	const BitsTag bitsTag;
	const auto scale = hn::BitCast(
		DoubleTag(),
		hn::ShiftLeft<52>(hn::Add(hn::PromoteTo(bitsTag, exponent),
					  hn::Set(bitsTag, kDoubleExponent - kExponentBias))));
	return rounded(hn::MulAdd(step, scale, value));
}

/** Adds the products of a step to a row of the position's sums; \a far are those that are */
HWY_INLINE void accumulate(const Position &position, size_t kernel, const EvenOdd &far)
{
	const HalfTag half;
	const EvenOdd exponents = widened(hn::Load(RowTag(), position.largest + kernel));
	RowDoubles step(position.near + kernel);
	RowDoubles sums(position.sums->value + kernel);

	step.add(far);
	sums.even = accumulate(sums.even, step.even, hn::LowerHalf(half, exponents.even));
	sums.evenUpper =
		accumulate(sums.evenUpper, step.evenUpper, hn::UpperHalf(half, exponents.even));
	sums.odd = accumulate(sums.odd, step.odd, hn::LowerHalf(half, exponents.odd));
	sums.oddUpper =
		accumulate(sums.oddUpper, step.oddUpper, hn::UpperHalf(half, exponents.odd));
	sums.store(position.sums->value + kernel);
}

HWY_INLINE void noteNans(const Fp16Weights &weights, const Fp16Data &data, Fp16Sums &sums)
{
	if (!data.nan && !weights.anyNan)
		return;
	for (size_t kernel = 0; kernel < weights.kernels; kernel++)
		if (sums.nan[kernel] == 0)
			sums.nan[kernel] = weights.nan[kernel] ? weights.nan[kernel] : data.nan;
}

/** A step of each of \a some positions, whose pointers are set */
void step(Position *positions, size_t some)
{
	static const LostCarries carries;

	for (size_t i = 0; i < some; i++) {
		Position &position = positions[i];
		noteNans(*position.weights, *position.data, *position.sums);
		position.findLargest();
	}
	addProducts(carries, positions, some,
		    [](const Position &position, size_t kernel, const EvenOdd &far)
			    HWY_ATTR { accumulate(position, kernel, far); });
}

bool supportedOfTarget()
{
	return true;
}

void stepOfTarget(const Fp16Weights &weights, const int16_t *const *data, size_t count,
		  Fp16Sums *sums)
{
	Fp16Data ofPositions[kPositionsAtOnce];
	Position positions[kPositionsAtOnce];

	for (size_t first = 0; first < count; first += kPositionsAtOnce) {
		const size_t some = std::min(kPositionsAtOnce, count - first);
		for (size_t i = 0; i < some; i++) {
			loadData(data[first + i], weights.lanes, ofPositions[i]);
			positions[i].weights = &weights;
			positions[i].data = &ofPositions[i];
			positions[i].sums = sums + first + i;
		}
		step(positions, some);
	}
}

/** A row of sums in the order of the kernels, with what becomes of NaNs */
HWY_INLINE void deliverRow(const Fp16Sums &sums, size_t kernel, int32_t *out)
{
	const IntegerTag tag;
	const RowDoubles values(sums.value + kernel);
	const auto even = hn::Combine(tag, delivered(values.evenUpper), delivered(values.even));
	const auto odd = hn::Combine(tag, delivered(values.oddUpper), delivered(values.odd));
	const Row nans = hn::LoadU(RowTag(), reinterpret_cast<const int16_t *>(sums.nan) + kernel);

	hn::StoreInterleaved2(even, odd, tag, out);
	if (hn::AllTrue(RowTag(), hn::Eq(nans, hn::Zero(RowTag()))))
		return;
	for (size_t i = 0; i < kRowLanes; i++) {
		const uint32_t nan = sums.nan[kernel + i];
		if (nan)
			out[i] = static_cast<int32_t>((nan & 0x8000U) << 16 | 0x7f800000 |
						      (nan & 0x3ffU));
	}
}

void deliverOfTarget(const Fp16Sums *sums, size_t count, int32_t *const groups[2])
{
	const size_t columns = groups[1] ? kFp16Columns : kFp16Kernels;
	alignas(64) int32_t all[kFp16Columns];

	for (size_t i = 0; i < count; i++) {
		for (size_t kernel = 0; kernel < columns; kernel += kRowLanes)
			deliverRow(sums[i], kernel, all + kernel);
		for (size_t k = 0; k < columns; k += kFp16Kernels)
			std::memcpy(groups[k / kFp16Kernels] + i * kFp16Kernels, all + k,
				    kFp16Kernels * sizeof(int32_t));
	}
}

/**
 * Take the weights of a row apart, of which the first \a kernels are there
 * \return their significands
 */
HWY_INLINE Row takeRowApart(size_t first, size_t kernels, Fp16Lane &out)
{
	const RowTag tag;
	Parts parts(hn::Load(tag, out.significand + first));

	/* Groups of fewer kernels have zeroes, but only one of two may have been loaded. */
	if (kRowLanes > kFp16Kernels && kernels < kRowLanes)
		parts.keep(kernels);
	hn::Store(parts.significand, tag, out.significand + first);
	hn::Store(hn::IfThenElse(parts.absent, rowOf(INT16_MIN), parts.exponent), tag,
		  out.exponent + first);
	return parts.significand;
}

/** Take the weights of rows apart that are worked on together */
template<size_t... kRow>
HWY_INLINE void takeRowsApart(size_t first, size_t kernels, Fp16Weights &weights,
			      std::index_sequence<kRow...>)
{
	for (size_t i = 0; i < weights.lanes; i++) {
		Fp16Lane &lane = weights.numbers[i];
		LostCarries::place(first, lane,
				   takeRowApart(first + kRow * kRowLanes,
						kernels - kRow * kRowLanes, lane)...);
	}
}

bool loadOfTarget(size_t group, const std::byte *weights, size_t kernels, Fp16Weights &out)
{
	int16_t *numbers = out.numbers[0].significand + group * kFp16Kernels;

	if (kernels == kFp16Kernels && out.lanes % kColumnsAtOnce == 0)
		return transpose(weights, out.lanes, numbers);
	return transposePadded(weights, kernels, out.lanes, numbers);
}

void takeApartOfTarget(Fp16Weights &out)
{
	forRowsTogether(out.kernels, [&](size_t first, auto rows) HWY_ATTR {
		takeRowsApart(first, out.kernels - first, out, rows);
	});
}

/** The sums of \a some positions, as many as there are indices */
template<size_t... kIndex>
HWY_INLINE void sumChannels(const ChannelOperands &channels, const TilePosition *some, int32_t *out,
			    std::index_sequence<kIndex...>)
{
	const DoubleTag tag;
	const auto load = [](const void *at) HWY_ATTR {
		return hn::PromoteTo(DoubleTag(), hn::LoadU(hn::Rebind<float, DoubleTag>(),
							    static_cast<const float *>(at)));
	};

	for (size_t kernel = 0; kernel < kFp16Kernels; kernel += kDoubleLanes) {
		const std::byte *const at[] = { (some[kIndex].at + kernel * sizeof(float))... };
		Doubles sums[] = { (static_cast<void>(kIndex), hn::Zero(tag))... };
		const int32_t *weights = channels.weights + kernel;
		for (const ChannelTaps &taps : channels.taps) {
			for (const size_t tap : { taps.first, taps.second }) {
				const Doubles weight = load(weights);
				((sums[kIndex] = rounded(hn::MulAdd(load(at[kIndex] + tap), weight,
								    sums[kIndex]))),
				 ...);
				weights += kFp16Kernels;
			}
		}
		(hn::StoreU(delivered(sums[kIndex]), HalfTag(),
			    out + kIndex * kFp16Kernels + kernel),
		 ...);
	}
}

void sumChannelsOfTarget(const ChannelOperands &channels, std::span<const TilePosition> positions,
			 int32_t *out)
{
	/* Each product waits for the sum before it, so that some positions take turns. */
	constexpr size_t kTurns = 8;
	const size_t whole = positions.size() / kTurns * kTurns;

	for (size_t i = 0; i < whole; i += kTurns)
		sumChannels(channels, &positions[i], out + i * kFp16Kernels,
			    std::make_index_sequence<kTurns>());
	for (size_t i = whole; i < positions.size(); i++)
		sumChannels(channels, &positions[i], out + i * kFp16Kernels,
			    std::make_index_sequence<1>());
}

#else

bool supportedOfTarget()
{
	return false;
}

void stepOfTarget(const Fp16Weights &, const int16_t *const *, size_t, Fp16Sums *)
{
}

void deliverOfTarget(const Fp16Sums *, size_t, int32_t *const *)
{
}

bool loadOfTarget(size_t, const std::byte *, size_t, Fp16Weights &)
{
	return true;
}

void takeApartOfTarget(Fp16Weights &)
{
}

void sumChannelsOfTarget(const ChannelOperands &, std::span<const TilePosition>, int32_t *)
{
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
HWY_EXPORT(deliverOfTarget);
HWY_EXPORT(loadOfTarget);
HWY_EXPORT(takeApartOfTarget);
HWY_EXPORT(sumChannelsOfTarget);

bool fp16CellsSupported()
{
	return HWY_DYNAMIC_DISPATCH(supportedOfTarget)();
}

void Fp16Weights::load(size_t group, const std::byte *weights, uint32_t kernelCount,
		       uint32_t laneCount)
{
	const size_t first = group * kFp16Kernels;

	lanes = laneCount;
	kernels = static_cast<uint32_t>(first) + kernelCount;
	const bool hasNans =
		!HWY_DYNAMIC_DISPATCH(loadOfTarget)(group, weights, kernelCount, *this);
	anyNan = (group > 0 && anyNan) || hasNans;
	std::fill_n(nan + first, kFp16Kernels, uint16_t{ 0 });
	if (hasNans)
		noteNans(first);
}

void Fp16Weights::noteNans(size_t first)
{
	for (size_t kernel = first; kernel < kernels; kernel++)
		for (size_t lane = lanes; lane-- > 0;) {
			const int16_t number = numbers[lane].significand[kernel];
			if ((number & 0x7fff) > 0x7c00)
				nan[kernel] = static_cast<uint16_t>(number);
		}
}

void Fp16Weights::takeApart()
{
	HWY_DYNAMIC_DISPATCH(takeApartOfTarget)(*this);
}

void stepFp16(const TowardZero &, const Fp16Weights &weights, const int16_t *const *data,
	      size_t count, Fp16Sums *sums)
{
	HWY_DYNAMIC_DISPATCH(stepOfTarget)(weights, data, count, sums);
}

void deliverFp16(const Fp16Sums *sums, size_t count, int32_t *const groups[2])
{
	HWY_DYNAMIC_DISPATCH(deliverOfTarget)(sums, count, groups);
}

void sumFp16Channels(const TowardZero &, const ChannelOperands &channels,
		     std::span<const TilePosition> positions, int32_t *out)
{
	HWY_DYNAMIC_DISPATCH(sumChannelsOfTarget)(channels, positions, out);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
