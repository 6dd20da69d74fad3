/* SPDX-License-Identifier: MIT */
/*
 * MAC cells for FP16: a vector holds all kernels of a group; zero data are skipped.
 *
 * Compiled once for each instruction set (Highway), by fp16_simd.cpp.
 */
#include "conv/fp16_cells.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <hwy/highway.h>

#include "conv/fp16_products-inl.h"
#include "conv/tile_columns-inl.h"
#include "core/aligned.h"
#include "core/bring_ahead.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Only for targets with vectors of doubles. */
#if HWY_TARGET != HWY_SCALAR && HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;

/* Accumulators are doubles: 39 bits of mantissa fit into 53, and all exponents into their range.
 * A sum is truncated to 53 bits (TowardZero), then rounded half away from zero to 39. */

/** Rounds half away from zero and clears the last \a kBits bits of the fraction */
template<int kBits>
HWY_INLINE Doubles roundedBy(Doubles number)
{
	const BitsTag tag;
	constexpr int64_t kUnit = int64_t{ 1 } << kBits;
	const auto bits = hn::Add(hn::BitCast(tag, number), hn::Set(tag, kUnit / 2));

	return hn::BitCast(DoubleTag(), hn::And(bits, hn::Set(tag, -kUnit)));
}

/** Rounds like FloatSum::add(). The sum was truncated to 53 bits, which never moves it across a
 * midpoint */
HWY_INLINE Doubles rounded(Doubles sum)
{
	constexpr int kDroppedBits = 14;
	return roundedBy<kDroppedBits>(sum);
}

/** \return the result of FloatSum::deliver() for sums without NaNs */
HWY_INLINE hn::Vec<HalfTag> delivered(Doubles sum)
{
	const hn::Rebind<float, DoubleTag> floatTag;
	return hn::BitCast(HalfTag(),
			   hn::DemoteTo(floatTag, roundedBy<Fp16Sums::kNotDelivered>(sum)));
}

/* Added to a step's exponent (bias 50) to get a double's exponent. */
constexpr int64_t kDoubleExponent = 1023 - 50;

/** \return \a value + step * 2^(\a exponent - 50), rounded like FloatSum::add() */
HWY_INLINE Doubles accumulate(Doubles value, Doubles step, hn::Vec<HalfTag> exponent)
{
	const BitsTag bitsTag;
	const auto scale = hn::BitCast(
		DoubleTag(),
		hn::ShiftLeft<52>(hn::Add(hn::PromoteTo(bitsTag, exponent),
					  hn::Set(bitsTag, kDoubleExponent - kExponentBias))));
	return rounded(hn::MulAdd(step, scale, value));
}

/** Adds a step's products to a position's sums, for a row: a vector of kernels */
HWY_INLINE void accumulate(const Position &position, size_t kernel)
{
	const HalfTag half;
	const EvenOdd exponents = widened(hn::Load(RowTag(), position.largest + kernel));
	const RowDoubles step(position.products + kernel);
	RowDoubles sums(position.sums->value + kernel);

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

/** Runs one step for \a some positions, whose pointers must be set */
void step(Position *positions, size_t some)
{
	static const LostCarries carries;

	for (size_t i = 0; i < some; i++) {
		Position &position = positions[i];
		noteNans(*position.weights, *position.data, *position.sums);
		position.findLargest();
	}
	addProducts(carries, positions, some);
	for (size_t i = 0; i < some; i++)
		for (size_t kernel = 0; kernel < positions[i].weights->kernels; kernel += kRowLanes)
			accumulate(positions[i], kernel);
}

void stepOfTarget(const TowardZero &, const Fp16Weights &weights, const int16_t *const *data,
		  size_t count, Fp16Sums *sums)
{
	Fp16Data ofPositions[kPositionsAtOnce];
	Position positions[kPositionsAtOnce];
	alignas(64) double products[kPositionsAtOnce * kFp16Columns];

	for (size_t first = 0; first < count; first += kPositionsAtOnce) {
		const size_t some = std::min(kPositionsAtOnce, count - first);
		for (size_t i = 0; i < some; i++) {
			loadData(data[first + i], weights.lanes, ofPositions[i]);
			positions[i].weights = &weights;
			positions[i].data = &ofPositions[i];
			positions[i].sums = sums + first + i;
			positions[i].products = products + i * kFp16Columns;
		}
		step(positions, some);
	}
}

/** Delivers a row of sums, NaNs included, in the order of the kernels */
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

/** Extracts the row of one of two lanes from units that hold both lanes */
template<bool kSecond>
HWY_INLINE Row rowOfUnits(const int32_t *units)
{
	const RowTag tag;
	const Row low = hn::BitCast(tag, hn::Load(IntegerTag(), units));
	const Row high = hn::BitCast(tag, hn::Load(IntegerTag(), units + kLanes));

	return kSecond ? hn::ConcatOdd(tag, high, low) : hn::ConcatEven(tag, high, low);
}

/**
 * Splits the weights of a row into significands and exponents; the first \a kernels are valid
 * \return their significands
 */
HWY_INLINE Row takeRowApart(Row numbers, size_t first, size_t kernels, Fp16Lane &out)
{
	const RowTag tag;
	Parts parts(numbers);

	/* A row may have room for two groups. If there is only one, the rest holds old numbers. */
	if (kRowLanes > kFp16Kernels && kernels < kRowLanes)
		parts.keep(kernels);
	hn::Store(parts.significand, tag, out.significand + first);
	hn::Store(hn::IfThenElse(parts.absent, rowOf(INT16_MIN), parts.exponent), tag,
		  out.exponent + first);
	return parts.significand;
}

/** Splits the weights of the rows from kernel \a first on, for one \a lane */
template<bool kSecond, size_t... kRow>
HWY_INLINE void takeRowsApart(const int32_t *units, size_t first, size_t kernels, Fp16Lane &lane,
			      std::index_sequence<kRow...>)
{
	LostCarries::place(first, lane,
			   takeRowApart(rowOfUnits<kSecond>(units + first + kRow * kRowLanes),
					first + kRow * kRowLanes,
					kernels - first - kRow * kRowLanes, lane)...);
}

void loadOfTarget(size_t group, const std::byte *weights, size_t kernels, Fp16Weights &out)
{
	/* Distance from the units of two lanes to those of the next two lanes, in int32_t. */
	constexpr size_t kStep = 2 * sizeof(Fp16Lane) / sizeof(int32_t);
	const size_t bytes = out.lanes * sizeof(int16_t);
	auto *units = reinterpret_cast<int32_t *>(reinterpret_cast<std::byte *>(out.numbers)) +
		      group * kFp16Kernels;
	std::byte padded[kFp16Kernels][kMacLanes * sizeof(int16_t)] = {};

	if (kernels == kFp16Kernels && out.lanes % 2 == 0) {
		for (size_t at = 0; at < kernels * bytes; at += kLineBytes)
			bringAhead(weights + at);
		transpose<UnitFormat::Bytes>({ weights, bytes, kernels }, out.lanes / 2, kStep,
					     units);
		return;
	}
	for (size_t kernel = 0; kernel < kernels; kernel++)
		std::memcpy(padded[kernel], weights + kernel * bytes, bytes);
	transpose<UnitFormat::Bytes>({ padded[0], sizeof(padded[0]), kFp16Kernels }, kMacLanes / 2,
				     kStep, units);
}

void takeApartOfTarget(Fp16Weights &out)
{
	for (size_t i = 0; i < out.lanes; i += 2) {
		alignas(64) int32_t units[kFp16Columns];
		std::memcpy(units, &out.numbers[i], sizeof(units));
		forRowsTogether(out.kernels, [&](size_t first, auto rows) HWY_ATTR {
			takeRowsApart<false>(units, first, out.kernels, out.numbers[i], rows);
			takeRowsApart<true>(units, first, out.kernels, out.numbers[i + 1], rows);
		});
	}
}

/** Depthwise sums of several positions, one for each index */
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

void sumChannelsOfTarget(const TowardZero &, const ChannelOperands &channels,
			 std::span<const TilePosition> positions, int32_t *out)
{
	/* Number of interleaved positions: each addition waits for the previous addition of the
	 * same position. */
	constexpr size_t kTurns = 8;
	const size_t whole = positions.size() / kTurns * kTurns;

	for (size_t i = 0; i < whole; i += kTurns)
		sumChannels(channels, &positions[i], out + i * kFp16Kernels,
			    std::make_index_sequence<kTurns>());
	for (size_t i = whole; i < positions.size(); i++)
		sumChannels(channels, &positions[i], out + i * kFp16Kernels,
			    std::make_index_sequence<1>());
}

const Fp16Cells *cellsOfTarget()
{
	static constexpr Fp16Cells kCells = { loadOfTarget, takeApartOfTarget, stepOfTarget,
					      deliverOfTarget, sumChannelsOfTarget };
	return &kCells;
}

#else

const Fp16Cells *cellsOfTarget()
{
	return nullptr;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(cellsOfTarget);

const Fp16Cells *fp16Cells()
{
	return HWY_DYNAMIC_DISPATCH(cellsOfTarget)();
}

void Fp16Weights::load(size_t group, const std::byte *weights, uint32_t kernelCount,
		       uint32_t laneCount)
{
	const size_t first = group * kFp16Kernels;
	const bool areAllFinite = areFinite(weights, size_t{ kernelCount } * laneCount);

	lanes = laneCount;
	kernels = static_cast<uint32_t>(first) + kernelCount;
	fp16Cells()->load(group, weights, kernelCount, *this);
	anyNan = (group > 0 && anyNan) || !areAllFinite;
	std::fill_n(nan + first, kFp16Kernels, uint16_t{ 0 });
	for (size_t kernel = 0; kernel < kernelCount && !areAllFinite; kernel++)
		nan[first + kernel] = firstNan(
			reinterpret_cast<const int16_t *>(weights) + kernel * lanes, lanes);
}

void Fp16Weights::takeApart()
{
	fp16Cells()->takeApart(*this);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
