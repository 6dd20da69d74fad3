/* SPDX-License-Identifier: MIT */
/* Lists of operations. Lists of other compilers have no struct nvdla_extended_op_desc. */
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <drm/nvdla_descriptors.h>
#include <nvdla/loadable.h>

namespace nvdla
{

/** \brief Version of the firmware interface for which other compilers make files */
constexpr Version compilersVersion{ 0, 12, 3 };

/** \brief First version whose operations have a struct nvdla_extended_op_desc: this project's */
constexpr Version firstWithExtendedOperations{ 0, 13, 0 };

/**
 * \brief Check whether the compiler ONNC wrote a list
 *
 * ONNC has versions of its own, 1.2.0 and 1.3.0, with the layouts of firmware interface 0.11.
 */
constexpr bool isOnnc(Version version)
{
	return version >= Version{ 1, 0, 0 } && version < Version{ 2, 0, 0 };
}

/** \return true if operations of a list of firmware interface \a version are extended */
constexpr bool hasExtendedOperations(Version version)
{
	return version >= firstWithExtendedOperations && !isOnnc(version);
}

/** \return bytes from operation to operation in a list of firmware interface \a version */
constexpr size_t operationBytes(Version version)
{
	return hasExtendedOperations(version) ? sizeof(nvdla_operation_desc) : NVDLA_OP_DESC_BYTES;
}

/** \return the oldest interface that can express all \a operations */
Version versionFor(std::span<const nvdla_operation_desc> operations);

/** \return the bytes of a list of firmware interface \a version, for a blob */
std::vector<std::byte> operationList(std::span<const nvdla_operation_desc> operations,
				     Version version);

/** \return one operation of a list; members that its interface lacks are zero */
nvdla_operation_desc operationIn(std::span<const std::byte> list, size_t index, Version version);

} /* namespace nvdla */
