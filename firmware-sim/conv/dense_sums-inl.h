/* SPDX-License-Identifier: MIT */
/*
 * Implements dense_sums.h; compiled once for each instruction set (Highway), by conv_simd.cpp.
 */
#include "conv/dense_sums.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <hwy/highway.h>

#include "conv/conv_tile.h"
#include "conv/tile_products-inl.h"
#include "core/bring_ahead.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

constexpr size_t kTotalsAtOnce = 4;
using TotalsTag = hn::FixedTag<int32_t, kTotalsAtOnce>;

/** \return the sum of the vector's blocks of 128 bits */
template<typename Tag>
HWY_INLINE hn::Vec<TotalsTag> sumOfBlocks(Tag tag, hn::Vec<Tag> blocks)
{
	if constexpr (hn::MaxLanes(Tag()) == kTotalsAtOnce) {
		return blocks;
	} else {
		const hn::Half<Tag> half;
		return sumOfBlocks(
			half, hn::Add(hn::LowerHalf(half, blocks), hn::UpperHalf(half, blocks)));
	}
}

/** \return the sum of the lanes of each of four vectors of 32-bit numbers */
template<typename Tag>
HWY_INLINE hn::Vec<TotalsTag> totalsOf(Tag tag, const hn::Vec<Tag> *sums)
{
	const hn::Repartition<int64_t, Tag> pairTag;
	const auto halve = [&](hn::Vec<Tag> a, hn::Vec<Tag> b) HWY_ATTR {
		return hn::BitCast(pairTag, hn::Add(hn::InterleaveLower(tag, a, b),
						    hn::InterleaveUpper(tag, a, b)));
	};
	const auto first = halve(sums[0], sums[1]);
	const auto second = halve(sums[2], sums[3]);

	return sumOfBlocks(tag,
			   hn::Add(hn::BitCast(tag, hn::InterleaveLower(pairTag, first, second)),
				   hn::BitCast(tag, hn::InterleaveUpper(pairTag, first, second))));
}

/** The bytes of a smaller block, filled up with zeroes */
template<size_t kBytes>
struct PaddedBlock {
	std::byte bytes[kBytes] = {};

	HWY_INLINE PaddedBlock(const std::byte *from, size_t count)
	{
		std::memcpy(bytes, from, count);
	}
};

/** Multiplies INT8 as numbers of 16 bits */
struct DensePairs {
	using Tag = hn::CappedTag<int16_t, kDenseBytes / 2>;
	using SumTag = hn::RepartitionToWide<Tag>;
	using Sum = hn::Vec<SumTag>;
	using Operand = hn::Vec<Tag>;
	static constexpr size_t kBytes = hn::MaxLanes(Tag()); /* bytes of an operand */
	static constexpr int32_t kExcess = 0;		      /* number added to each weight */

	static HWY_INLINE Operand load(const std::byte *bytes)
	{
		const hn::Rebind<int8_t, Tag> byteTag;
		return hn::PromoteTo(Tag(),
				     hn::LoadU(byteTag, reinterpret_cast<const int8_t *>(bytes)));
	}

	static HWY_INLINE Operand loadSome(const std::byte *bytes, size_t count)
	{
		return load(PaddedBlock<kBytes>(bytes, count).bytes);
	}

	static HWY_INLINE Sum add(Sum sum, Operand data, Operand weights)
	{
		Sum other = hn::Zero(SumTag());

		sum = hn::ReorderWidenMulAccumulate(SumTag(), data, weights, sum, other);
		return hn::Add(sum, other);
	}
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/** Products of VNNI, which takes unsigned weights: 128 is added to them */
struct DenseQuads {
	using SumTag = hn::ScalableTag<int32_t>;
	using Sum = hn::Vec<SumTag>;
	using Operand = Sum;
	static constexpr size_t kBytes = kDenseBytes;
	static constexpr int32_t kExcess = 128;

	static HWY_INLINE Operand load(const std::byte *bytes)
	{
		return hn::LoadU(SumTag(), reinterpret_cast<const int32_t *>(bytes));
	}

	/** Bytes from \a count on are not read. */
	static HWY_INLINE Operand loadSome(const std::byte *bytes, size_t count)
	{
		const __mmask64 there = ~uint64_t{ 0 } >> (kBytes - count);

		return Sum{ _mm512_maskz_loadu_epi8(there, bytes) };
	}

	static HWY_INLINE Sum add(Sum sum, Operand data, Operand weights)
	{
		return Quads::add(
			sum, hn::Xor(weights, hn::Set(SumTag(), static_cast<int32_t>(0x80808080))),
			data);
	}

	/** Adds the data to \a sum, with which store() corrects the weights' excess */
	static HWY_INLINE Sum add(Sum sum, Operand data)
	{
		return Quads::add(sum, hn::Set(SumTag(), 0x01010101), data);
	}
};
#endif

/** The sums of several kernels. They are in the L1 cache instead of registers, so that weights are
 * read nearly in memory order: reading weights takes most of the time */
template<typename Product>
struct DenseSums {
	using Sum = typename Product::Sum;
	using Tag = typename Product::SumTag;
	static constexpr size_t kParts = kDenseBytes / Product::kBytes; /* operands in a whole
									 * block */

	Sum sums[kTileColumns];
	Sum data = hn::Zero(Tag()); /* sum of the data, if weights have an excess */

	HWY_INLINE DenseSums()
	{
		for (Sum &sum : sums)
			sum = hn::Zero(Tag());
	}

	HWY_INLINE void addData(typename Product::Operand operand)
	{
		if constexpr (Product::kExcess != 0)
			data = Product::add(data, operand);
	}

	/**
	 * Adds the products of a block of kDenseBytes
	 * \param weights weights of the first kernel; those of the next kernels follow
	 */
	template<size_t... kPart>
	HWY_INLINE void addWhole(const std::byte *block, const std::byte *weights, size_t kernels,
				 std::index_sequence<kPart...>)
	{
		const typename Product::Operand operands[] = { Product::load(
			block + kPart * Product::kBytes)... };

		(addData(operands[kPart]), ...);
		for (size_t kernel = 0; kernel < kernels; kernel++, weights += kDenseBytes) {
			Sum sum = sums[kernel];
			bringAhead(weights);
			((sum = Product::add(sum, operands[kPart],
					     Product::load(weights + kPart * Product::kBytes))),
			 ...);
			sums[kernel] = sum;
		}
	}

	/** Adds the products of a block of fewer bytes than kDenseBytes */
	HWY_INLINE void addSome(const DenseBlock &block, const std::byte *weights, size_t kernels)
	{
		for (size_t at = 0; at < block.bytes; at += Product::kBytes) {
			const size_t count = std::min(Product::kBytes, block.bytes - at);
			const auto operand = Product::loadSome(block.data + at, count);
			addData(operand);
			for (size_t kernel = 0; kernel < kernels; kernel++)
				sums[kernel] = Product::add(
					sums[kernel], operand,
					Product::loadSome(weights + kernel * block.bytes + at,
							  count));
		}
	}

	/** \param weights weights of the first kernel */
	HWY_INLINE void add(const DenseBlock &block, const std::byte *weights, size_t kernels)
	{
		if (block.bytes == kDenseBytes)
			addWhole(block.data, weights, kernels, std::make_index_sequence<kParts>());
		else
			addSome(block, weights, kernels);
	}

	HWY_INLINE void store(size_t kernels, int32_t *out) const
	{
		const auto excess = hn::Set(
			TotalsTag(), Product::kExcess * hn::GetLane(hn::SumOfLanes(Tag(), data)));
		int32_t totals[kTileColumns];

		for (size_t kernel = 0; kernel < kernels; kernel += kTotalsAtOnce)
			hn::StoreU(hn::Sub(totalsOf(Tag(), sums + kernel), excess), TotalsTag(),
				   totals + kernel);
		std::copy_n(totals, kernels, out);
	}
};

template<typename Product>
void allSums(std::span<const DenseBlock> blocks, const DenseWeights &weights, int32_t *sums)
{
	for (size_t first = 0; first < weights.kernels; first += kTileColumns) {
		const size_t some = std::min(weights.kernels - first, kTileColumns);
		DenseSums<Product> dense;
		for (const DenseBlock &block : blocks)
			dense.add(block, weights.at(block, first), some);
		dense.store(some, sums + first);
	}
}

void denseSumsOfTarget(std::span<const DenseBlock> blocks, const DenseWeights &weights,
		       int32_t *sums)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (hasVnni()) {
		allSums<DenseQuads>(blocks, weights, sums);
		return;
	}
#endif
	allSums<DensePairs>(blocks, weights, sums);
}

#else

void denseSumsOfTarget(std::span<const DenseBlock>, const DenseWeights &, int32_t *)
{
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(denseSumsOfTarget);

void denseSums(std::span<const DenseBlock> blocks, const DenseWeights &weights, int32_t *sums)
{
	HWY_DYNAMIC_DISPATCH(denseSumsOfTarget)(blocks, weights, sums);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
