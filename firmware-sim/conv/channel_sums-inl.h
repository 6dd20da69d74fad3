/* SPDX-License-Identifier: MIT */
/*
 * Depthwise sums in vectors over the channels of an atom. For integers, each half of 32 bits holds
 * an operand of one of two kernel elements, so one instruction multiplies and adds both.
 *
 * Compiled once for each instruction set (Highway), by conv_simd.cpp.
 */
#include "conv/channel_sums.h"

#include <algorithm>
#include <utility>

#include <hwy/highway.h>

#include "conv/tile_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/* Number of positions computed together. */
constexpr size_t kTogether = 4;

/** Sums of several positions, and pointers to their operands, for one vector of columns */
template<typename Sum, size_t... kIndex>
struct Positions {
	Sum sums[sizeof...(kIndex)];
	const std::byte *at[sizeof...(kIndex)];

	/** \param columnOffset bytes from a position's first operand to that of the first column */
	HWY_INLINE Positions(const TilePosition *positions, size_t columnOffset)
		: at{ positions[kIndex].at + columnOffset... }
	{
	}

	/** \param add function of a sum and the position's operands of both taps */
	template<typename Add>
	HWY_INLINE void forEach(const ChannelTaps &taps, Add add)
	{
		(add(sums[kIndex], at[kIndex] + taps.first, at[kIndex] + taps.second), ...);
	}
};

/** \return for each channel two operands, in the halves of a lane of 32 bits */
template<typename Operand>
HWY_INLINE Vector operandPairs(const std::byte *first, const std::byte *second)
{
	const hn::Rebind<Operand, Tag> tag;
	const hn::Repartition<int16_t, Tag> halfTag;
	const auto load = [&](const std::byte *at) HWY_ATTR {
		return hn::PromoteTo(Tag(), hn::LoadU(tag, reinterpret_cast<const Operand *>(at)));
	};

	return hn::BitCast(Tag(), hn::OddEven(hn::BitCast(halfTag, hn::ShiftLeft<16>(load(second))),
					      hn::BitCast(halfTag, load(first))));
}

template<typename Operand, size_t... kIndex>
HWY_INLINE void integerSums(const ChannelOperands &operands, const TilePosition *positions,
			    int32_t *out, std::index_sequence<kIndex...>)
{
	for (size_t column = 0; column < operands.columns; column += hn::Lanes(Tag())) {
		Positions<Vector, kIndex...> some(positions, column * sizeof(Operand));
		const int32_t *weights = operands.weights + column;
		const int32_t *starts = operands.starts ? operands.starts : kNoStarts;
		((some.sums[kIndex] = hn::LoadU(Tag(), starts + column)), ...);
		for (const ChannelTaps &taps : operands.taps) {
			const Vector pairs = hn::LoadU(Tag(), weights);
			some.forEach(taps, [&](Vector &sum, auto first, auto second) HWY_ATTR {
				sum = Pairs::add(sum, operandPairs<Operand>(first, second), pairs);
			});
			weights += operands.columns;
		}
		(hn::StoreU(some.sums[kIndex], Tag(), out + kIndex * operands.columns + column),
		 ...);
	}
}

template<size_t... kIndex>
HWY_INLINE void floatSums(const ChannelOperands &operands, const TilePosition *positions,
			  int32_t *out, std::index_sequence<kIndex...>)
{
	using FloatTag = Floats::Tag;
	const auto load = [](const void *at) HWY_ATTR {
		return hn::LoadU(FloatTag(), static_cast<const float *>(at));
	};

	for (size_t column = 0; column < operands.columns; column += hn::Lanes(FloatTag())) {
		Positions<Floats::Vector, kIndex...> some(positions, column * sizeof(float));
		const int32_t *weights = operands.weights + column;
		((some.sums[kIndex] = hn::Zero(FloatTag())), ...);
		for (const ChannelTaps &taps : operands.taps) {
			const auto ones = load(weights);
			const auto others = load(weights + operands.columns);
			some.forEach(taps, [&](auto &sum, auto first, auto second) HWY_ATTR {
				sum = hn::MulAdd(load(first), ones, sum);
				sum = hn::MulAdd(load(second), others, sum);
			});
			weights += 2 * operands.columns;
		}
		(Floats::store(some.sums[kIndex], out + kIndex * operands.columns + column), ...);
	}
}

void channelSumsOfTarget(const ChannelOperands &operands, const TilePosition *positions,
			 size_t count, int32_t *sums)
{
	const auto make = [&](size_t first, auto indices) HWY_ATTR {
		const TilePosition *some = positions + first;
		int32_t *out = sums + first * operands.columns;

		if (operands.elementBytes == sizeof(float))
			floatSums(operands, some, out, indices);
		else if (operands.starts)
			integerSums<uint8_t>(operands, some, out, indices);
		else if (operands.elementBytes == sizeof(int8_t))
			integerSums<int8_t>(operands, some, out, indices);
		else
			integerSums<uint16_t>(operands, some, out, indices);
	};
	size_t done = 0;

	for (; done + kTogether <= count; done += kTogether)
		make(done, std::make_index_sequence<kTogether>());
	for (; done < count; done++)
		make(done, std::make_index_sequence<1>());
}

#else

void channelSumsOfTarget(const ChannelOperands &, const TilePosition *, size_t, int32_t *)
{
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(channelSumsOfTarget);

void channelSums(const ChannelOperands &operands, const TilePosition *positions, size_t count,
		 int32_t *sums)
{
	HWY_DYNAMIC_DISPATCH(channelSumsOfTarget)(operands, positions, count, sums);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
