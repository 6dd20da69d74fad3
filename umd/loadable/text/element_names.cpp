/* SPDX-License-Identifier: MIT */
#include <nvdla/tensor.h>

#include "base/number/element_functions.h"
#include "names.h"

namespace nvdla::text
{

std::string elementFunctionName(uint64_t function)
{
	const auto *info = findElementFunction(static_cast<unsigned>(function));
	return info ? info->name : "";
}

std::string elementTypeName(uint64_t type)
{
	constexpr uint64_t types = static_cast<uint64_t>(DataType::Int8) + 1;
	return type < types ? dataTypeName(static_cast<DataType>(type)) : "";
}

} /* namespace nvdla::text */
