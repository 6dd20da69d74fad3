/* SPDX-License-Identifier: MIT */
/*
 * Conversion of elements: bytes in memory or in the convolution buffer, numbers of 16 or 32 bits in
 * the engines.
 */
#pragma once

#include <algorithm>
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
 * \param out an array of int16_t or int32_t
 */
template<typename Numbers>
void widenElements(std::span<const std::byte> raw, Precision precision, Numbers &&out)
{
	if (precision == Precision::Int8)
		std::copy_n(reinterpret_cast<const int8_t *>(raw.data()), out.size(), out.begin());
	else
		std::copy_n(reinterpret_cast<const int16_t *>(raw.data()), out.size(), out.begin());
}

/** \brief Convert numbers to elements in memory: their low 8 or 16 bits */
template<typename Numbers>
void narrowElements(const Numbers &values, Precision precision, std::span<std::byte> out)
{
	if (precision == Precision::Int8)
		std::copy_n(values.begin(), values.size(), reinterpret_cast<int8_t *>(out.data()));
	else
		std::copy_n(values.begin(), values.size(), reinterpret_cast<int16_t *>(out.data()));
}

} /* namespace nvdla::sim */
