/* SPDX-License-Identifier: MIT */
/*
 * Constants of which a file only has the elements that are not zero.
 */
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiler/import/tflite/file.h"
#include "compiler/ir/model.h"

namespace nvdla::compiler::tflite
{

/**
 * \brief Put the elements of a sparse constant where they belong, zeros elsewhere
 * \param[in] elements those that the file has, of \a bytes each
 * \param[in] shape of the whole constant
 * \return the bytes of all elements; InvalidFile if the places do not lie in the shape
 */
Result<std::vector<std::byte>> densified(const fb::SparsityParameters &sparsity,
					 std::span<const std::byte> elements, size_t bytes,
					 const Extents &shape, const std::string &where);

} /* namespace nvdla::compiler::tflite */
