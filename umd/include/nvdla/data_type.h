/* SPDX-License-Identifier: MIT */
/*
 * Types of elements.
 */
#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Type of one element; the values are those of loadables */
enum class DataType : uint8_t {
	Unknown = 0,
	Float = 1,
	Half = 2,
	Int16 = 3,
	Int8 = 4,
};

/** \return bytes of an element, 0 for a type that tensors cannot have */
size_t elementBytes(DataType type);

/** \return "int8", "int16", "fp16", "fp32" or "unknown" */
const char *dataTypeName(DataType type);

} /* namespace nvdla */

#pragma GCC visibility pop
