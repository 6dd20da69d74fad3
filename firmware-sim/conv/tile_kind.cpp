/* SPDX-License-Identifier: MIT */
/* Finds the fastest multiplication for INT8, for each instruction set (Highway). */

/* Unlike other files, this one is also compiled for hosts with matrix instructions. If Highway may
 * only use a lower target, the result is the fastest kind of that target. */
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | (HWY_AVX3_DL - 1))
#define HWY_WANT_AVX3_DL 1

#include "conv/conv_tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/tile_kind.cpp"
#include <hwy/foreach_target.h>
/* These files are included once for each instruction set, so they follow foreach_target.h. */
#include <hwy/highway.h>

#include "conv/tile_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

TileKind kindOfTarget()
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
	if (hasMatrices())
		return TileKind::Matrices;
#endif
	if (hasVnni())
		return TileKind::Quads;
	if (HWY_TARGET == HWY_AVX2)
		return TileKind::Bytes;
	return HWY_TARGET == HWY_SCALAR ? TileKind::None : TileKind::Pairs;
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(kindOfTarget);

TileKind tileKind()
{
	return HWY_DYNAMIC_DISPATCH(kindOfTarget)();
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
