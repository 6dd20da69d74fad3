/* SPDX-License-Identifier: MIT */
/* Fields of a RegisterView by register and field name, such as (SDP_D_CVT_SHIFT, CVT_SHIFT).
 * COUNT() is for fields that hold a number minus 1. */
#pragma once

#include "core/cube.h"
#include "core/register_view.h"

#define FIELD(view, reg, name) ((view).field(NVDLA_##reg, NVDLA_##reg##__##name))
#define COUNT(view, reg, name) (FIELD(view, reg, name) + 1)
#define FLAG(view, reg, name) ((view).flag(NVDLA_##reg, NVDLA_##reg##__##name))
#define SIGNED(view, reg, name) ((view).signedField(NVDLA_##reg, NVDLA_##reg##__##name))

/** CubeRegisters: names begin with \a cube; register \a cube \a config has the RAM type, \a ram */
#define CUBE(cube, config, ram)                                                                    \
	nvdla::sim::CubeRegisters                                                                  \
	{                                                                                          \
		NVDLA_##cube##config, NVDLA_##cube##config##__##ram, NVDLA_##cube##BASE_ADDR_HIGH, \
			NVDLA_##cube##BASE_ADDR_LOW, NVDLA_##cube##LINE_STRIDE,                    \
			NVDLA_##cube##SURFACE_STRIDE                                               \
	}
