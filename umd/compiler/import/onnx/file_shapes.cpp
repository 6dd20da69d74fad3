/* SPDX-License-Identifier: MIT */
#include "file_shapes.h"

#include <algorithm>

#include <fmt/core.h>

namespace nvdla::compiler::onnx
{

namespace
{

/* "1x3x?x?", as it would be given. */
std::string openShape(const pb::TensorType &tensor)
{
	std::string text;

	for (const pb::Dimension &axis : tensor.shape().dim())
		text += (text.empty() ? "" : "x") +
			(axis.dim_value() > 0 ? std::to_string(axis.dim_value()) : "?");
	return text;
}

} /* namespace */

void FileShapes::nameSizes(const pb::TensorType &tensor, const std::vector<uint32_t> &given)
{
	const auto &axes = tensor.shape().dim();

	for (int i = 0; i < std::min(axes.size(), static_cast<int>(given.size())); i++) {
		if (!axes[i].dim_param().empty())
			sizes_.emplace(axes[i].dim_param(), given[static_cast<size_t>(i)]);
	}
}

Result<std::optional<int64_t>> FileShapes::sizeOf(const pb::Dimension &axis, size_t index,
						  const std::vector<uint32_t> *given,
						  const std::string &where)
{
	const int64_t inFile = axis.dim_value();
	std::optional<int64_t> size;

	if (axis.has_dim_value() && inFile == 0)
		return fail(ErrorCode::Unsupported, reading, where,
			    fmt::format("has no elements along axis {}", index));
	if (given && inFile > 0 && inFile != (*given)[index])
		return fail(ErrorCode::InvalidArgument, reading, where,
			    fmt::format("has {} along axis {} in the file, {} are given", inFile,
					index, (*given)[index]));
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

Result<Extents> FileShapes::shapeOf(const pb::TensorType &tensor, const std::string &where,
				    const std::string &name, const std::vector<uint32_t> *given)
{
	/* No tensor that the core can hold has more. */
	constexpr uint64_t maxElements = uint64_t{ 1 } << 31;
	const pb::Dimension open;
	uint64_t elements = 1;
	Extents shape;

	if (!tensor.has_shape() && !given)
		return fail(
			ErrorCode::Unsupported, reading, where,
			fmt::format("has no shape; give it one: --shape {}=SIZExSIZE...", name));
	const size_t rank =
		tensor.has_shape() ? static_cast<size_t>(tensor.shape().dim_size()) : given->size();
	if (given && given->size() != rank)
		return fail(ErrorCode::InvalidArgument, reading, where,
			    fmt::format("has {} axes ({}), {} sizes are given for it", rank,
					openShape(tensor), given->size()));
	while (shape.size() < rank) {
		const auto index = static_cast<int>(shape.size());
		const pb::Dimension &axis = tensor.has_shape() ? tensor.shape().dim(index) : open;
		auto size = sizeOf(axis, shape.size(), given, where);
		if (!size)
			return forward(size);
		if (!*size)
			return fail(
				ErrorCode::Unsupported, reading, where,
				fmt::format("leaves sizes open; give them with --shape {}={}, a "
					    "number for each ?",
					    name, openShape(tensor)));
		elements *= static_cast<uint64_t>(**size);
		if (**size > static_cast<int64_t>(maxElements) || elements > maxElements)
			return fail(ErrorCode::InvalidFile, reading, where,
				    "has more elements than a tensor can");
		shape.push_back(static_cast<uint32_t>(**size));
	}
	return shape;
}

} /* namespace nvdla::compiler::onnx */
