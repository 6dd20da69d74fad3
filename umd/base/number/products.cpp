/* SPDX-License-Identifier: MIT */
/*
 * Vector code for the Highway library, which compiles this file once for each instruction set.
 */
#include "products.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/number/products.cpp"
#include <hwy/foreach_target.h>
/* Highway requires this header after foreach_target.h. */
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nvdla
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/*
 * Adds the products of one vector of kernels, from kernel \a k on. Their sums stay in registers.
 * Products are rounded before they are added (no fused multiply-add), so that all instruction sets
 * have the same results.
 */
template<typename Tag>
void addToVector(Tag tag, const ProductInputs &from, const ProductSums &sums, const float *rows,
		 uint32_t channels, uint32_t kernels, uint32_t k)
{
	auto first = hn::LoadU(tag, sums[0] + k), second = hn::LoadU(tag, sums[1] + k);
	auto third = hn::LoadU(tag, sums[2] + k), fourth = hn::LoadU(tag, sums[3] + k);
	const float *row = rows + k;

	static_assert(pixelsAtOnce == 4);
	for (uint32_t c = 0; c < channels; c++, row += kernels) {
		const auto factors = hn::LoadU(tag, row);
		first = hn::Add(first, hn::Mul(hn::Set(tag, from[0][c]), factors));
		second = hn::Add(second, hn::Mul(hn::Set(tag, from[1][c]), factors));
		third = hn::Add(third, hn::Mul(hn::Set(tag, from[2][c]), factors));
		fourth = hn::Add(fourth, hn::Mul(hn::Set(tag, from[3][c]), factors));
	}
	hn::StoreU(first, tag, sums[0] + k);
	hn::StoreU(second, tag, sums[1] + k);
	hn::StoreU(third, tag, sums[2] + k);
	hn::StoreU(fourth, tag, sums[3] + k);
}

void addProductsOfTarget(const ProductInputs &from, const ProductSums &sums, const float *rows,
			 uint32_t channels, uint32_t kernels)
{
	const hn::ScalableTag<float> whole;
	const hn::CappedTag<float, 4> part;
	const hn::CappedTag<float, 1> one;
	const auto wide = static_cast<uint32_t>(hn::Lanes(whole));
	const auto narrow = static_cast<uint32_t>(hn::Lanes(part));
	uint32_t k = 0;

	for (; k + wide <= kernels; k += wide)
		addToVector(whole, from, sums, rows, channels, kernels, k);
	for (; k + narrow <= kernels; k += narrow)
		addToVector(part, from, sums, rows, channels, kernels, k);
	for (; k < kernels; k++)
		addToVector(one, from, sums, rows, channels, kernels, k);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla
{

HWY_EXPORT(addProductsOfTarget);

void addProducts(const ProductInputs &from, const ProductSums &sums, const float *rows,
		 uint32_t channels, uint32_t kernels)
{
	HWY_DYNAMIC_DISPATCH(addProductsOfTarget)(from, sums, rows, channels, kernels);
}

} /* namespace nvdla */

#endif /* HWY_ONCE */
