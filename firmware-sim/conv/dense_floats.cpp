/* SPDX-License-Identifier: MIT */
/*
 * Rows of weights become columns, eight elements of all kernels at a time, so that a vector of
 * kernels meets one element after the other.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "conv/dense_floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/dense_floats.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/ahead.h"
#include "conv/tile_columns-inl.h"
#include "conv/tile_operands.h"
#include "core/aligned.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/** \return no weight is infinite or a NaN: where sums do not say so, as infinities are numbers */
bool areFinite(std::span<const DenseFloats> blocks, std::span<const std::byte *const> groups,
	       size_t kernels)
{
	const size_t elements = blocks.back().before + blocks.back().elements;

	return std::ranges::all_of(groups, [&](const std::byte *group) {
		return sim::areFinite(group, kernels * elements);
	});
}

/* Vectors of known size, so that there can be arrays of them. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

/** Where the weights of some kernels are, those of one group or two */
struct GroupRows {
	const std::byte *const *groups;
	size_t step; /* bytes from one kernel to the next */

	HWY_INLINE const std::byte *at(size_t kernel) const
	{
		return groups[kernel / kFewColumns] + kernel % kFewColumns * step;
	}
};

constexpr size_t kElementsAtOnce = 8;
constexpr size_t kBlockLanes = 4; /* of f32 in 128 bits */

/** \return eight elements of every eighth kernel from \a kernel on, each in 128 bits */
template<typename Tag>
HWY_INLINE hn::Vec<Tag> everyEighth(Tag tag, const GroupRows &rows, size_t kernel, size_t offset)
{
	if constexpr (hn::MaxLanes(Tag()) == kBlockLanes) {
		return hn::LoadU(tag, reinterpret_cast<const int32_t *>(rows.at(kernel) + offset));
	} else {
		const hn::Half<Tag> half;
		constexpr size_t apart = hn::MaxLanes(half) / kBlockLanes * 8;
		return hn::Combine(tag, everyEighth(half, rows, kernel + apart, offset),
				   everyEighth(half, rows, kernel, offset));
	}
}

/** Eight elements of four kernels in each 128 bits: two elements of all four to a vector */
template<typename Tag>
struct FourKernels {
	using Vector = hn::Vec<Tag>;

	Vector pairs[kElementsAtOnce / 2];

	HWY_INLINE FourKernels(const GroupRows &rows, size_t kernel, size_t offset)
	{
		const hn::Repartition<uint16_t, Tag> halfTag;
		const Tag tag;
		const auto load = [&](size_t i) HWY_ATTR {
			return hn::BitCast(halfTag, everyEighth(tag, rows, kernel + i, offset));
		};
		const auto first = load(0), second = load(1), third = load(2), fourth = load(3);
		const auto low01 = hn::BitCast(tag, hn::InterleaveLower(halfTag, first, second));
		const auto low23 = hn::BitCast(tag, hn::InterleaveLower(halfTag, third, fourth));
		const auto high01 = hn::BitCast(tag, hn::InterleaveUpper(halfTag, first, second));
		const auto high23 = hn::BitCast(tag, hn::InterleaveUpper(halfTag, third, fourth));

		pairs[0] = hn::InterleaveLower(tag, low01, low23);
		pairs[1] = hn::InterleaveUpper(tag, low01, low23);
		pairs[2] = hn::InterleaveLower(tag, high01, high23);
		pairs[3] = hn::InterleaveUpper(tag, high01, high23);
	}
};

/**
 * Eight elements of twice as many kernels as a vector has lanes, one row of kernels for each
 * \param columns from one row to the next
 */
template<typename Tag>
HWY_INLINE void putColumns(const GroupRows &rows, size_t kernel, size_t offset, size_t columns,
			   uint16_t *out)
{
	const hn::Repartition<uint64_t, Tag> quadTag;
	const hn::Repartition<uint16_t, Tag> halfTag;
	const FourKernels<Tag> even(rows, kernel, offset);
	const FourKernels<Tag> odd(rows, kernel + kBlockLanes, offset);
	const auto both = [&](size_t pair) HWY_ATTR {
		const auto a = hn::BitCast(quadTag, even.pairs[pair]);
		const auto b = hn::BitCast(quadTag, odd.pairs[pair]);
		uint16_t *to = out + 2 * pair * columns;
		hn::Store(hn::BitCast(halfTag, hn::InterleaveLower(quadTag, a, b)), halfTag, to);
		hn::Store(hn::BitCast(halfTag, hn::InterleaveUpper(quadTag, a, b)), halfTag,
			  to + columns);
	};

	both(0);
	both(1);
	both(2);
	both(3);
}

/** A block whose elements are whole units of eight, for all kernels of the groups */
template<size_t kGroups>
struct PaddedFloats {
	float data[kDenseElements] = {};
	uint16_t weights[kGroups][kFewColumns][kDenseElements] = {};

	PaddedFloats(const DenseFloats &block, const std::byte *const *from, size_t kernels)
	{
		const size_t bytes = block.elements * sizeof(uint16_t);

		std::copy_n(block.data, block.elements, data);
		for (size_t group = 0; group < kGroups; group++)
			for (size_t kernel = 0; kernel < kernels; kernel++)
				std::memcpy(weights[group][kernel], from[group] + kernel * bytes,
					    bytes);
	}
};

/**
 * All sums of one group or two, in registers: indices are constants once inlined
 *
 * Transposed weights are stored in the nearest cache first, because hosts convert FP16 to f32
 * faster from memory than from half a register. Sums of different kernels are independent, so the
 * latencies of their multiply-adds overlap.
 *
 * \tparam kFinite see finiteFloatsOf()
 */
template<size_t kGroups, bool kFinite>
struct GroupSums {
	static constexpr size_t kColumns = kGroups * kFewColumns;
	using Tag = hn::CappedTag<int32_t, kColumns / 2>;
	using FloatTag = hn::Rebind<float, Tag>;
	using FloatVector = hn::Vec<FloatTag>;
	static constexpr size_t kLanes = hn::MaxLanes(Tag());
	static constexpr size_t kCount = kColumns / kLanes;
	static constexpr std::make_index_sequence<kCount> kIndices = {};

	/** Of the host's caches, that eight elements of all kernels are */
	static constexpr size_t kLinesAtOnce =
		kColumns * kElementsAtOnce * sizeof(uint16_t) / kLineBytes;

	FloatVector sums[kCount];

	HWY_INLINE GroupSums() { clear(kIndices); }

	/** One element of all kernels */
	template<size_t... kIndex>
	HWY_INLINE void add(float data, const uint16_t *weights, std::index_sequence<kIndex...>)
	{
		const FloatVector factor = hn::Set(FloatTag(), data);

		((sums[kIndex] =
			  hn::MulAdd(factor, widen(weights + kIndex * kLanes), sums[kIndex])),
		 ...);
	}

	/** Eight elements */
	template<size_t... kElement>
	HWY_INLINE void add(const float *data, const GroupRows &rows, size_t offset,
			    std::index_sequence<kElement...>)
	{
		HWY_ALIGN uint16_t columns[kElementsAtOnce][kColumns];

		put(rows, offset, columns[0], std::make_index_sequence<kCount / 2>());
		/* Compilers would leave them in registers, of which there are not as many. */
		asm("" : "+m"(columns));
		(add(data[kElement], columns[kElement], kIndices), ...);
	}

	/** \param elements a multiple of eight */
	HWY_INLINE void add(const float *data, const GroupRows &rows, size_t elements, Ahead &ahead)
	{
		for (size_t i = 0; i < elements; i += kElementsAtOnce) {
			for (size_t line = 0; line < kLinesAtOnce && ahead.has(); line++)
				ahead.bringStep();
			add(data + i, rows, i * sizeof(uint16_t),
			    std::make_index_sequence<kElementsAtOnce>());
		}
	}

	/** \param groups the weights of the block in each */
	HWY_INLINE void add(const DenseFloats &block, const std::byte *const *groups,
			    size_t kernels, Ahead &ahead)
	{
		if (kernels == kFewColumns && block.elements % kElementsAtOnce == 0) {
			add(block.data, { groups, block.elements * sizeof(uint16_t) },
			    block.elements, ahead);
			return;
		}
		const PaddedFloats<kGroups> padded(block, groups, kernels);
		const std::byte *from[kGroups];
		for (size_t group = 0; group < kGroups; group++)
			from[group] = reinterpret_cast<const std::byte *>(padded.weights[group]);
		add(padded.data, { from, sizeof(padded.weights[0][0]) }, kDenseElements, ahead);
	}

	HWY_INLINE bool areFinite() const { return areFinite(kIndices); }
	HWY_INLINE void store(int32_t *out) const { store(out, kIndices); }

private:
	template<size_t... kPart>
	static HWY_INLINE void put(const GroupRows &rows, size_t offset, uint16_t *columns,
				   std::index_sequence<kPart...>)
	{
		(putColumns<Tag>(rows, kPart * 2 * kLanes, offset, kColumns,
				 columns + kPart * 2 * kLanes),
		 ...);
	}

	static HWY_INLINE FloatVector widen(const uint16_t *weights)
	{
		const auto halves = hn::Load(hn::Rebind<uint16_t, Tag>(), weights);

		if constexpr (kFinite)
			return finiteFloatsOf(FloatTag(), halves);
		else
			return floatsOf(FloatTag(), halves);
	}

	template<size_t... kIndex>
	HWY_INLINE void clear(std::index_sequence<kIndex...>)
	{
		((sums[kIndex] = hn::Zero(FloatTag())), ...);
	}

	template<size_t... kIndex>
	HWY_INLINE bool areFinite(std::index_sequence<kIndex...>) const
	{
		return (hn::AllTrue(FloatTag(), hn::IsFinite(sums[kIndex])) && ...);
	}

	template<size_t... kIndex>
	HWY_INLINE void store(int32_t *out, std::index_sequence<kIndex...>) const
	{
		(store(sums[kIndex], out + kIndex * kLanes), ...);
	}

	static HWY_INLINE void store(FloatVector sum, int32_t *out)
	{
		const Tag tag;
		const auto nan = hn::RebindMask(tag, hn::IsNaN(sum));

		hn::StoreU(hn::IfThenElse(nan, hn::Set(tag, kFloatNan), hn::BitCast(tag, sum)), tag,
			   out);
	}
};

/** \return true if all sums are finite */
template<size_t kGroups, bool kFinite>
bool sumsOf(std::span<const DenseFloats> blocks, const std::byte *const *groups, size_t kernels,
	    int32_t *out, std::span<const std::byte> bytesAhead)
{
	GroupSums<kGroups, kFinite> all;
	const size_t elements = blocks.back().before + blocks.back().elements;
	Ahead ahead(bytesAhead, elements / kElementsAtOnce * all.kLinesAtOnce);

	for (const DenseFloats &block : blocks) {
		const std::byte *from[kGroups];
		for (size_t group = 0; group < kGroups; group++)
			from[group] = groups[group] + block.before * kernels * sizeof(uint16_t);
		all.add(block, from, kernels, ahead);
	}
	all.store(out);
	for (size_t group = 0; group < kGroups; group++)
		std::fill(out + group * kFewColumns + kernels, out + (group + 1) * kFewColumns, 0);
	return all.areFinite();
}

bool floatSumsOfTarget(std::span<const DenseFloats> blocks,
		       std::span<const std::byte *const> groups, size_t kernels, int32_t *sums,
		       std::span<const std::byte> ahead)
{
	const bool finite = groups.size() == 1
				    ? sumsOf<1, true>(blocks, groups.data(), kernels, sums, ahead)
				    : sumsOf<2, true>(blocks, groups.data(), kernels, sums, ahead);

	/* Infinities, which are numbers in the MAC cells, and NaNs leave no sum finite. */
	for (size_t group = 0; !finite && group < groups.size(); group++)
		sumsOf<1, false>(blocks, &groups[group], kernels, sums + group * kFewColumns, {});
	return finite && (kKeepsInfinities || areFinite(blocks, groups, kernels));
}

#else

bool floatSumsOfTarget(std::span<const DenseFloats> blocks,
		       std::span<const std::byte *const> groups, size_t kernels, int32_t *sums,
		       std::span<const std::byte>)
{
	denseFloatSumsReference(blocks, groups, kernels, sums);
	return areFinite(blocks, groups, kernels);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(floatSumsOfTarget);

bool denseFloatSums(std::span<const DenseFloats> blocks, std::span<const std::byte *const> groups,
		    size_t kernels, int32_t *sums, std::span<const std::byte> ahead)
{
	return HWY_DYNAMIC_DISPATCH(floatSumsOfTarget)(blocks, groups, kernels, sums, ahead);
}

void denseFloatSumsReference(std::span<const DenseFloats> blocks,
			     std::span<const std::byte *const> groups, size_t kernels,
			     int32_t *sums)
{
	for (const std::byte *group : groups) {
		std::fill_n(sums, kFewColumns, 0);
		for (size_t kernel = 0; kernel < kernels; kernel++) {
			float sum = 0;
			for (const DenseFloats &block : blocks) {
				const size_t before =
					block.before * kernels + kernel * block.elements;
				float weights[kDenseElements];
				widenHalves(group + before * sizeof(uint16_t), block.elements,
					    weights);
				for (size_t i = 0; i < block.elements; i++)
					sum += block.data[i] * weights[i];
			}
			sums[kernel] = std::isnan(sum) ? kFloatNan : std::bit_cast<int32_t>(sum);
		}
		sums += kFewColumns;
	}
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
