/* SPDX-License-Identifier: MIT */
#include "operation_list.h"

#include <algorithm>
#include <cstring>

namespace nvdla
{

namespace
{

bool isExtended(const nvdla_operation_desc &operation)
{
	const nvdla_extended_op_desc &extended = operation.extended;

	return extended.nan_to_zero || extended.pixel_x_offset || extended.reserved;
}

} /* namespace */

Version versionFor(std::span<const nvdla_operation_desc> operations)
{
	return std::ranges::any_of(operations, isExtended) ? firstWithExtendedOperations
							   : compilersVersion;
}

std::vector<std::byte> operationList(std::span<const nvdla_operation_desc> operations,
				     Version version)
{
	const size_t stride = operationBytes(version);
	std::vector<std::byte> bytes(operations.size() * stride);

	for (size_t i = 0; i < operations.size(); i++)
		std::memcpy(&bytes[i * stride], &operations[i], stride);
	return bytes;
}

nvdla_operation_desc operationIn(std::span<const std::byte> list, size_t index, Version version)
{
	const size_t stride = operationBytes(version);
	nvdla_operation_desc operation = {};

	std::memcpy(&operation, list.data() + index * stride, stride);
	return operation;
}

} /* namespace nvdla */
