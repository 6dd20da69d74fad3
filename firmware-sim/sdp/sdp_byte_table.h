/* SPDX-License-Identifier: MIT */
/*
 * SDP from INT8 to INT8 as what becomes of each of 256 numbers.
 */
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace nvdla::sim
{

/** \brief What each byte becomes; bytes are numbers without a sign here */
using SdpByteTable = std::array<std::byte, 256>;

/**
 * \brief \a out of \a in, whole atoms
 * \return true if one of \a out is not zero
 */
bool lookUpSdpBytes(const SdpByteTable &table, std::span<const std::byte> in,
		    std::span<std::byte> out);

} /* namespace nvdla::sim */
