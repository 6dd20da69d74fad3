/* SPDX-License-Identifier: MIT */
#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

#include "arith/integer.h"
#include "lut/lut.h"

namespace nvdla::sim
{

/* SDP and CDP have the same fields in these registers. */
static_assert(NVDLA_SDP_S_LUT_CFG__LUT_LE_FUNCTION == NVDLA_CDP_S_LUT_CFG__LUT_LE_FUNCTION);
static_assert(NVDLA_SDP_S_LUT_CFG__LUT_UFLOW_PRIORITY == NVDLA_CDP_S_LUT_CFG__LUT_UFLOW_PRIORITY);
static_assert(NVDLA_SDP_S_LUT_CFG__LUT_OFLOW_PRIORITY == NVDLA_CDP_S_LUT_CFG__LUT_OFLOW_PRIORITY);
static_assert(NVDLA_SDP_S_LUT_CFG__LUT_HYBRID_PRIORITY == NVDLA_CDP_S_LUT_CFG__LUT_HYBRID_PRIORITY);
static_assert(NVDLA_SDP_S_LUT_INFO__LUT_LE_INDEX_OFFSET ==
	      NVDLA_CDP_S_LUT_INFO__LUT_LE_INDEX_OFFSET);
static_assert(NVDLA_SDP_S_LUT_INFO__LUT_LE_INDEX_SELECT ==
	      NVDLA_CDP_S_LUT_INFO__LUT_LE_INDEX_SELECT);
static_assert(NVDLA_SDP_S_LUT_INFO__LUT_LO_INDEX_SELECT ==
	      NVDLA_CDP_S_LUT_INFO__LUT_LO_INDEX_SELECT);
static_assert(NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_OFLOW_SHIFT ==
	      NVDLA_CDP_S_LUT_LO_SLOPE_SHIFT__LUT_LO_SLOPE_OFLOW_SHIFT);
static_assert(NVDLA_SDP_S_LUT_LE_SLOPE_SCALE__LUT_LE_SLOPE_OFLOW_SCALE ==
	      NVDLA_CDP_S_LUT_LO_SLOPE_SCALE__LUT_LO_SLOPE_OFLOW_SCALE);

LutConfig decodeLut(uint32_t config, uint32_t info)
{
	LutConfig lut;

	lut.le.exponential = NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_CFG__LUT_LE_FUNCTION, config) ==
			     NVDLA_SDP_S_LUT_CFG__LUT_LE_FUNCTION__EXPONENT;
	lut.underflowSelectsLo = config & NVDLA_SDP_S_LUT_CFG__LUT_UFLOW_PRIORITY;
	lut.overflowSelectsLo = config & NVDLA_SDP_S_LUT_CFG__LUT_OFLOW_PRIORITY;
	lut.hybridSelectsLo = config & NVDLA_SDP_S_LUT_CFG__LUT_HYBRID_PRIORITY;
	lut.le.indexOffset = static_cast<int8_t>(
		NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_INFO__LUT_LE_INDEX_OFFSET, info));
	lut.le.indexSelect = static_cast<int8_t>(
		NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_INFO__LUT_LE_INDEX_SELECT, info));
	lut.lo.indexSelect = static_cast<int8_t>(
		NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_INFO__LUT_LO_INDEX_SELECT, info));
	return lut;
}

void decodeLutSlopes(LutTableConfig &table, uint32_t scale, uint32_t shift)
{
	const uint32_t low =
		NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_UFLOW_SHIFT, shift);
	const uint32_t high =
		NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_OFLOW_SHIFT, shift);

	table.underflow.scale = static_cast<int16_t>(scale);
	table.overflow.scale = static_cast<int16_t>(scale >> 16);
	table.underflow.shift = static_cast<int8_t>(arith::signExtend<5>(low));
	table.overflow.shift = static_cast<int8_t>(arith::signExtend<5>(high));
}

} /* namespace nvdla::sim */
