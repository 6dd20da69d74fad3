/* SPDX-License-Identifier: MIT */
#include "file_shapes.h"

#include <fmt/core.h>

namespace nvdla::compiler::onnx
{

namespace
{

/* The shape as a user would give it, such as "1x3x?x?", with ? for open axes. */
std::string openShape(const pb::TensorType &tensor)
{
	std::string text;

	for (const pb::Dimension &axis : tensor.shape().dim())
		text += (text.empty() ? "" : "x") +
			(axis.dim_value() > 0 ? std::to_string(axis.dim_value()) : "?");
	return text;
}

} /* namespace */

void FileShapes::give(std::span<const InputShape> shapes,
		      const std::vector<const pb::ValueInfo *> &inputs)
{
	std::vector<std::string> names;

	for (const pb::ValueInfo *input : inputs)
		names.push_back(input->name());
	given_ = valueOf(givenShapes(shapes, names));
	for (const pb::ValueInfo *input : inputs) {
		const auto &axes = input->type().tensor_type().shape().dim();
		const auto sizes = given_.find(input->name());
		for (size_t i = 0; sizes != given_.end() && i < sizes->second.size(); i++) {
			const auto axis = static_cast<int>(i);
			if (axis < axes.size() && !axes[axis].dim_param().empty())
				sizes_.emplace(axes[axis].dim_param(), sizes->second[i]);
		}
	}
}

std::optional<int64_t> FileShapes::sizeOf(const pb::Dimension &axis, size_t index,
					  const std::vector<uint32_t> *given,
					  const std::string &where)
{
	const int64_t inFile = axis.dim_value();
	std::optional<int64_t> size;

	if (axis.has_dim_value() && inFile == 0)
		refuse(ErrorCode::Unsupported, reading, where,
		       fmt::format("has no elements along axis {}", index));
	if (given && inFile > 0 && inFile != (*given)[index])
		refuse(ErrorCode::InvalidArgument, reading, where,
		       fmt::format("has {} along axis {} in the file, {} are given", inFile, index,
				   (*given)[index]));
	if (inFile > 0)
		return inFile;
	if (given)
		size = (*given)[index];
	else if (const auto known = sizes_.find(axis.dim_param()); known != sizes_.end())
		size = known->second;
	else if (index == 0)
		size = 1; /* a batch */
	if (size && !axis.dim_param().empty())
		sizes_.emplace(axis.dim_param(), *size);
	return size;
}

Extents FileShapes::shapeOf(const pb::ValueInfo &info, const std::string &where)
{
	const pb::TensorType &tensor = info.type().tensor_type();
	const auto found = given_.find(info.name());
	const std::vector<uint32_t> *given = found == given_.end() ? nullptr : &found->second;
	const pb::Dimension open;
	std::vector<int64_t> sizes;

	if (!tensor.has_shape() && !given)
		refuse(ErrorCode::Unsupported, reading, where,
		       fmt::format("has no shape; give it one: --shape {}=SIZExSIZE...",
				   info.name()));
	const size_t rank =
		tensor.has_shape() ? static_cast<size_t>(tensor.shape().dim_size()) : given->size();
	if (given && given->size() != rank)
		refuse(ErrorCode::InvalidArgument, reading, where,
		       fmt::format("has {} axes ({}), {} sizes are given for it", rank,
				   openShape(tensor), given->size()));
	while (sizes.size() < rank) {
		const auto index = static_cast<int>(sizes.size());
		const pb::Dimension &axis = tensor.has_shape() ? tensor.shape().dim(index) : open;
		const auto size = sizeOf(axis, sizes.size(), given, where);
		if (!size)
			refuse(ErrorCode::Unsupported, reading, where,
			       fmt::format("leaves sizes open; give them with --shape {}={}, a "
					   "number for each ?",
					   info.name(), openShape(tensor)));
		sizes.push_back(*size);
	}
	const auto shape = shapeFrom(sizes);
	if (!shape)
		refuse(ErrorCode::InvalidFile, reading, where,
		       "has more elements than a tensor can");
	return *shape;
}

} /* namespace nvdla::compiler::onnx */
