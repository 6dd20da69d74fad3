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
 * \brief Describe the NaNs in the data that an application passes for an input
 * \param[in] type of the elements in \a data
 * \return a clause with the number of NaNs and, for an input of integers, what they become; empty
 * without NaNs
 */
std::string nanNote(const TensorDesc &input, DataType type, std::span<const std::byte> data);

} /* namespace nvdla */
