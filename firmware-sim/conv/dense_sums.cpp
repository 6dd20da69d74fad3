/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "conv/dense_sums.h"

#include <algorithm>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/dense_sums.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/ahead.h"
#include "conv/conv_tile.h"
#include "conv/lane_totals-inl.h"
#include "conv/wide_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors whose size is known, so that there can be arrays of them. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

/* Those of a group, which has no more of them. */
constexpr size_t kKernelsAtOnce = kTileColumns;

/** Bytes of a block that is none of the largest, with zeroes behind them */
template<size_t kBytes>
struct PaddedBlock {
	std::byte bytes[kBytes] = {};

	HWY_INLINE PaddedBlock(const std::byte *from, size_t count)
	{
		std::memcpy(bytes, from, count);
	}
};

/** Products of INT8 in 16 bits */
struct DensePairs {
	using Tag = hn::CappedTag<int16_t, kDenseBytes / 2>;
	using SumTag = hn::RepartitionToWide<Tag>;
	using Sum = hn::Vec<SumTag>;
	using Operand = hn::Vec<Tag>;
	static constexpr size_t kBytes = hn::MaxLanes(Tag()); /* of an operand */
	static constexpr int32_t kExcess = 0;		      /* of a weight */
	/* Blocks that a sum gets before it goes back to its cache */
	static constexpr size_t kBlocksAtOnce = 1;

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
/** VNNI: the weights as unsigned numbers, more by 128 */
struct DenseQuads {
	using SumTag = hn::ScalableTag<int32_t>;
	using Sum = hn::Vec<SumTag>;
	using Operand = Sum;
	static constexpr size_t kBytes = kDenseBytes;
	static constexpr int32_t kExcess = 128;
	/* More, since a host may take longer to store a sum than to multiply. */
	static constexpr size_t kBlocksAtOnce = 4;

	static HWY_INLINE Operand load(const std::byte *bytes)
	{
		return hn::LoadU(SumTag(), reinterpret_cast<const int32_t *>(bytes));
	}

	/** What is not there is not looked at. */
	static HWY_INLINE Operand loadSome(const std::byte *bytes, size_t count)
	{
		const __mmask64 there = ~uint64_t{ 0 } >> (kBytes - count);

		return Sum{ _mm512_maskz_loadu_epi8(there, bytes) };
	}

	static HWY_INLINE Sum add(Sum sum, Operand data, Operand weights)
	{
		return addUnsigned(
			sum, data,
			hn::Xor(weights, hn::Set(SumTag(), static_cast<int32_t>(0x80808080))));
	}

	/** Data themselves */
	static HWY_INLINE Sum add(Sum sum, Operand data)
	{
		return addUnsigned(sum, data, hn::Set(SumTag(), 0x01010101));
	}

private:
	static HWY_INLINE Sum addUnsigned(Sum sum, Operand data, Operand weights)
	{
		asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(weights.raw), "v"(data.raw));
		return sum;
	}
};
#endif

#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
/** Data that are not negative as unsigned numbers: 16 bits hold the sums of two products */
struct DensePositive {
	using SumTag = hn::FixedTag<int32_t, 8>;
	using Sum = hn::Vec<SumTag>;
	using Operand = Sum;
	static constexpr size_t kBytes = kDenseBytes / 2;
	static constexpr int32_t kExcess = 0;
	static constexpr size_t kBlocksAtOnce = 1;

	/** \return there are no data below zero */
	static HWY_INLINE bool suits(std::span<const DenseBlock> blocks)
	{
		Operand signs = hn::Zero(SumTag());

		for (const DenseBlock &block : blocks) {
			size_t at = 0;
			for (; at + kBytes <= block.bytes; at += kBytes)
				signs = hn::Or(signs, load(block.data + at));
			if (at < block.bytes)
				signs = hn::Or(signs, loadSome(block.data + at, block.bytes - at));
		}
		return _mm256_movemask_epi8(signs.raw) == 0;
	}

	static HWY_INLINE Operand load(const std::byte *bytes)
	{
		return hn::LoadU(SumTag(), reinterpret_cast<const int32_t *>(bytes));
	}

	static HWY_INLINE Operand loadSome(const std::byte *bytes, size_t count)
	{
		return load(PaddedBlock<kBytes>(bytes, count).bytes);
	}

	static HWY_INLINE Sum add(Sum sum, Operand data, Operand weights)
	{
		const __m256i pairs = _mm256_maddubs_epi16(data.raw, weights.raw);

		return hn::Add(sum, Sum{ _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)) });
	}
};
#endif

/**
 * The sums of some kernels, in the nearest cache rather than in registers: weights are read nearly
 * in the order in which they are in memory, which is what takes longest
 */
template<typename Product>
struct DenseSums {
	using Sum = typename Product::Sum;
	using Tag = typename Product::SumTag;
	static constexpr size_t kParts = kDenseBytes / Product::kBytes; /* of a whole block */
	static constexpr size_t kBlocks = Product::kBlocksAtOnce;

	Sum sums[kKernelsAtOnce];
	Sum data = hn::Zero(Tag()); /* if weights are more than they should be */

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
	 * Blocks of kDenseBytes, each of kParts operands
	 * \param weights of the first block's first kernel, those of the next kernel follow
	 * \param step from a block's weights to the next one's
	 */
	template<size_t... kOperand>
	HWY_INLINE void addWhole(const DenseBlock *blocks, const std::byte *weights, size_t step,
				 size_t kernels, std::index_sequence<kOperand...>)
	{
		constexpr size_t kBlocksHere = sizeof...(kOperand) / kParts;
		const typename Product::Operand operands[] = { Product::load(
			blocks[kOperand / kParts].data + kOperand % kParts * Product::kBytes)... };

		(addData(operands[kOperand]), ...);
		for (size_t kernel = 0; kernel < kernels; kernel++, weights += kDenseBytes) {
			Sum sum = sums[kernel];
			(bringOperand<kBlocksHere, kOperand % kParts>(weights +
								      kOperand / kParts * step),
			 ...);
			((sum = Product::add(sum, operands[kOperand],
					     Product::load(weights + kOperand / kParts * step +
							   kOperand % kParts * Product::kBytes))),
			 ...);
			sums[kernel] = sum;
		}
	}

	/* With the first operand of a block. */
	template<size_t kTimes, size_t kPart>
	static HWY_INLINE void bringOperand(const std::byte *weights)
	{
		if constexpr (kPart == 0)
			bringAhead<kTimes>(weights);
	}

	/** \return they are whole, and nothing is between their weights */
	static HWY_INLINE bool areTogether(std::span<const DenseBlock> blocks)
	{
		size_t before = blocks[0].before;

		for (const DenseBlock &block : blocks) {
			if (block.bytes != kDenseBytes || block.before != before)
				return false;
			before += kDenseBytes;
		}
		return true;
	}

	/** \param first of the kernels */
	HWY_INLINE void add(std::span<const DenseBlock> blocks, const DenseWeights &weights,
			    size_t first, size_t kernels)
	{
		while (!blocks.empty()) {
			const std::byte *some = weights.at(blocks[0], first);
			if (blocks.size() >= kBlocks && areTogether(blocks.first(kBlocks))) {
				addWhole(blocks.data(), some, weights.kernels * kDenseBytes,
					 kernels, std::make_index_sequence<kBlocks * kParts>());
				blocks = blocks.subspan(kBlocks);
			} else {
				add(blocks[0], some, kernels);
				blocks = blocks.subspan(1);
			}
		}
	}

	/** A block of fewer bytes than kDenseBytes */
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

	/** \param weights of the first kernel */
	HWY_INLINE void add(const DenseBlock &block, const std::byte *weights, size_t kernels)
	{
		if (block.bytes == kDenseBytes)
			addWhole(&block, weights, 0, kernels, std::make_index_sequence<kParts>());
		else
			addSome(block, weights, kernels);
	}

	HWY_INLINE void store(size_t kernels, int32_t *out) const
	{
		const auto excess = hn::Set(
			TotalsTag(), Product::kExcess * hn::GetLane(hn::SumOfLanes(Tag(), data)));
		int32_t totals[kKernelsAtOnce];

		for (size_t kernel = 0; kernel < kernels; kernel += kTotalsAtOnce)
			hn::StoreU(hn::Sub(totalsOf(Tag(), sums + kernel), excess), TotalsTag(),
				   totals + kernel);
		std::copy_n(totals, kernels, out);
	}
};

template<typename Product>
void allSums(std::span<const DenseBlock> blocks, const DenseWeights &weights, int32_t *sums)
{
	for (size_t first = 0; first < weights.kernels; first += kKernelsAtOnce) {
		const size_t some = std::min(weights.kernels - first, kKernelsAtOnce);
		DenseSums<Product> dense;
		dense.add(blocks, weights, first, some);
		dense.store(some, sums + first);
	}
}

void denseSumsOfTarget(std::span<const DenseBlock> blocks, const DenseWeights &weights,
		       int32_t *sums)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (__builtin_cpu_supports("avx512vnni")) {
		allSums<DenseQuads>(blocks, weights, sums);
		return;
	}
#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
	if (DensePositive::suits(blocks)) {
		allSums<DensePositive>(blocks, weights, sums);
		return;
	}
#endif
	allSums<DensePairs>(blocks, weights, sums);
}

using WidePairTag = hn::CappedTag<int16_t, kDenseBytes / 2>;
using WidePairs = hn::Vec<WidePairTag>;

constexpr size_t kWideBytes = hn::MaxLanes(WidePairTag()) * sizeof(int16_t); /* of a vector */

HWY_INLINE WidePairs loadWide(const std::byte *bytes)
{
	return hn::LoadU(WidePairTag(), reinterpret_cast<const int16_t *>(bytes));
}

/** Products of INT16 */
HWY_INLINE void addWide(WideSum &sum, WidePairs data, WidePairs weights)
{
	const WideSum::Tag tag;
	auto other = hn::Zero(tag);

	sum.add(hn::ReorderWidenMulAccumulate(tag, data, weights, hn::Zero(tag), other));
#if !HWY_ARCH_X86 || HWY_TARGET == HWY_EMU128
	sum.add(other);
#endif
}

/** Those of some kernels, as DenseSums */
struct WideDenseSums {
	static constexpr size_t kBlockBytes = 2 * kDenseBytes;
	static constexpr std::make_index_sequence<kBlockBytes / kWideBytes> kParts = {};

	WideSum sums[kKernelsAtOnce];

	HWY_INLINE WideDenseSums() {} /* an implicit one has no vectors */

	template<size_t... kPart>
	static HWY_INLINE void addKernel(WideSum &sum, const WidePairs *data,
					 const std::byte *weights, std::index_sequence<kPart...>)
	{
		WideSum local = sum;

		(addWide(local, data[kPart], loadWide(weights + kPart * kWideBytes)), ...);
		sum = local;
	}

	/** \param weights of the first kernel, those of the next one follow */
	template<size_t... kPart>
	HWY_INLINE void addWhole(const std::byte *data, const std::byte *weights, size_t kernels,
				 std::index_sequence<kPart...>)
	{
		const WidePairs operands[] = { loadWide(data + kPart * kWideBytes)... };

		for (size_t kernel = 0; kernel < kernels; kernel++, weights += kBlockBytes) {
			bringAhead(weights);
			bringAhead(weights + kDenseBytes);
			addKernel(sums[kernel], operands, weights, kParts);
		}
	}

	/** A block of fewer bytes than kBlockBytes */
	HWY_INLINE void addSome(const DenseBlock &block, const std::byte *weights, size_t kernels)
	{
		const PaddedBlock<kBlockBytes> data(block.data, block.bytes);

		for (size_t kernel = 0; kernel < kernels; kernel++, weights += block.bytes) {
			const PaddedBlock<kBlockBytes> padded(weights, block.bytes);
			for (size_t at = 0; at < kBlockBytes; at += kWideBytes)
				addWide(sums[kernel], loadWide(data.bytes + at),
					loadWide(padded.bytes + at));
		}
	}

	/** \param weights of the first kernel */
	HWY_INLINE void add(const DenseBlock &block, const std::byte *weights, size_t kernels)
	{
		if (block.bytes == kBlockBytes)
			addWhole(block.data, weights, kernels, kParts);
		else
			addSome(block, weights, kernels);
	}
};

void denseWideSumsOfTarget(std::span<const DenseBlock> blocks, const DenseWeights &weights,
			   int16_t lowestData, int64_t *sums)
{
	/* Of two products 32 bits hold all sums but one, that of -2^15 alone. */
	if (lowestData == INT16_MIN) {
		denseWideSumsReference(blocks, weights, sums);
		return;
	}
	for (size_t first = 0; first < weights.kernels; first += kKernelsAtOnce) {
		const size_t some = std::min(weights.kernels - first, kKernelsAtOnce);
		WideDenseSums dense;
		for (const DenseBlock &block : blocks)
			dense.add(block, weights.at(block, first), some);
		for (size_t kernel = 0; kernel < some; kernel++)
			sums[first + kernel] = dense.sums[kernel].total();
	}
}

#else

void denseWideSumsOfTarget(std::span<const DenseBlock> blocks, const DenseWeights &weights, int16_t,
			   int64_t *sums)
{
	denseWideSumsReference(blocks, weights, sums);
}

void denseSumsOfTarget(std::span<const DenseBlock> blocks, const DenseWeights &weights,
		       int32_t *sums)
{
	denseSumsReference(blocks, weights, sums);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(denseSumsOfTarget);
HWY_EXPORT(denseWideSumsOfTarget);

void denseSums(std::span<const DenseBlock> blocks, const DenseWeights &weights, int32_t *sums)
{
	HWY_DYNAMIC_DISPATCH(denseSumsOfTarget)(blocks, weights, sums);
}

void denseSumsReference(std::span<const DenseBlock> blocks, const DenseWeights &weights,
			int32_t *sums)
{
	std::fill_n(sums, weights.kernels, 0);
	for (const DenseBlock &block : blocks) {
		for (size_t kernel = 0; kernel < weights.kernels; kernel++) {
			const std::byte *weight = weights.at(block, kernel);
			for (size_t i = 0; i < block.bytes; i++)
				sums[kernel] += static_cast<int8_t>(block.data[i]) *
						static_cast<int8_t>(weight[i]);
		}
	}
}

void denseWideSums(std::span<const DenseBlock> blocks, const DenseWeights &weights,
		   int16_t lowestData, int64_t *sums)
{
	HWY_DYNAMIC_DISPATCH(denseWideSumsOfTarget)(blocks, weights, lowestData, sums);
}

void denseWideSumsReference(std::span<const DenseBlock> blocks, const DenseWeights &weights,
			    int64_t *sums)
{
	int16_t data;
	int16_t weight;

	std::fill_n(sums, weights.kernels, 0);
	for (const DenseBlock &block : blocks) {
		for (size_t kernel = 0; kernel < weights.kernels; kernel++) {
			const std::byte *from = weights.at(block, kernel);
			for (size_t i = 0; i < block.bytes; i += sizeof(data)) {
				std::memcpy(&data, block.data + i, sizeof(data));
				std::memcpy(&weight, from + i, sizeof(weight));
				sums[kernel] += int64_t{ data } * weight;
			}
		}
	}
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
