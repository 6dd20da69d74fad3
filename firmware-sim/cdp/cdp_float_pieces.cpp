/* SPDX-License-Identifier: MIT */
/*
 * Products are far from where FP17 ends, and on the way to FP16: only their mantissa is rounded.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "cdp/cdp_float_pieces.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cdp/cdp_float_pieces.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/fp17-inl.h"
#include "lut/float_lut.h"
#include "lut/float_pieces-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
/* The names here are others' as well. */
namespace cdp_float
{

using namespace float_bits;

HWY_INLINE hn::Vec<FloatTag> numbersAt(const int32_t *values)
{
	return asFloat(load(values));
}

/** Squares have 22 bits: in a fused sum they are as they are without it. */
HWY_INLINE hn::Vec<FloatTag> pairOf(const int32_t *center, size_t n)
{
	const auto left = numbersAt(center - n);
	const auto right = numbersAt(center + n);

	return hn::MulAdd(right, right, hn::Mul(left, left));
}

/* From the middle outwards, the pair on both sides first. */
HWY_INLINE hn::Vec<FloatTag> sumOfSquares(const int32_t *center, uint32_t radius)
{
	const auto middle = numbersAt(center);
	auto sum = hn::MulAdd(middle, middle, pairOf(center, 1));

	/* Not a loop, which would be one for each vector. */
	if (radius > 1)
		sum = hn::Add(sum, pairOf(center, 2));
	if (radius > 2)
		sum = hn::Add(sum, pairOf(center, 3));
	if (radius > 3)
		sum = hn::Add(sum, pairOf(center, 4));
	return sum;
}

/** \return how many of \a halves, which are stored, are the largest */
HWY_INLINE size_t store(hn::Vec<HalfTag> halves, uint16_t *out)
{
	const HalfTag tag;
	const auto magnitude = hn::And(halves, hn::Set(tag, 0x7fff));

	hn::StoreU(halves, tag, out);
	return hn::CountTrue(tag, hn::Eq(magnitude, hn::Set(tag, 0x7bff)));
}

/** \tparam kPieces, kFew as of float_pieces::Function */
template<size_t kPieces, bool kFew>
void lookUp(CdpFloatPieces &cdp, const CdpChunk<int32_t> &chunk)
{
	constexpr size_t kLanes = atomChannels(Precision::Fp16);
	const float_pieces::Function<kPieces, kFew> function(cdp.pieces);
	const uint32_t radius = cdp.radius;
	const bool multiplies = cdp.multiplies;
	const size_t length = chunk.channels;
	size_t saturated = 0;

	for (size_t n = 0; n < chunk.positions; n++) {
		const int32_t *values = chunk.values + n * chunk.valueStep;
		std::byte *atoms = chunk.atoms + n * atomBytes;

		for (size_t i = 0; i < length; i += hn::Lanes(Tag())) {
			auto *out = reinterpret_cast<uint16_t *>(atoms +
								 i / kLanes * chunk.surfaceBytes) +
				    i % kLanes;
			Bits result = function(sumOfSquares(values + i, radius));
			if (multiplies)
				result = fp17::roundedMantissa(
					asBits(hn::Mul(numbersAt(values + i), asFloat(result))));
			saturated += store(narrowFinite(result), out);
		}
	}
	cdp.saturation += static_cast<uint32_t>(saturated);
}

template<bool kFew>
void lookUpAll(CdpFloatPieces &cdp, const CdpChunk<int32_t> &chunk)
{
	switch (cdp.pieces.count) {
	case 1:
		return lookUp<1, kFew>(cdp, chunk);
	case 2:
		return lookUp<2, kFew>(cdp, chunk);
	case 3:
		return lookUp<3, kFew>(cdp, chunk);
	default:
		return lookUp<FloatPieces::kMost, kFew>(cdp, chunk);
	}
}

} /* namespace cdp_float */

void cdpFloatPiecesOfTarget(CdpFloatPieces &cdp, const CdpChunk<int32_t> &chunk)
{
	if (cdp.pieces.pairCount <= FloatPieces::kFew)
		cdp_float::lookUpAll<true>(cdp, chunk);
	else
		cdp_float::lookUpAll<false>(cdp, chunk);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(cdpFloatPiecesOfTarget);

std::optional<CdpFloatPieces> CdpFloatPieces::of(const CdpOp &op, const LutTables &tables)
{
	constexpr float kHighest = 0x1p68F; /* nine squares of FP17's largest number are below */

	if (op.squareSumBypass || op.countsLut || !FloatLut::accepts(op.lut, tables))
		return std::nullopt;
	const auto pieces = FloatPieces::of(op.lut, tables, kHighest);
	if (!pieces)
		return std::nullopt;
	return CdpFloatPieces{ .radius = op.radius,
			       .multiplies = !op.mulBypass,
			       .pieces = *pieces };
}

void cdpFloatPiecesChunk(CdpFloatPieces &cdp, const CdpChunk<int32_t> &chunk)
{
	HWY_DYNAMIC_DISPATCH(cdpFloatPiecesOfTarget)(cdp, chunk);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
