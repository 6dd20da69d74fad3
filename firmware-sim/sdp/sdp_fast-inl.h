/* SPDX-License-Identifier: MIT */
/*
 * SDP's integers in vectors of doubles. Sums have 33 bits, products 49 (Y: 53), and a shift only
 * changes the exponent: every number is exact until it is rounded.
 *
 * Compiled once for each instruction set (Highway), by sdp_simd.cpp.
 */
#include "sdp/sdp_fast.h"

#include "sdp/sdp_line.h"

#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "sdp/sdp_find_line-inl.h"
#include "sdp/sdp_line-inl.h"
#include "sdp/sdp_steps-inl.h"
#include "sdp/sdp_store-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;
using namespace sdp;

bool applyOfTarget(std::span<const SdpStageRun> stages, size_t lanes, std::span<const int32_t> in,
		   std::span<int32_t> out)
{
	Steps steps(lanes, in);
	Results results = { out.data() };

	if (!steps.set(stages))
		return false;
	forEachBlock(steps, results);
	return true;
}

bool storeOfTarget(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		   std::span<const int32_t> in, std::byte *bytes, SdpCounters &counters)
{
	Steps steps(lanes, in);
	Results results = { nullptr, &op, bytes };

	if (!steps.set(stages))
		return false;
	forEachBlock(steps, results);
	results.addTo(counters);
	return true;
}

bool findLineOfTarget(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		      SdpLine &line)
{
	return line::find(op, stages, lanes, line);
}

bool storeLineOfTarget(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages,
		       size_t lanes, std::span<const int32_t> in, double largest,
		       std::span<std::byte> bytes, SdpCounters &counters)
{
	return line::store(op, line, stages, lanes, in, largest, bytes, counters);
}

#else

bool applyOfTarget(std::span<const SdpStageRun>, size_t, std::span<const int32_t>,
		   std::span<int32_t>)
{
	return false;
}

bool storeOfTarget(const SdpOp &, std::span<const SdpStageRun>, size_t, std::span<const int32_t>,
		   std::byte *, SdpCounters &)
{
	return false;
}

bool findLineOfTarget(const SdpOp &, std::span<const SdpStageRun>, size_t, SdpLine &)
{
	return false;
}

bool storeLineOfTarget(const SdpOp &, const SdpLine &, std::span<const SdpStageRun>, size_t,
		       std::span<const int32_t>, double, std::span<std::byte>, SdpCounters &)
{
	return false;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(applyOfTarget);
HWY_EXPORT(storeOfTarget);
HWY_EXPORT(findLineOfTarget);
HWY_EXPORT(storeLineOfTarget);

bool applySdpFast(std::span<const SdpStageRun> stages, size_t lanes, std::span<const int32_t> in,
		  std::span<int32_t> out)
{
	return HWY_DYNAMIC_DISPATCH(applyOfTarget)(stages, lanes, in, out);
}

bool storeSdpFast(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		  std::span<const int32_t> in, std::span<std::byte> bytes, SdpCounters &counters)
{
	if (op.proc == Precision::Fp16 || op.out == Precision::Fp16)
		return false;
	return HWY_DYNAMIC_DISPATCH(storeOfTarget)(op, stages, lanes, in, bytes.data(), counters);
}

bool findSdpLine(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes, SdpLine &line)
{
	if (op.proc == Precision::Fp16 || op.out == Precision::Fp16)
		return false;
	return HWY_DYNAMIC_DISPATCH(findLineOfTarget)(op, stages, lanes, line);
}

bool storeSdpLine(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages,
		  size_t lanes, std::span<const int32_t> in, double largest,
		  std::span<std::byte> bytes, SdpCounters &counters)
{
	return HWY_DYNAMIC_DISPATCH(storeLineOfTarget)(op, line, stages, lanes, in, largest, bytes,
						       counters);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
