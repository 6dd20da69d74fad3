/* SPDX-License-Identifier: MIT */
/*
 * The weights of a block by lanes instead of by kernels, for files that are compiled once for each
 * instruction set (Highway).
 */
#include <cstring>

#include "conv/fp16_data-inl.h"

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

/** Vectors of as many numbers in each 128 bits; an array of them would be in memory */
struct Eight {
	Row a, b, c, d, e, f, g, h;

	/** \return the second half between the first one: done three times, rows are columns */
	HWY_INLINE Eight shuffled() const
	{
		const RowTag tag;
		return { hn::InterleaveLower(tag, a, e), hn::InterleaveUpper(tag, a, e),
			 hn::InterleaveLower(tag, b, f), hn::InterleaveUpper(tag, b, f),
			 hn::InterleaveLower(tag, c, g), hn::InterleaveUpper(tag, c, g),
			 hn::InterleaveLower(tag, d, h), hn::InterleaveUpper(tag, d, h) };
	}

	/** \return numbers of the largest magnitude */
	HWY_INLINE Row largest() const
	{
		return hn::Max(hn::Max(hn::Max(magnitude(a), magnitude(b)),
				       hn::Max(magnitude(c), magnitude(d))),
			       hn::Max(hn::Max(magnitude(e), magnitude(f)),
				       hn::Max(magnitude(g), magnitude(h))));
	}

	HWY_INLINE void store(int16_t *out) const
	{
		const RowTag tag;
		hn::Store(a, tag, out);
		hn::Store(b, tag, out + kFp16Kernels);
		hn::Store(c, tag, out + 2 * kFp16Kernels);
		hn::Store(d, tag, out + 3 * kFp16Kernels);
		hn::Store(e, tag, out + 4 * kFp16Kernels);
		hn::Store(f, tag, out + 5 * kFp16Kernels);
		hn::Store(g, tag, out + 6 * kFp16Kernels);
		hn::Store(h, tag, out + 7 * kFp16Kernels);
	}

private:
	static HWY_INLINE Row magnitude(Row numbers) { return hn::And(numbers, rowOf(kMagnitude)); }
};

/** FP16 numbers of a block: of each lane those of all kernels, zeroes behind them */
struct Columns {
	alignas(64) int16_t numbers[kMacLanes * kFp16Kernels];
	bool anyNan = false;

	/** \param weights \a kernels times \a lanes numbers */
	HWY_INLINE Columns(const std::byte *weights, size_t kernels, size_t lanes)
	{
		if (kernels == kFp16Kernels && lanes % kColumnsAtOnce == 0) {
			transpose(weights, lanes);
			return;
		}
		int16_t padded[kFp16Kernels][kMacLanes] = {};
		for (size_t kernel = 0; kernel < kernels; kernel++)
			std::memcpy(padded[kernel], weights + kernel * lanes * sizeof(int16_t),
				    lanes * sizeof(int16_t));
		transpose(reinterpret_cast<const std::byte *>(padded), kMacLanes);
	}

private:
	static constexpr size_t kColumnsAtOnce = 8;

	void transpose(const std::byte *weights, size_t lanes)
	{
		const size_t kernelBytes = lanes * sizeof(int16_t);
		Row largest = hn::Zero(RowTag());

		for (size_t lane = 0; lane < lanes; lane += kColumnsAtOnce)
			for (size_t kernel = 0; kernel < kFp16Kernels; kernel += kRowLanes) {
				const auto load = [&](size_t i) HWY_ATTR {
					return row(RowTag(),
						   weights + (kernel + i) * kernelBytes +
							   lane * sizeof(int16_t),
						   kColumnsAtOnce * kernelBytes);
				};
				const Eight rows = { load(0), load(1), load(2), load(3),
						     load(4), load(5), load(6), load(7) };
				largest = hn::Max(largest, rows.largest());
				rows.shuffled().shuffled().shuffled().store(
					numbers + lane * kFp16Kernels + kernel);
			}
		anyNan = hasNan(largest);
	}

	/** \return eight numbers of a kernel, in the upper half those of the kernel eight further
	 */
	template<typename Tag>
	static HWY_INLINE hn::Vec<Tag> row(Tag tag, const std::byte *from, size_t further)
	{
		if constexpr (kRowLanes == kColumnsAtOnce) {
			return hn::LoadU(tag, reinterpret_cast<const int16_t *>(from));
		} else {
			const hn::Half<Tag> half;
			const auto load = [&](const std::byte *at) HWY_ATTR {
				return hn::LoadU(half, reinterpret_cast<const int16_t *>(at));
			};
			return hn::Combine(tag, load(from + further), load(from));
		}
	}
};

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
