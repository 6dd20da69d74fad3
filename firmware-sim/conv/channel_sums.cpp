/* SPDX-License-Identifier: MIT */
/*
 * Vectors go over the channels of an atom. Integers: the operands of two kernel elements are halves
 * of 32 bits, which are multiplied and added at once.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "conv/channel_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/channel_sums.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/tile_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors whose size is known, so that they can be members. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

/* Positions that meet weights together. */
constexpr size_t kTogether = 4;

/** Some positions, from a column on: what a sum of theirs is made of */
template<typename Sum, size_t... kIndex>
struct Positions {
	Sum sums[sizeof...(kIndex)];
	const std::byte *at[sizeof...(kIndex)];

	/** \param columnOffset bytes from a position's first operand to the column's */
	HWY_INLINE Positions(const TilePosition *positions, size_t columnOffset)
		: at{ positions[kIndex].at + columnOffset... }
	{
	}

	/** \param add called with a sum and the position's operands of both taps */
	template<typename Add>
	HWY_INLINE void forEach(const ChannelTaps &taps, Add add)
	{
		(add(sums[kIndex], at[kIndex] + taps.first, at[kIndex] + taps.second), ...);
	}
};

/** \param make called with positions and as many indices; makes their sums from \a out on */
template<typename Number, typename Make>
HWY_INLINE void forAll(size_t columns, const TilePosition *positions, size_t count, Number *out,
		       Make make)
{
	while (count > 0) {
		const size_t some = std::bit_floor(std::min(count, kTogether));
		if (some == kTogether)
			make(positions, out, std::make_index_sequence<kTogether>());
		else if (some == 2)
			make(positions, out, std::make_index_sequence<2>());
		else
			make(positions, out, std::make_index_sequence<1>());
		positions += some;
		count -= some;
		out += some * columns;
	}
}

/** Both operands of each channel, in the halves of 32 bits, without a bit that they have too much
 */
template<typename Operand, Operand kFlip>
HWY_INLINE Vector operandPairs(const std::byte *first, const std::byte *second)
{
	const hn::Rebind<Operand, Tag> tag;
	const hn::Repartition<int16_t, Tag> halfTag;
	const auto load = [&](const std::byte *at) HWY_ATTR {
		const auto operands = hn::LoadU(tag, reinterpret_cast<const Operand *>(at));
		return hn::PromoteTo(Tag(),
				     kFlip ? hn::Xor(operands, hn::Set(tag, kFlip)) : operands);
	};

	return hn::BitCast(Tag(), hn::OddEven(hn::BitCast(halfTag, hn::ShiftLeft<16>(load(second))),
					      hn::BitCast(halfTag, load(first))));
}

template<typename Operand, Operand kFlip, size_t... kIndex>
HWY_INLINE void integerSums(const ChannelOperands &operands, const TilePosition *positions,
			    int32_t *out, std::index_sequence<kIndex...>)
{
	for (size_t column = 0; column < operands.columns; column += hn::Lanes(Tag())) {
		Positions<Vector, kIndex...> some(positions, column * sizeof(Operand));
		const int32_t *weights = operands.weights + column;
		((some.sums[kIndex] = hn::Zero(Tag())), ...);
		for (const ChannelTaps &taps : operands.taps) {
			const Vector pairs = hn::LoadU(Tag(), weights);
			some.forEach(taps, [&](Vector &sum, auto first, auto second) HWY_ATTR {
				sum = Pairs::add(sum, operandPairs<Operand, kFlip>(first, second),
						 pairs);
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
	const auto load = [](const std::byte *at) HWY_ATTR {
		return hn::LoadU(FloatTag(), reinterpret_cast<const float *>(at));
	};

	const auto asBytes = [](const int32_t *at) {
		return reinterpret_cast<const std::byte *>(at);
	};

	for (size_t column = 0; column < operands.columns; column += hn::Lanes(FloatTag())) {
		Positions<Floats::Vector, kIndex...> some(positions, column * sizeof(float));
		const int32_t *weights = operands.weights + column;
		((some.sums[kIndex] = hn::Zero(FloatTag())), ...);
		for (const ChannelTaps &taps : operands.taps) {
			const auto ones = load(asBytes(weights));
			const auto others = load(asBytes(weights + operands.columns));
			some.forEach(taps, [&](auto &sum, auto first, auto second) HWY_ATTR {
				sum = hn::MulAdd(load(first), ones, sum);
				sum = hn::MulAdd(load(second), others, sum);
			});
			weights += 2 * operands.columns;
		}
		(Floats::store(some.sums[kIndex], out + kIndex * operands.columns + column), ...);
	}
}

template<typename Operand, Operand kFlip = 0>
void allIntegerSums(const ChannelOperands &operands, const TilePosition *positions, size_t count,
		    int32_t *sums)
{
	forAll(operands.columns, positions, count, sums,
	       [&](const TilePosition *some, int32_t *out, auto indices)
		       HWY_ATTR { integerSums<Operand, kFlip>(operands, some, out, indices); });
}

void sumsOfTarget(const ChannelOperands &operands, const TilePosition *positions, size_t count,
		  int32_t *sums)
{
	if (operands.elementBytes == sizeof(float))
		forAll(operands.columns, positions, count, sums,
		       [&](const TilePosition *some, int32_t *out, auto indices)
			       HWY_ATTR { floatSums(operands, some, out, indices); });
	else if (operands.isUnsigned)
		allIntegerSums<int8_t, INT8_MIN>(operands, positions, count, sums);
	else if (operands.elementBytes == sizeof(int8_t))
		allIntegerSums<int8_t>(operands, positions, count, sums);
	else
		allIntegerSums<uint16_t>(operands, positions, count, sums);
}

#else

void sumsOfTarget(const ChannelOperands &operands, const TilePosition *positions, size_t count,
		  int32_t *sums)
{
	channelSumsReference(operands, positions, count, sums);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(sumsOfTarget);

namespace
{

/** Operand \a column of a tap, so many bytes from the position's first */
template<typename Operand>
Operand operandOf(const TilePosition &position, size_t tap, size_t column)
{
	Operand operand;

	std::memcpy(&operand, position.at + tap + column * sizeof(operand), sizeof(operand));
	return operand;
}

/** The products of all taps of a column, in their order, as \a add gets them */
template<typename Operand, typename Add>
void forEachProduct(const ChannelOperands &operands, const TilePosition &position, size_t column,
		    Add add, int excess = 0)
{
	const int32_t *weight = operands.weights + column;
	int16_t pair[2];

	for (const ChannelTaps &taps : operands.taps) {
		std::memcpy(pair, weight, sizeof(pair));
		add((operandOf<Operand>(position, taps.first, column) - excess) * pair[0]);
		add((operandOf<Operand>(position, taps.second, column) - excess) * pair[1]);
		weight += operands.columns;
	}
}

int32_t floatSum(const ChannelOperands &operands, const TilePosition &position, size_t column)
{
	const int32_t *weight = operands.weights + column;
	float sum = 0;

	for (const ChannelTaps &taps : operands.taps) {
		for (const size_t tap : { taps.first, taps.second }) {
			sum += operandOf<float>(position, tap, column) *
			       std::bit_cast<float>(*weight);
			weight += operands.columns;
		}
	}
	return std::isnan(sum) ? kFloatNan : std::bit_cast<int32_t>(sum);
}

} /* namespace */

void channelSums(const ChannelOperands &operands, const TilePosition *positions, size_t count,
		 int32_t *sums)
{
	HWY_DYNAMIC_DISPATCH(sumsOfTarget)(operands, positions, count, sums);
}

void channelSumsReference(const ChannelOperands &operands, const TilePosition *positions,
			  size_t count, int32_t *sums)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t column = 0; column < operands.columns; column++) {
			int32_t sum = 0;
			const auto add = [&](int32_t product) { sum += product; };
			if (operands.elementBytes == sizeof(float))
				sum = floatSum(operands, positions[i], column);
			else if (operands.isUnsigned)
				forEachProduct<uint8_t>(operands, positions[i], column, add, 128);
			else if (operands.elementBytes == sizeof(int8_t))
				forEachProduct<int8_t>(operands, positions[i], column, add);
			else
				forEachProduct<int16_t>(operands, positions[i], column, add);
			*sums++ = sum;
		}
	}
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
