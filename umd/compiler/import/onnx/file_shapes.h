/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

/** \brief Shapes of a file's tensors, some of whose sizes it leaves open or has names for */
class FileShapes
{
public:
	/**
	 * \brief Take sizes of inputs, which hold for all axes of the same names
	 * \return InvalidArgument as givenShapes()
	 */
	Result<void> give(std::span<const InputShape> shapes,
			  const std::vector<const pb::ValueInfo *> &inputs);

	/**
	 * \brief The shape of a tensor
	 *
	 * An axis has the file's size, the given one, that of another axis of its name, or 1 if it
	 * is the first one.
	 *
	 * \param[in] where the tensor, for errors
	 * \return Unsupported if a size stays open; InvalidArgument if given ones are not the
	 * file's
	 */
	Result<Extents> shapeOf(const pb::ValueInfo &info, const std::string &where);

private:
	Result<std::optional<int64_t>> sizeOf(const pb::Dimension &axis, size_t index,
					      const std::vector<uint32_t> *given,
					      const std::string &where);

	GivenShapes given_;
	std::map<std::string, int64_t> sizes_; /* of axes with names */
};

} /* namespace nvdla::compiler::onnx */
