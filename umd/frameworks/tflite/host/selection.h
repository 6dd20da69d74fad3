/* SPDX-License-Identifier: MIT */
/*
 * Some operators of a TensorFlow Lite file as a file of their own.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/host/host_interface.h"

namespace nvdla::host
{

/** \brief Check that all tables of a file lie inside it; throws Failure otherwise */
void verifyFile(const void *file, size_t size);

/**
 * \brief Write a file that contains only the selected operators
 *
 * The file has the tensors and constants that these operators need. Graphs that IF, WHILE and
 * CALL_ONCE name are copied whole. Throws Failure if a selected operator does not exist.
 */
void selectOperators(const void *file, size_t size, const nvdla_host_selection &selection,
		     void *context, nvdla_host_take take);

/**
 * \brief Hand out the file with other shapes of its first graph's tensors
 * \param[in] shapes one for each tensor
 */
void setShapes(const void *file, size_t size, const std::vector<std::vector<int32_t>> &shapes,
	       void *context, nvdla_host_take take);

} /* namespace nvdla::host */
