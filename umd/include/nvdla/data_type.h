/* SPDX-License-Identifier: MIT */
/* Types of elements. */
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
	/* Extensions of the file format: types of tensors with which only a library of the host
	 * computes (PixelFormat::Plain). */
	Int32 = 32,
	Int64 = 33,
	Bool = 34, /**< a byte, 0 or 1 */
	UInt8 = 35,
};

/** \return bytes of an element, 0 for a type that tensors cannot have */
size_t elementBytes(DataType type);

/** \return "int8", "int16", "fp16", "fp32", "int32", "int64", "bool", "uint8" or "unknown" */
const char *dataTypeName(DataType type);

} /* namespace nvdla */

#pragma GCC visibility pop
