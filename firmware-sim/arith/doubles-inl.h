/* SPDX-License-Identifier: MIT */
/*
 * Integers of 32 bits in vectors of doubles, for files that are compiled once for each instruction
 * set (Highway) that has such vectors. Every sum, product and shift of up to 53 bits is exact.
 */
#include <cstdint>

#include <hwy/highway.h>

/* An include guard that lets the file be included once for each instruction set. */
#if defined(NVDLA_SIM_ARITH_DOUBLES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_ARITH_DOUBLES_INL_H
#undef NVDLA_SIM_ARITH_DOUBLES_INL_H
#else
#define NVDLA_SIM_ARITH_DOUBLES_INL_H
#endif

#if HWY_HAVE_FLOAT64

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace doubles
{

namespace hn = hwy::HWY_NAMESPACE;

/**
 * At most 8 lanes: an atom of 32 bytes, for which the SIMD code is written, has 16 or 32 values,
 * which fill whole vectors
 */
using Tag = hn::CappedTag<double, 8>;
using IntegerTag = hn::Rebind<int32_t, Tag>;
using Vector = hn::Vec<Tag>;
using Mask = hn::Mask<Tag>;

HWY_INLINE Vector constant(double value)
{
	return hn::Set(Tag(), value);
}

HWY_INLINE Vector load(const int32_t *values)
{
	return hn::PromoteTo(Tag(), hn::LoadU(IntegerTag(), values));
}

/** Stores whole numbers, clipped to 32 bits */
HWY_INLINE void store(Vector value, int32_t *out)
{
	hn::StoreU(hn::DemoteTo(IntegerTag(), value), IntegerTag(), out);
}

/** \return the nearest whole numbers, halves rounded away from zero */
HWY_INLINE Vector roundAway(Vector value)
{
	return hn::Trunc(hn::Add(value, hn::CopySign(constant(0.5), value)));
}

HWY_INLINE Vector clip(Vector value, double lowest, double highest)
{
	return hn::Min(hn::Max(value, constant(lowest)), constant(highest));
}

} /* namespace doubles */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* HWY_HAVE_FLOAT64 */

#endif /* once for each instruction set */
