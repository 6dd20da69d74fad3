/* SPDX-License-Identifier: MIT */
/*
 * The weights of a block by lanes instead of by kernels, for files that are compiled once for each
 * instruction set (Highway).
 */
#include <cstring>

#include "conv/fp16_data-inl.h"
#include "core/aligned.h"
#include "core/bring_ahead.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CONV_FP16_COLUMNS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_FP16_COLUMNS_INL_H
#undef NVDLA_SIM_CONV_FP16_COLUMNS_INL_H
#else
#define NVDLA_SIM_CONV_FP16_COLUMNS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors of a known size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

/* Vectors of the kernels of one group. */
using GroupTag = hn::CappedTag<int16_t, kFp16Kernels>;
using GroupRow = hn::Vec<GroupTag>;
constexpr size_t kGroupLanes = hn::MaxLanes(GroupTag());
/* Numbers from one lane to the next. */
constexpr size_t kLaneStep = sizeof(Fp16Lane) / sizeof(int16_t);

/** Vectors of as many numbers in each 128 bits; an array of them would be in memory */
struct Eight {
	GroupRow a, b, c, d, e, f, g, h;

	/** \return the second half between the first one: done three times, rows are columns */
	HWY_INLINE Eight shuffled() const
	{
		const GroupTag tag;
		return { hn::InterleaveLower(tag, a, e), hn::InterleaveUpper(tag, a, e),
			 hn::InterleaveLower(tag, b, f), hn::InterleaveUpper(tag, b, f),
			 hn::InterleaveLower(tag, c, g), hn::InterleaveUpper(tag, c, g),
			 hn::InterleaveLower(tag, d, h), hn::InterleaveUpper(tag, d, h) };
	}

	HWY_INLINE void store(int16_t *out) const
	{
		const GroupTag tag;
		hn::Store(a, tag, out);
		hn::Store(b, tag, out + kLaneStep);
		hn::Store(c, tag, out + 2 * kLaneStep);
		hn::Store(d, tag, out + 3 * kLaneStep);
		hn::Store(e, tag, out + 4 * kLaneStep);
		hn::Store(f, tag, out + 5 * kLaneStep);
		hn::Store(g, tag, out + 6 * kLaneStep);
		hn::Store(h, tag, out + 7 * kLaneStep);
	}
};

constexpr size_t kColumnsAtOnce = 8;

/** \return eight numbers of a kernel, in the upper half those of the kernel eight further */
template<typename Tag>
HWY_INLINE hn::Vec<Tag> kernelsAt(Tag tag, const std::byte *from, size_t further)
{
	if constexpr (hn::MaxLanes(Tag()) == kColumnsAtOnce) {
		return hn::LoadU(tag, reinterpret_cast<const int16_t *>(from));
	} else {
		const hn::Half<Tag> half;
		const auto load = [&](const std::byte *at) HWY_ATTR {
			return hn::LoadU(half, reinterpret_cast<const int16_t *>(at));
		};
		return hn::Combine(tag, load(from + further), load(from));
	}
}

/** Whether some of the numbers that it has seen are infinite or NaNs */
struct Extremes {
	using Unsigned = hn::RebindToUnsigned<GroupTag>;

	/* As integers: without a sign, negative numbers are above all others. */
	GroupRow most = hn::Zero(GroupTag());
	hn::Vec<Unsigned> mostNegative = hn::Zero(Unsigned());

	HWY_INLINE Extremes() {} /* an implicit one has no vectors */

	HWY_INLINE void see(GroupRow numbers)
	{
		most = hn::Max(most, numbers);
		mostNegative = hn::Max(mostNegative, hn::BitCast(Unsigned(), numbers));
	}

	HWY_INLINE bool areFinite() const
	{
		constexpr uint16_t kNegative = 0x8000;
		const Unsigned tag;
		return hn::AllTrue(GroupTag(), hn::Lt(most, hn::Set(GroupTag(), kInfinity))) &&
		       hn::AllTrue(tag, hn::Lt(mostNegative, hn::Set(tag, kNegative | kInfinity)));
	}
};

/**
 * \brief Of each lane the numbers of a group, kLaneStep further in \a out for each
 * \param weights kFp16Kernels times \a lanes numbers, a multiple of eight
 * \return all are finite
 */
HWY_INLINE bool transpose(const std::byte *weights, size_t lanes, int16_t *out)
{
	constexpr size_t kLaneBytes = kFp16Kernels * sizeof(int16_t);
	const size_t kernelBytes = lanes * sizeof(int16_t);
	Extremes extremes;

	for (size_t lane = 0; lane < lanes; lane += kColumnsAtOnce) {
		/* As many lines as these lanes are, one behind the other. */
		for (size_t line = 0; line < kColumnsAtOnce * kLaneBytes; line += kLineBytes)
			bringAhead(weights + lane * kLaneBytes + line);
		for (size_t kernel = 0; kernel < kFp16Kernels; kernel += kGroupLanes) {
			const auto load = [&](size_t i) HWY_ATTR {
				const GroupRow row =
					kernelsAt(GroupTag(),
						  weights + (kernel + i) * kernelBytes +
							  lane * sizeof(int16_t),
						  kColumnsAtOnce * kernelBytes);
				extremes.see(row);
				return row;
			};
			const Eight rows = { load(0), load(1), load(2), load(3),
					     load(4), load(5), load(6), load(7) };
			rows.shuffled().shuffled().shuffled().store(out + lane * kLaneStep +
								    kernel);
		}
	}
	return extremes.areFinite();
}

/** The same of any number of kernels and lanes, with zeroes behind them */
inline bool transposePadded(const std::byte *weights, size_t kernels, size_t lanes, int16_t *out)
{
	int16_t padded[kFp16Kernels][kMacLanes] = {};

	for (size_t kernel = 0; kernel < kernels; kernel++)
		std::memcpy(padded[kernel], weights + kernel * lanes * sizeof(int16_t),
			    lanes * sizeof(int16_t));
	return transpose(reinterpret_cast<const std::byte *>(padded), kMacLanes, out);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
