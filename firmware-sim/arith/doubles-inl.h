/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic on integers in vectors of doubles, for files that are compiled once for each
 * instruction set (Highway) with such vectors. Results of up to 53 bits are exact.
 */
#include <cstdint>

#include <hwy/highway.h>

/* Include guard that works once per instruction set: HWY_TARGET_TOGGLE changes with each. */
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
 * Vectors of at most 8 lanes: the code is written for atoms of 32 bytes, whose 16 or 32 values
 * fill whole vectors
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
