/* SPDX-License-Identifier: MIT */
/*
 * Text about numbers of an input that the network gets changed.
 */
#pragma once

#include <span>
#include <string>

#include <nvdla/tensor.h>

namespace nvdla
{

/**
 * \brief Count the NaNs that an application passes for an input, and the numbers that an 8- or
 * 16-bit input clips
 * \param[in] type of the elements in \a data; only float, FP16, int32 and int64 are numbers of an
 * 8- or 16-bit input, other types can be its elements
 * \return clauses with their numbers, the range of the input and what NaNs become; empty if there
 * are none
 */
std::string inputNote(const TensorDesc &input, DataType type, std::span<const std::byte> data);

} /* namespace nvdla */
