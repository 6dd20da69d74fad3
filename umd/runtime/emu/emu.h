/* SPDX-License-Identifier: MIT */
/* Operations that run on the CPU. */
#pragma once

#include <cstddef>
#include <span>

#include <nvdla/task.h>

namespace nvdla
{

/**
 * \brief Carry out one CPU operation
 *
 * The computation is in float. An integer element x represents (x - inZero) * inScale. A result y
 * becomes the FP16 number nearest to y, or the integer nearest to y / outScale (halves away from
 * zero) plus outZero, saturated. RESHAPE copies elements unchanged.
 *
 * \param[in] src bytes from the start of the source cube
 * \param[out] dst bytes from the start of the destination cube; may be the same memory as \a src.
 * Unused channels of its last atom become 0; other bytes that hold no element do not change.
 * \return InvalidFile naming the buffer that does not hold its cube
 */
Result<void> runEmu(const EmuOperation &operation, std::span<const std::byte> src,
		    std::span<std::byte> dst);

} /* namespace nvdla */
