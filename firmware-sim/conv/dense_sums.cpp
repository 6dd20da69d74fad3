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

#include "conv/ahead.h"
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
	static constexpr size_t kKernelsAtOnce = 8;
	using Tag = hn::CappedTag<int16_t, kDenseBytes / 2>;
	using SumTag = hn::RepartitionToWide<Tag>;
	using Sum = hn::Vec<SumTag>;
	using Operand = hn::Vec<Tag>;
	static constexpr size_t kBytes = hn::MaxLanes(Tag()); /* of an operand */
	static constexpr int32_t kExcess = 0;		      /* of a weight */

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
struct Quads {
	/* Rows follow each other: the more of them, the longer what is read in one go. */
	static constexpr size_t kKernelsAtOnce = 16;
	using SumTag = hn::ScalableTag<int32_t>;
	using Sum = hn::Vec<SumTag>;
	using Operand = Sum;
	static constexpr size_t kBytes = kDenseBytes;
	static constexpr int32_t kExcess = 128;

	static HWY_INLINE Operand load(const std::byte *bytes)
	{
		return hn::LoadU(SumTag(), reinterpret_cast<const int32_t *>(bytes));
	}

	/** What is not there is not looked at. */
	static HWY_INLINE Operand loadSome(const std::byte *bytes, size_t count)
	{
		const __mmask64 there = (uint64_t{ 1 } << count) - 1;

		return Sum{ _mm512_maskz_loadu_epi8(there, bytes) };
	}

	static HWY_INLINE Sum add(Sum sum, Operand data, Operand weights)
	{
		const Sum flipped =
			hn::Xor(weights, hn::Set(SumTag(), static_cast<int32_t>(0x80808080)));

		asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(flipped.raw), "v"(data.raw));
		return sum;
	}
};
#endif

#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
/** Data that are not negative as unsigned numbers: 16 bits hold the sums of two products */
struct PositiveQuads {
	static constexpr size_t kKernelsAtOnce = 8;
	using SumTag = hn::FixedTag<int32_t, 8>;
	using Sum = hn::Vec<SumTag>;
	using Operand = Sum;
	static constexpr size_t kBytes = kDenseBytes / 2;
	static constexpr int32_t kExcess = 0;

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

/** The sums of some kernels, in registers: indices are constants once inlined */
template<typename Product, size_t... kIndex>
struct DenseSums {
	using Tag = typename Product::SumTag;

	typename Product::Sum sums[sizeof...(kIndex)] = { ((void)kIndex, hn::Zero(Tag()))... };

	HWY_INLINE DenseSums() {} /* an implicit one has no vectors */

	HWY_INLINE void addOperand(typename Product::Operand data, const std::byte *weights)
	{
		((sums[kIndex] = Product::add(sums[kIndex], data,
					      Product::load(weights + kIndex * kDenseBytes))),
		 ...);
	}

	/** \param weights of the first kernel, those of the next one follow */
	template<size_t... kPart>
	HWY_INLINE void addBlock(const std::byte *data, const std::byte *weights,
				 std::index_sequence<kPart...>)
	{
		(bringAhead(weights + kIndex * kDenseBytes), ...);
		(addOperand(Product::load(data + kPart * Product::kBytes),
			    weights + kPart * Product::kBytes),
		 ...);
	}

	/** A block of fewer bytes than kDenseBytes */
	HWY_INLINE void addSome(const DenseBlock &block, const std::byte *weights)
	{
		for (size_t at = 0; at < block.bytes; at += Product::kBytes) {
			const size_t count = std::min(Product::kBytes, block.bytes - at);
			const auto data = Product::loadSome(block.data + at, count);
			((sums[kIndex] = Product::add(
				  sums[kIndex], data,
				  Product::loadSome(weights + kIndex * block.bytes + at, count))),
			 ...);
		}
	}

	HWY_INLINE void store(int32_t excess, int32_t *out) const
	{
		((out[kIndex] = hn::GetLane(hn::SumOfLanes(Tag(), sums[kIndex])) - excess), ...);
	}
};

/**
 * Calls \a some with the first one of some kernels and as many indices, powers of two, until it
 * was called for all
 */
template<size_t kMost, typename Some>
HWY_INLINE void forSomeKernels(size_t kernels, Some some)
{
	size_t first = 0;

	for (; first + kMost <= kernels; first += kMost)
		some(first, std::make_index_sequence<kMost>());
	if constexpr (kMost > 1)
		forSomeKernels<kMost / 2>(kernels - first, [&](size_t rest, auto indices) HWY_ATTR {
			some(first + rest, indices);
		});
}

/** The sums of some kernels from \a first on, whose weights of a block follow each other */
template<typename Product, size_t... kIndex>
HWY_INLINE void someSums(std::span<const DenseBlock> blocks, size_t first, int32_t dataSum,
			 int32_t *sums, std::index_sequence<kIndex...>)
{
	constexpr size_t kParts = kDenseBytes / Product::kBytes;
	DenseSums<Product, kIndex...> some;

	for (const DenseBlock &block : blocks) {
		const std::byte *weights = block.weights + first * block.bytes;
		if (block.bytes == kDenseBytes)
			some.addBlock(block.data, weights, std::make_index_sequence<kParts>());
		else
			some.addSome(block, weights);
	}
	some.store(Product::kExcess * dataSum, sums + first);
}

template<typename Product>
void allSums(std::span<const DenseBlock> blocks, size_t kernels, int32_t dataSum, int32_t *sums)
{
	forSomeKernels<Product::kKernelsAtOnce>(kernels, [&](size_t first, auto indices) HWY_ATTR {
		someSums<Product>(blocks, first, dataSum, sums, indices);
	});
}

void denseSumsOfTarget(std::span<const DenseBlock> blocks, size_t kernels, ByteStatistics data,
		       int32_t *sums)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (__builtin_cpu_supports("avx512vnni")) {
		allSums<Quads>(blocks, kernels, data.sum, sums);
		return;
	}
#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
	if (!data.anyNegative) {
		allSums<PositiveQuads>(blocks, kernels, data.sum, sums);
		return;
	}
#endif
	allSums<Pairs>(blocks, kernels, data.sum, sums);
}

using WidePairTag = hn::CappedTag<int16_t, kDenseBytes / 2>;
using WidePairs = hn::Vec<WidePairTag>;

/* Two vectors for each kernel. */
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr size_t kWideKernelsAtOnce = 4;
#else
constexpr size_t kWideKernelsAtOnce = 8;
#endif
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

HWY_INLINE int64_t totalOf(const WideSum &sum)
{
	int64_t lanes[hn::MaxLanes(WideSum::Tag())];

	sum.store(lanes);
	return std::accumulate(std::begin(lanes), std::end(lanes), int64_t{ 0 });
}

/** The sums of some kernels, in registers: indices are constants once inlined */
template<size_t... kIndex>
struct WideDenseSums {
	WideSum sums[sizeof...(kIndex)];

	HWY_INLINE WideDenseSums() {} /* an implicit one has no vectors */

	HWY_INLINE void addOperand(WidePairs data, const std::byte *weights)
	{
		(addWide(sums[kIndex], data, loadWide(weights + 2 * kIndex * kDenseBytes)), ...);
	}

	/** \param weights of the first kernel, those of the next one follow */
	template<size_t... kPart>
	HWY_INLINE void addBlock(const std::byte *data, const std::byte *weights,
				 std::index_sequence<kPart...>)
	{
		(bringAhead(weights + 2 * kIndex * kDenseBytes), ...);
		(bringAhead(weights + (2 * kIndex + 1) * kDenseBytes), ...);
		(addOperand(loadWide(data + kPart * kWideBytes), weights + kPart * kWideBytes),
		 ...);
	}

	HWY_INLINE void store(int64_t *out) const { ((out[kIndex] = totalOf(sums[kIndex])), ...); }
};

template<size_t... kIndex>
HWY_INLINE void someWideSums(std::span<const DenseBlock> blocks, size_t first, int64_t *sums,
			     std::index_sequence<kIndex...>)
{
	constexpr size_t kBlockBytes = 2 * kDenseBytes;
	constexpr std::make_index_sequence<kBlockBytes / kWideBytes> parts;
	WideDenseSums<kIndex...> some;

	for (const DenseBlock &block : blocks) {
		const std::byte *weights = block.weights + first * block.bytes;
		if (block.bytes == kBlockBytes) {
			some.addBlock(block.data, weights, parts);
			continue;
		}
		/* One kernel's behind the other, with zeroes between them. */
		std::byte padded[sizeof...(kIndex) * kBlockBytes] = {};
		(std::memcpy(padded + kIndex * kBlockBytes, weights + kIndex * block.bytes,
			     block.bytes),
		 ...);
		some.addBlock(PaddedBlock<kBlockBytes>(block.data, block.bytes).bytes, padded,
			      parts);
	}
	some.store(sums + first);
}

void denseWideSumsOfTarget(std::span<const DenseBlock> blocks, size_t kernels, int16_t lowestData,
			   int64_t *sums)
{
	/* Of two products 32 bits hold all sums but one, that of -2^15 alone. */
	if (lowestData == INT16_MIN) {
		denseWideSumsReference(blocks, kernels, sums);
		return;
	}
	forSomeKernels<kWideKernelsAtOnce>(kernels, [&](size_t first, auto indices) HWY_ATTR {
		someWideSums(blocks, first, sums, indices);
	});
}

#else

void denseWideSumsOfTarget(std::span<const DenseBlock> blocks, size_t kernels, int16_t,
			   int64_t *sums)
{
	denseWideSumsReference(blocks, kernels, sums);
}

void denseSumsOfTarget(std::span<const DenseBlock> blocks, size_t kernels, ByteStatistics,
		       int32_t *sums)
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

void denseSums(std::span<const DenseBlock> blocks, size_t kernels, ByteStatistics data,
	       int32_t *sums)
{
	HWY_DYNAMIC_DISPATCH(denseSumsOfTarget)(blocks, kernels, data, sums);
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
