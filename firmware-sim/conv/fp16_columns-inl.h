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
				Row rows[kColumnsAtOnce];
				for (size_t i = 0; i < kColumnsAtOnce; i++) {
					rows[i] = row(RowTag(),
						      weights + (kernel + i) * kernelBytes +
							      lane * sizeof(int16_t),
						      kColumnsAtOnce * kernelBytes);
					largest = hn::Max(largest,
							  hn::And(rows[i], rowOf(kMagnitude)));
				}
				/* The second half between the first one, three times. */
				shuffle(rows);
				shuffle(rows);
				shuffle(rows);
				for (size_t i = 0; i < kColumnsAtOnce; i++)
					hn::Store(rows[i], RowTag(),
						  numbers + (lane + i) * kFp16Kernels + kernel);
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

	static HWY_INLINE void shuffle(Row (&rows)[kColumnsAtOnce])
	{
		const RowTag tag;
		const Row from[] = { rows[0], rows[1], rows[2], rows[3],
				     rows[4], rows[5], rows[6], rows[7] };

		for (size_t i = 0; i < kColumnsAtOnce / 2; i++) {
			const Row second = from[i + kColumnsAtOnce / 2];
			rows[2 * i] = hn::InterleaveLower(tag, from[i], second);
			rows[2 * i + 1] = hn::InterleaveUpper(tag, from[i], second);
		}
	}
};

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
