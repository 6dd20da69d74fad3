/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "conv/dense_sums.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/dense_sums.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/wide_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors whose size is known, so that there can be arrays of them. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

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
struct Pairs {
	static constexpr size_t kKernelsAtOnce = 4;
	using Tag = hn::CappedTag<int16_t, kDenseBytes / 2>;
	using SumTag = hn::RepartitionToWide<Tag>;
	using Sum = hn::Vec<SumTag>;
	static constexpr size_t kLanes = hn::MaxLanes(Tag());
	static constexpr int32_t kExcess = 0; /* of a weight */

	static HWY_INLINE hn::Vec<Tag> load(const std::byte *bytes)
	{
		const hn::Rebind<int8_t, Tag> byteTag;
		return hn::PromoteTo(Tag(),
				     hn::LoadU(byteTag, reinterpret_cast<const int8_t *>(bytes)));
	}

	static HWY_INLINE Sum add(Sum sum, const std::byte *data, const std::byte *weights)
	{
		Sum other = hn::Zero(SumTag());

		for (size_t i = 0; i < kDenseBytes; i += kLanes)
			sum = hn::ReorderWidenMulAccumulate(SumTag(), load(data + i),
							    load(weights + i), sum, other);
		return hn::Add(sum, other);
	}

	/** add() of fewer than kDenseBytes */
	static HWY_INLINE Sum addSome(Sum sum, const std::byte *data, const std::byte *weights,
				      size_t bytes)
	{
		Sum other = hn::Zero(SumTag());
		size_t i = 0;

		for (; i + kLanes <= bytes; i += kLanes)
			sum = hn::ReorderWidenMulAccumulate(SumTag(), load(data + i),
							    load(weights + i), sum, other);
		if (i < bytes) {
			const PaddedBlock<kLanes> lastData(data + i, bytes - i);
			const PaddedBlock<kLanes> lastWeights(weights + i, bytes - i);
			sum = hn::ReorderWidenMulAccumulate(SumTag(), load(lastData.bytes),
							    load(lastWeights.bytes), sum, other);
		}
		return hn::Add(sum, other);
	}
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/** VNNI: the weights as unsigned numbers, more by 128 */
struct Quads {
	using SumTag = hn::ScalableTag<int32_t>;
	using Sum = hn::Vec<SumTag>;
	static constexpr int32_t kExcess = 128;

	/* Rows follow each other: the more of them, the longer what is read in one go. */
	static constexpr size_t kKernelsAtOnce = 16;

	static HWY_INLINE Sum load(const std::byte *bytes)
	{
		return hn::LoadU(SumTag(), reinterpret_cast<const int32_t *>(bytes));
	}

	static HWY_INLINE Sum multiply(Sum sum, Sum data, Sum weights)
	{
		const Sum flipped =
			hn::Xor(weights, hn::Set(SumTag(), static_cast<int32_t>(0x80808080)));

		asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(flipped.raw), "v"(data.raw));
		return sum;
	}

	static HWY_INLINE Sum add(Sum sum, const std::byte *data, const std::byte *weights)
	{
		return multiply(sum, load(data), load(weights));
	}

	/** add() of fewer than kDenseBytes: what is not there is not looked at */
	static HWY_INLINE Sum addSome(Sum sum, const std::byte *data, const std::byte *weights,
				      size_t bytes)
	{
		const __mmask64 there = (uint64_t{ 1 } << bytes) - 1;

		return multiply(sum, Sum{ _mm512_maskz_loadu_epi8(there, data) },
				Sum{ _mm512_maskz_loadu_epi8(there, weights) });
	}
};
#endif

/** The sums of some kernels from \a first on, the last one's again where there are less */
template<typename Product, size_t... kIndex>
void someSums(std::span<const DenseBlock> blocks, size_t first, size_t kernels, int32_t dataSum,
	      int32_t *sums, std::index_sequence<kIndex...>)
{
	using Tag = typename Product::SumTag;
	const size_t kernel[] = { std::min(first + kIndex, kernels - 1)... };
	typename Product::Sum sum[] = { ((void)kIndex, hn::Zero(Tag()))... };

	for (const DenseBlock &block : blocks) {
		if (block.bytes == kDenseBytes) {
			((sum[kIndex] = Product::add(sum[kIndex], block.data,
						     block.weights + kernel[kIndex] * kDenseBytes)),
			 ...);
			continue;
		}
		((sum[kIndex] = Product::addSome(sum[kIndex], block.data,
						 block.weights + kernel[kIndex] * block.bytes,
						 block.bytes)),
		 ...);
	}
	((sums[kernel[kIndex]] =
		  hn::GetLane(hn::SumOfLanes(Tag(), sum[kIndex])) - Product::kExcess * dataSum),
	 ...);
}

template<typename Product>
void allSums(std::span<const DenseBlock> blocks, size_t kernels, int32_t dataSum, int32_t *sums)
{
	for (size_t first = 0; first < kernels; first += Product::kKernelsAtOnce)
		someSums<Product>(blocks, first, kernels, dataSum, sums,
				  std::make_index_sequence<Product::kKernelsAtOnce>());
}

void denseSumsOfTarget(std::span<const DenseBlock> blocks, size_t kernels, int32_t dataSum,
		       int32_t *sums)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (__builtin_cpu_supports("avx512vnni")) {
		allSums<Quads>(blocks, kernels, dataSum, sums);
		return;
	}
#endif
	allSums<Pairs>(blocks, kernels, dataSum, sums);
}

using WidePairTag = hn::CappedTag<int16_t, kDenseBytes / 2>;

constexpr size_t kWideKernelsAtOnce = 4;

HWY_INLINE hn::Vec<WidePairTag> loadWide(const std::byte *bytes)
{
	return hn::LoadU(WidePairTag(), reinterpret_cast<const int16_t *>(bytes));
}

/** Products of INT16, twice kDenseBytes of each operand */
HWY_INLINE void addWide(WideSum &sum, const std::byte *data, const std::byte *weights)
{
	const WideSum::Tag tag;

	for (size_t i = 0; i < 2 * kDenseBytes; i += hn::MaxLanes(WidePairTag()) * 2) {
		auto other = hn::Zero(tag);
		sum.add(hn::ReorderWidenMulAccumulate(tag, loadWide(data + i),
						      loadWide(weights + i), hn::Zero(tag), other));
#if !HWY_ARCH_X86 || HWY_TARGET == HWY_EMU128
		sum.add(other);
#endif
	}
}

HWY_INLINE int64_t totalOf(const WideSum &sum)
{
	int64_t lanes[hn::MaxLanes(WideSum::Tag())];

	sum.store(lanes);
	return std::accumulate(std::begin(lanes), std::end(lanes), int64_t{ 0 });
}

/** The sums of some kernels from \a first on, the last one's again where there are less */
template<size_t... kIndex>
void someWideSums(std::span<const DenseBlock> blocks, size_t first, size_t kernels, int64_t *sums,
		  std::index_sequence<kIndex...>)
{
	const size_t kernel[] = { std::min(first + kIndex, kernels - 1)... };
	WideSum sum[sizeof...(kIndex)];

	for (const DenseBlock &block : blocks) {
		if (block.bytes == 2 * kDenseBytes) {
			(addWide(sum[kIndex], block.data,
				 block.weights + kernel[kIndex] * block.bytes),
			 ...);
			continue;
		}
		const PaddedBlock<2 * kDenseBytes> data(block.data, block.bytes);
		(addWide(sum[kIndex], data.bytes,
			 PaddedBlock<2 * kDenseBytes>(block.weights + kernel[kIndex] * block.bytes,
						      block.bytes)
				 .bytes),
		 ...);
	}
	((sums[kernel[kIndex]] = totalOf(sum[kIndex])), ...);
}

void denseWideSumsOfTarget(std::span<const DenseBlock> blocks, size_t kernels, int16_t lowestData,
			   int64_t *sums)
{
	/* Of two products 32 bits hold all sums but one, that of -2^15 alone. */
	if (lowestData == INT16_MIN) {
		denseWideSumsReference(blocks, kernels, sums);
		return;
	}
	for (size_t first = 0; first < kernels; first += kWideKernelsAtOnce)
		someWideSums(blocks, first, kernels, sums,
			     std::make_index_sequence<kWideKernelsAtOnce>());
}

#else

void denseWideSumsOfTarget(std::span<const DenseBlock> blocks, size_t kernels, int16_t,
			   int64_t *sums)
{
	denseWideSumsReference(blocks, kernels, sums);
}

void denseSumsOfTarget(std::span<const DenseBlock> blocks, size_t kernels, int32_t, int32_t *sums)
{
	denseSumsReference(blocks, kernels, sums);
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

void denseSums(std::span<const DenseBlock> blocks, size_t kernels, int32_t dataSum, int32_t *sums)
{
	HWY_DYNAMIC_DISPATCH(denseSumsOfTarget)(blocks, kernels, dataSum, sums);
}

void denseSumsReference(std::span<const DenseBlock> blocks, size_t kernels, int32_t *sums)
{
	std::fill_n(sums, kernels, 0);
	for (const DenseBlock &block : blocks)
		for (size_t kernel = 0; kernel < kernels; kernel++)
			for (size_t i = 0; i < block.bytes; i++)
				sums[kernel] += static_cast<int8_t>(block.data[i]) *
						static_cast<int8_t>(
							block.weights[kernel * block.bytes + i]);
}

void denseWideSums(std::span<const DenseBlock> blocks, size_t kernels, int16_t lowestData,
		   int64_t *sums)
{
	HWY_DYNAMIC_DISPATCH(denseWideSumsOfTarget)(blocks, kernels, lowestData, sums);
}

void denseWideSumsReference(std::span<const DenseBlock> blocks, size_t kernels, int64_t *sums)
{
	int16_t data;
	int16_t weight;

	std::fill_n(sums, kernels, 0);
	for (const DenseBlock &block : blocks) {
		for (size_t kernel = 0; kernel < kernels; kernel++) {
			for (size_t i = 0; i < block.bytes; i += sizeof(data)) {
				std::memcpy(&data, block.data + i, sizeof(data));
				std::memcpy(&weight, block.weights + kernel * block.bytes + i,
					    sizeof(weight));
				sums[kernel] += int64_t{ data } * weight;
			}
		}
	}
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
