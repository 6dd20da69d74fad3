/* SPDX-License-Identifier: MIT */
/*
 * Rows of weights become columns in registers, four elements of all kernels at a time, so that a
 * vector of kernels meets one element after the other.
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

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors of known size, so that there can be arrays of them. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

using FloatTag = hn::Rebind<float, WideTag>;
using FloatVector = hn::Vec<FloatTag>;

/** A block whose elements are whole units of four, for all kernels that a vector may have */
struct PaddedFloats {
	float data[kDenseElements] = {};
	uint16_t weights[kFewColumns][kDenseElements] = {};

	PaddedFloats(const DenseFloats &block, size_t kernels)
	{
		const size_t bytes = block.elements * sizeof(uint16_t);

		std::copy_n(block.data, block.elements, data);
		for (size_t kernel = 0; kernel < kernels; kernel++)
			std::memcpy(weights[kernel], block.weights + kernel * bytes, bytes);
	}
};

/** The sums of all kernels, in registers: indices are constants once inlined */
template<typename Format, size_t... kVector>
struct KernelSums {
	FloatVector sums[sizeof...(kVector)] = { ((void)kVector, hn::Zero(FloatTag()))... };

	HWY_INLINE KernelSums() {} /* an implicit one has no vectors */

	static HWY_INLINE FloatVector multiplyAdd(FloatVector sum, const float *data,
						  const WideUnits &weights)
	{
		const auto add = [&](size_t unit) HWY_ATTR {
			sum = hn::MulAdd(hn::Set(FloatTag(), data[unit]),
					 hn::BitCast(FloatTag(), weights.units[unit]), sum);
		};

		add(0);
		add(1);
		add(2);
		add(3);
		return sum;
	}

	/** \param elements a multiple of four \param step bytes from one kernel to the next */
	HWY_INLINE void add(const float *data, const std::byte *weights, size_t step,
			    size_t elements)
	{
		constexpr size_t kBytes = kUnitsAtOnce * sizeof(uint16_t);

		for (size_t i = 0; i < elements; i += kUnitsAtOnce, weights += kBytes)
			((sums[kVector] = multiplyAdd(
				  sums[kVector], data + i,
				  WideUnits::load<Format>(weights + kVector * kWideKernels * step,
							  step))),
			 ...);
	}

	HWY_INLINE void add(const DenseFloats &block, size_t kernels)
	{
		if (kernels == kFewColumns && block.elements % kUnitsAtOnce == 0) {
			add(block.data, block.weights, block.elements * sizeof(uint16_t),
			    block.elements);
			return;
		}
		const PaddedFloats padded(block, kernels);
		add(padded.data, reinterpret_cast<const std::byte *>(padded.weights),
		    sizeof(padded.weights[0]), kDenseElements);
	}

	/** \return all are finite */
	HWY_INLINE bool areFinite() const
	{
		return (hn::AllTrue(FloatTag(), hn::IsFinite(sums[kVector])) && ...);
	}

	HWY_INLINE void store(int32_t *out) const
	{
		(store(sums[kVector], out + kVector * kWideKernels), ...);
	}

private:
	static HWY_INLINE void store(FloatVector sum, int32_t *out)
	{
		const auto nan = hn::RebindMask(WideTag(), hn::IsNaN(sum));

		hn::StoreU(hn::IfThenElse(nan, hn::Set(WideTag(), kFloatNan),
					  hn::BitCast(WideTag(), sum)),
			   WideTag(), out);
	}
};

/** \return how often something is brought nearer for a block */
HWY_INLINE size_t stepsOf(const DenseFloats &block, size_t kernels)
{
	constexpr size_t kHalvesOfLine = 64 / sizeof(uint16_t);

	return (block.elements * kernels + kHalvesOfLine - 1) / kHalvesOfLine;
}

/** \return true if all sums are finite */
template<typename Format, size_t... kVector>
bool sumsOf(std::span<const DenseFloats> blocks, size_t kernels, int32_t *out, Ahead ahead,
	    std::index_sequence<kVector...>)
{
	KernelSums<Format, kVector...> sums;

	for (const DenseFloats &block : blocks) {
		for (size_t i = ahead.has() ? stepsOf(block, kernels) : 0; i > 0; i--)
			ahead.bring(1);
		sums.add(block, kernels);
	}
	sums.store(out);
	std::fill(out + kernels, out + kFewColumns, 0);
	return sums.areFinite();
}

void floatSumsOfTarget(std::span<const DenseFloats> blocks, size_t kernels, int32_t *sums,
		       std::span<const std::byte> bytesAhead)
{
	constexpr std::make_index_sequence<kFewColumns / kWideKernels> vectors;
	size_t steps = 0;

	for (const DenseFloats &block : blocks)
		steps += stepsOf(block, kernels);
	/* Infinities, which are numbers in the MAC cells, and NaNs leave no sum finite. */
	if (!sumsOf<FiniteFloat>(blocks, kernels, sums, Ahead(bytesAhead, steps), vectors))
		sumsOf<Float>(blocks, kernels, sums, {}, vectors);
}

#else

void floatSumsOfTarget(std::span<const DenseFloats> blocks, size_t kernels, int32_t *sums,
		       std::span<const std::byte>)
{
	denseFloatSumsReference(blocks, kernels, sums);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(floatSumsOfTarget);

void denseFloatSums(std::span<const DenseFloats> blocks, size_t kernels, int32_t *sums,
		    std::span<const std::byte> ahead)
{
	HWY_DYNAMIC_DISPATCH(floatSumsOfTarget)(blocks, kernels, sums, ahead);
}

void denseFloatSumsReference(std::span<const DenseFloats> blocks, size_t kernels, int32_t *sums)
{
	std::fill_n(sums, kFewColumns, 0);
	for (size_t kernel = 0; kernel < kernels; kernel++) {
		float sum = 0;
		for (const DenseFloats &block : blocks) {
			float weights[kDenseElements];
			widenHalves(block.weights + kernel * block.elements * sizeof(uint16_t),
				    block.elements, weights);
			for (size_t i = 0; i < block.elements; i++)
				sum += block.data[i] * weights[i];
		}
		sums[kernel] = std::isnan(sum) ? kFloatNan : std::bit_cast<int32_t>(sum);
	}
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
