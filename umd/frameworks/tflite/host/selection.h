/* SPDX-License-Identifier: MIT */
/*
 * Makes changed copies of TensorFlow Lite files: with fewer operators, or with other shapes.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/host/host_interface.h"

namespace nvdla::host
{

/** \brief Check that all FlatBuffers tables of a file lie inside the file; throws Failure
 * otherwise */
void verifyFile(const void *file, size_t size);

/**
 * \brief Make a file that contains only the selected operators of a file, and pass it to \a take
 *
 * The new file has the tensors and constants that these operators need. If an IF, WHILE or
 * CALL_ONCE is selected, it also has all graphs but the first, unchanged, because these operators
 * execute them. Throws Failure if the file is damaged, or a selected operator does not exist.
 */
void selectOperators(const void *file, size_t size, const nvdla_host_selection &selection,
		     void *context, nvdla_host_take take);

/**
 * \brief Pass a copy of the file to \a take, with other shapes of the first graph's tensors
 * \param[in] shapes new shape of each tensor; the index is that of the tensor
 */
void setShapes(const void *file, size_t size, const std::vector<std::vector<int32_t>> &shapes,
	       void *context, nvdla_host_take take);

} /* namespace nvdla::host */
