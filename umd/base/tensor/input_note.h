/* SPDX-License-Identifier: MIT */
/* Messages about numbers of an input that a network cannot use as they are. */
#pragma once

#include <span>
#include <string>

#include <nvdla/tensor.h>

namespace nvdla
{

/**
 * \brief Count the NaNs that an application passes for an input, and the numbers that an 8- or
 * 16-bit input clips
 * \param[in] type of \a data: float, FP16, int32 and int64 are real numbers, which may be clipped;
 * other types are not checked, because they may be the input's elements already
 * \return text for a message, with the counts, the range of the input and the value that replaces
 * NaNs; empty if there are no such numbers
 */
std::string inputNote(const TensorDesc &input, DataType type, std::span<const std::byte> data);

} /* namespace nvdla */
