/* SPDX-License-Identifier: MIT */
/*
 * Text about NaNs in the data of an input.
 */
#pragma once

#include <span>
#include <string>

#include <nvdla/tensor.h>

namespace nvdla
{

/**
 * \brief Count the NaNs that an application passes for an input
 * \param[in] type of the elements in \a data
 * \return a clause with their number and, for an input of integers, what they become; empty if
 * there is none
 */
std::string nanNote(const TensorDesc &input, DataType type, std::span<const std::byte> data);

} /* namespace nvdla */
