/* SPDX-License-Identifier: MIT */
#include "descriptors.h"

#include <algorithm>

namespace nvdla::assembly
{

static_assert(Lut::leCount == NVDLA_LUT_LE_ENTRIES && Lut::loCount == NVDLA_LUT_LO_ENTRIES);

namespace
{

nvdla_lut_slope slopeDescriptor(const LutSlope &slope)
{
	nvdla_lut_slope desc = {};

	desc.field.scale = slope.scale;
	desc.field.shifter = slope.shift;
	return desc;
}

__u8 priority(bool selectsLo)
{
	return selectsLo ? NVDLA_LUT_PRIORITY_LO : NVDLA_LUT_PRIORITY_LE;
}

} /* namespace */

nvdla_cvt_param descriptor(const Converter &converter)
{
	return { converter.scale, converter.shift, 1, converter.offset };
}

nvdla_lut_desc descriptor(const Lut &lut)
{
	nvdla_lut_desc desc = {};

	std::copy(lut.le.entries.begin(), lut.le.entries.end(), desc.le_table);
	std::copy(lut.lo.entries.begin(), lut.lo.entries.end(), desc.lo_table);
	desc.method = lut.exponential ? NVDLA_LUT_EXPONENTIAL : NVDLA_LUT_LINEAR;
	desc.le_offset.field.value = lut.le.step;
	desc.lo_offset.field.value = lut.lo.step;
	desc.le_start = static_cast<__u64>(lut.le.start);
	desc.le_end = static_cast<__u64>(lut.le.end);
	desc.lo_start = static_cast<__u64>(lut.lo.start);
	desc.lo_end = static_cast<__u64>(lut.lo.end);
	desc.le_underflow = slopeDescriptor(lut.le.underflow);
	desc.le_overflow = slopeDescriptor(lut.le.overflow);
	desc.lo_underflow = slopeDescriptor(lut.lo.underflow);
	desc.lo_overflow = slopeDescriptor(lut.lo.overflow);
	desc.hybrid_priority = priority(lut.hybridSelectsLo);
	desc.underflow_priority = priority(lut.underflowSelectsLo);
	desc.overflow_priority = priority(lut.overflowSelectsLo);
	return desc;
}

nvdla_event descriptor(OperationEvent event)
{
	switch (event) {
	case OperationEvent::Programmed:
		return NVDLA_EVENT_OP_PROGRAMMED;
	case OperationEvent::Enabled:
		return NVDLA_EVENT_OP_ENABLED;
	case OperationEvent::WeightsFetched:
		return NVDLA_EVENT_CDMA_WT_DONE;
	case OperationEvent::DataFetched:
		return NVDLA_EVENT_CDMA_DT_DONE;
	case OperationEvent::Completed:
		break;
	}
	return NVDLA_EVENT_OP_COMPLETED;
}

} /* namespace nvdla::assembly */
