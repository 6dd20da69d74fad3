/* SPDX-License-Identifier: MIT */
/*
 * A feature cube in memory, as SDP, PDP and CDP read and write it.
 */
#pragma once

#include <cstdint>

#include "core/geometry.h"
#include "core/placement.h"
#include "core/register_view.h"

namespace nvdla::sim
{

/** \brief Place of a cube in memory; address and strides in bytes, multiples of an atom */
struct FeatureCube {
	RamType ram = RamType::Mc;
	uint64_t address = 0;
	uint32_t lineStride = 0;
	uint32_t surfaceStride = 0;
	uint32_t batchStride = 0; /**< SDP's destination only */

	/** \return the address of a byte of a line of a surface, in the first cube of a batch */
	uint64_t addressOf(uint64_t surface, uint64_t y, uint64_t byte) const
	{
		return address + surface * surfaceStride + y * lineStride + byte;
	}

	/**
	 * \return the bytes of one cube of a batch, for overlap checks
	 * \param lineBytes bytes of a line of a surface
	 */
	Placement placement(uint64_t lineBytes, uint32_t lines, uint32_t surfaces) const
	{
		return { .ram = ram,
			 .address = address,
			 .lineBytes = lineBytes,
			 .lines = { lines, lineStride },
			 .surfaces = { surfaces, surfaceStride } };
	}
};

/** \brief CSB addresses of the registers that describe a cube */
struct CubeRegisters {
	uint32_t ram;	  /**< register that has the RAM type field */
	uint32_t ramType; /**< mask of this one-bit field in the register */
	uint32_t addressHigh;
	uint32_t addressLow;
	uint32_t lineStride;
	uint32_t surfaceStride;
};

/** \return the cube that \a registers describe; without a batch stride */
inline FeatureCube decodeCube(const RegisterView &view, const CubeRegisters &registers,
			      const Geometry &geometry)
{
	return {
		.ram = static_cast<RamType>(view.field(registers.ram, registers.ramType)),
		.address = geometry.wholeAtoms(
			view.address64(registers.addressHigh, registers.addressLow)),
		.lineStride = geometry.wholeAtoms(view[registers.lineStride]),
		.surfaceStride = geometry.wholeAtoms(view[registers.surfaceStride]),
	};
}

} /* namespace nvdla::sim */
