/* SPDX-License-Identifier: MIT */
/*
 * Conversion of a feature cube's elements: bytes in memory, 32-bit numbers in the engines.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/stream.h"

namespace nvdla::sim
{

/**
 * \brief Convert elements in memory, little-endian, to numbers
 *
 * Integers are sign-extended; an FP16 number's 16 bits are sign-extended like
 * those of an integer.
 *
 * \param raw at least out.size() elements
 */
inline void widenElements(std::span<const std::byte> raw, Precision precision,
			  std::span<int32_t> out)
{
	if (precision == Precision::Int8) {
		for (size_t i = 0; i < out.size(); i++)
			out[i] = static_cast<int8_t>(raw[i]);
		return;
	}
	for (size_t i = 0; i < out.size(); i++)
		out[i] = static_cast<int16_t>(static_cast<uint16_t>(raw[2 * i]) |
					      static_cast<uint16_t>(raw[2 * i + 1]) << 8);
}

/** \brief Convert numbers to elements in memory: their low 8 or 16 bits */
inline void narrowElements(std::span<const int32_t> values, Precision precision,
			   std::span<std::byte> out)
{
	if (precision == Precision::Int8) {
		for (size_t i = 0; i < values.size(); i++)
			out[i] = static_cast<std::byte>(values[i]);
		return;
	}
	for (size_t i = 0; i < values.size(); i++) {
		out[2 * i] = static_cast<std::byte>(values[i]);
		out[2 * i + 1] = static_cast<std::byte>(values[i] >> 8);
	}
}

} /* namespace nvdla::sim */
