// SPDX-License-Identifier: MIT
#include "table_in_c.h"

/* First and alone, to show that the headers need no others. */
#include "nvdla/hw/register_table.h"
#include "nvdla/hw/registers.h"
#include "nvdla/hw/field.h"

_Static_assert(NVDLA_FIELD_GET(NVDLA_SDP_D_DATA_FORMAT__OUT_PRECISION, 0x8U) ==
		       NVDLA_SDP_D_DATA_FORMAT__OUT_PRECISION__FP16,
	       "fields are constant expressions in C");

unsigned int registers_seen_by_c(void)
{
	unsigned int count = 0;
	unsigned int unit;

	for (unit = 0; unit < NVDLA_UNIT_COUNT; unit++)
		count += nvdla_units[unit].count;

	return count;
}

unsigned int data_format_built_by_c(void)
{
	return NVDLA_FIELD_PREP(NVDLA_SDP_D_DATA_FORMAT__PROC_PRECISION,
				NVDLA_SDP_D_DATA_FORMAT__PROC_PRECISION__INT16) |
	       NVDLA_FIELD_PREP(NVDLA_SDP_D_DATA_FORMAT__OUT_PRECISION,
				NVDLA_SDP_D_DATA_FORMAT__OUT_PRECISION__FP16);
}
