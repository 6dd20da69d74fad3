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

/** \brief Shapes of a file's tensors; the file may leave sizes open, or name them */
class FileShapes
{
public:
	/**
	 * \brief Set shapes of inputs; a size holds for all axes of the same name
	 * \throw BrokenRule the errors of givenShapes()
	 */
	void give(std::span<const InputShape> shapes,
		  const std::vector<const pb::ValueInfo *> &inputs);

	/**
	 * \brief The shape of a tensor
	 *
	 * An axis gets the file's size, the given size, the size of another axis of its name, or 1
	 * for the first axis, in this order.
	 *
	 * \param[in] where the tensor, for errors
	 * \throw BrokenRule Unsupported if a size stays open; InvalidArgument if a given one
	 * contradicts the file
	 */
	Extents shapeOf(const pb::ValueInfo &info, const std::string &where);

private:
	std::optional<int64_t> sizeOf(const pb::Dimension &axis, size_t index,
				      const std::vector<uint32_t> *given, const std::string &where);

	GivenShapes given_;
	std::map<std::string, int64_t> sizes_; /* sizes of named axes, by name */
};

} /* namespace nvdla::compiler::onnx */
