/* SPDX-License-Identifier: MIT */
/* GLB, the registers for the whole core: version and interrupts. */
#pragma once

#include <cstdint>

#include "core/geometry.h"

namespace nvdla::sim
{

/**
 * \brief Interrupt status and mask
 *
 * Engines (or S_INTR_SET) set status bits, also masked ones. A mask bit of 1 only keeps the
 * status bit from causing an interrupt.
 */
class Glb
{
public:
	explicit Glb(const Geometry &geometry = nvFull);

	void reset();

	uint32_t read(uint32_t address) const;

	/** \return true if an interrupt message must be sent, see Core::Interrupt */
	bool write(uint32_t address, uint32_t value);

	/**
	 * \brief Set status bits of engines that are done
	 * \return true if one of \a bits is not masked: an interrupt message must be sent
	 */
	bool raise(uint32_t bits);

private:
	bool line() const { return (status_ & ~mask_) != 0; }

	const uint32_t settable_; /* status bits that S_INTR_SET can set */
	uint32_t mask_ = 0;
	uint32_t status_ = 0;
};

} /* namespace nvdla::sim */
