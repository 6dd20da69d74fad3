/* SPDX-License-Identifier: MIT */
#include "core/glb.h"

#include <nvdla/hw/registers.h>

#include "core/register_table.h"

namespace nvdla::sim
{

Glb::Glb(const Geometry &geometry)
	: settable_(geometry.adapt(NVDLA_GLB_S_INTR_SET, *registerInfo(NVDLA_GLB_S_INTR_SET))
			    .writeMask)
{
}

void Glb::reset()
{
	mask_ = registerInfo(NVDLA_GLB_S_INTR_MASK)->reset;
	status_ = registerInfo(NVDLA_GLB_S_INTR_STATUS)->reset;
}

uint32_t Glb::read(uint32_t address) const
{
	switch (address) {
	case NVDLA_GLB_S_NVDLA_HW_VERSION:
		return registerInfo(address)->reset;
	case NVDLA_GLB_S_INTR_MASK:
		return mask_;
	case NVDLA_GLB_S_INTR_STATUS:
		return status_;
	default:
		return 0;
	}
}

bool Glb::write(uint32_t address, uint32_t value)
{
	switch (address) {
	case NVDLA_GLB_S_INTR_MASK:
		mask_ = value & registerInfo(address)->writeMask;
		return line();
	case NVDLA_GLB_S_INTR_SET:
		return raise(value & settable_);
	case NVDLA_GLB_S_INTR_STATUS:
		status_ &= ~value;
		return line();
	default:
		return false;
	}
}

bool Glb::raise(uint32_t bits)
{
	status_ |= bits;
	return (bits & ~mask_) != 0;
}

} /* namespace nvdla::sim */
