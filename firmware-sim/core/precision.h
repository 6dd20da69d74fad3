/* SPDX-License-Identifier: MIT */
/*
 * Number formats of the datapath.
 */
#pragma once

#include <cstdint>

namespace nvdla::sim
{

/** \brief Number formats of the datapath; values as in the *_PRECISION register fields */
enum class Precision : uint8_t {
	Int8 = 0,
	Int16 = 1,
	Fp16 = 2,
};

/** \return bytes of one element in memory */
constexpr uint32_t elementBytes(Precision precision)
{
	return precision == Precision::Int8 ? 1 : 2;
}

} /* namespace nvdla::sim */
