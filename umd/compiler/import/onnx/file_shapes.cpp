/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

/* Sizes of axes by the names that files give to open ones. */
using Sizes = std::map<std::string, int64_t>;

/* The shape as a user would give it, such as "1x3x?x?", with ? for open axes. */
std::string openShape(const pb::TensorType &tensor)
{
	std::string text;

	for (const pb::Dimension &axis : tensor.shape().dim())
		text += (text.empty() ? "" : "x") +
			(axis.dim_value() > 0 ? std::to_string(axis.dim_value()) : "?");
	return text;
}

void close(pb::Dimension &axis, int64_t size, Sizes &sizes)
{
	if (!axis.dim_param().empty())
		sizes.emplace(axis.dim_param(), size);
	axis.set_dim_value(size);
}

/* Sets the shape that is given for an input. */
void setGiven(pb::TensorType &tensor, const std::vector<uint32_t> &given, const std::string &where,
	      Sizes &sizes)
{
	const bool isKnown = tensor.has_shape();
	pb::Shape &shape = *tensor.mutable_shape();

	if (isKnown && static_cast<size_t>(shape.dim_size()) != given.size())
		refuse(ErrorCode::InvalidArgument, reading, where,
		       fmt::format("has {} axes ({}), {} sizes are given for it", shape.dim_size(),
				   openShape(tensor), given.size()));
	for (size_t i = 0; i < given.size(); i++) {
		pb::Dimension &axis =
			isKnown ? *shape.mutable_dim(static_cast<int>(i)) : *shape.add_dim();
		if (axis.dim_value() > 0 && axis.dim_value() != given[i])
			refuse(ErrorCode::InvalidArgument, reading, where,
			       fmt::format("has {} along axis {} in the file, {} are given",
					   axis.dim_value(), i, given[i]));
		if (!axis.has_dim_value() || axis.dim_value() < 0)
			close(axis, given[i], sizes);
	}
}

/* Gives open axes the size of another axis of their name, or 1 to the first axis. */
void closeRest(pb::TensorType &tensor, const std::string &name, const std::string &where,
	       Sizes &sizes)
{
	const std::string open = openShape(tensor);

	if (!tensor.has_shape())
		refuse(ErrorCode::Unsupported, reading, where,
		       fmt::format("has no shape; give it one: --shape {}=SIZExSIZE...", name));
	for (int i = 0; i < tensor.shape().dim_size(); i++) {
		pb::Dimension &axis = *tensor.mutable_shape()->mutable_dim(i);
		const auto known = sizes.find(axis.dim_param());
		if (axis.has_dim_value() && axis.dim_value() == 0)
			refuse(ErrorCode::Unsupported, reading, where,
			       fmt::format("has no elements along axis {}", i));
		if (axis.dim_value() > 0)
			continue;
		if (known == sizes.end() && i > 0)
			refuse(ErrorCode::Unsupported, reading, where,
			       fmt::format("leaves sizes open; give them with --shape {}={}, a "
					   "number for each ?",
					   name, open));
		close(axis, known == sizes.end() ? 1 : known->second, sizes);
	}
}

} /* namespace */

void closeShapes(pb::Graph &graph, std::span<const InputShape> shapes)
{
	std::set<std::string> constants;
	std::vector<std::string> names;
	Sizes sizes;
	auto &inputs = *graph.mutable_input();

	for (const pb::Tensor &tensor : graph.initializer())
		constants.insert(tensor.name());
	inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
				    [&](const pb::ValueInfo &input) {
					    return constants.contains(input.name());
				    }),
		     inputs.end());
	for (const pb::ValueInfo &input : inputs)
		names.push_back(input.name());
	const GivenShapes given = valueOf(givenShapes(shapes, names));
	for (const bool isFirst : { true, false }) {
		for (pb::ValueInfo &input : inputs) {
			/* A sequence, which is no tensor, is refused for its type. */
			if (input.type().tensor_type().elem_type() == pb::UNDEFINED)
				continue;
			const std::string where = fmt::format("input '{}'", input.name());
			pb::TensorType &tensor = *input.mutable_type()->mutable_tensor_type();
			if (!isFirst)
				closeRest(tensor, input.name(), where, sizes);
			else if (given.contains(input.name()))
				setGiven(tensor, given.at(input.name()), where, sizes);
		}
	}
	for (auto *infos : { graph.mutable_value_info(), graph.mutable_output() }) {
		for (pb::ValueInfo &info : *infos) {
			if (!info.type().tensor_type().has_shape())
				continue;
			pb::TensorType &tensor = *info.mutable_type()->mutable_tensor_type();
			for (pb::Dimension &axis : *tensor.mutable_shape()->mutable_dim())
				if (sizes.contains(axis.dim_param()))
					axis.set_dim_value(sizes.at(axis.dim_param()));
		}
	}
}

} /* namespace nvdla::compiler::onnx */
