/* SPDX-License-Identifier: MIT */
/*
 * What differs between configurations of the core.
 */
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/unit.h"

namespace nvdla::sim
{

/**
 * \brief One configuration of the core, chosen at run time
 *
 * Only what registers, scheduling and memories depend on. The engines compute
 * with nv_full's geometry (atoms of 32 bytes, 64 channels by 16 kernels, 16
 * banks of 32 KiB), so that a configuration with another one needs engines of
 * its own first.
 */
struct Variant {
	const char *name;
	uint32_t bdmaSlots; /**< operations that BDMA can queue */
	uint32_t units;	    /**< bit n: unit number n is there */
	size_t cvsramSize;  /**< bytes of on-chip memory behind CVIF, unless configured */

	constexpr bool has(Unit unit) const { return units >> index(unit) & 1; }
};

/** \brief How FP16 convolutions are computed */
enum class Fp16Arithmetic : uint8_t {
	Exact, /**< the hardware's bits */
	Fast,  /**< f32 sums within the precision document's threshold, the same on every host */
};

/** \brief What the convolution buffer has in entries that were released */
enum class ReleasedEntries : uint8_t {
	/** what was there, as on hardware: a program that reads them by mistake finds it */
	Stay,
	/** anything: what nobody but one operation looks at need not be put there */
	MayChange,
};

/** \brief How the convolution pipeline goes about its work */
struct ConvOptions {
	Fp16Arithmetic fp16 = Fp16Arithmetic::Exact;
	ReleasedEntries released = ReleasedEntries::Stay;
};

/**
 * \brief nvdlav1 with all units
 *
 * GEC is described by the register map but is not in the RTL. The size of the
 * CVSRAM is the integrator's choice, not the core's.
 */
constexpr Variant nvFull = {
	.name = "nv_full",
	.bdmaSlots = 20,
	.units = 0x1ffff & ~(1U << index(Unit::Gec)),
	.cvsramSize = 4 << 20,
};

} /* namespace nvdla::sim */
