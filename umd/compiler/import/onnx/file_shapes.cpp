/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

/* Sizes of open axes, by the names that the file gives to these axes */
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

/*
 * Sets the open sizes of an input to the given sizes. If none are given, an axis gets the size of
 * another axis of the same name, or 1 if it is the first axis.
 */
void closeInput(pb::ValueInfo &input, const std::vector<uint32_t> *given, Sizes &sizes)
{
	const std::string where = fmt::format("input '{}'", input.name());
	pb::TensorType &tensor = *input.mutable_type()->mutable_tensor_type();
	const std::string open = openShape(tensor);
	const bool isKnown = tensor.has_shape();

	if (!isKnown && !given)
		refuse(ErrorCode::Unsupported, reading, where,
		       fmt::format("has no shape; give it one: --shape {}=SIZExSIZE...",
				   input.name()));
	pb::Shape &shape = *tensor.mutable_shape();
	for (size_t i = 0; !isKnown && i < given->size(); i++)
		shape.add_dim();
	if (given && static_cast<size_t>(shape.dim_size()) != given->size())
		refuse(ErrorCode::InvalidArgument, reading, where,
		       fmt::format("has {} axes ({}), {} sizes are given for it", shape.dim_size(),
				   open, given->size()));
	for (size_t i = 0; i < static_cast<size_t>(shape.dim_size()); i++) {
		pb::Dimension &axis = *shape.mutable_dim(static_cast<int>(i));
		const int64_t inFile = axis.dim_value();
		const auto known = sizes.find(axis.dim_param());
		if (axis.has_dim_value() && inFile == 0)
			refuse(ErrorCode::Unsupported, reading, where,
			       fmt::format("has no elements along axis {}", i));
		if (given && inFile > 0 && inFile != (*given)[i])
			refuse(ErrorCode::InvalidArgument, reading, where,
			       fmt::format("has {} along axis {} in the file, {} are given", inFile,
					   i, (*given)[i]));
		if (!given && inFile <= 0 && known == sizes.end() && i > 0)
			refuse(ErrorCode::Unsupported, reading, where,
			       fmt::format("leaves sizes open; give them with --shape {}={}, a "
					   "number for each ?",
					   input.name(), openShape(tensor)));
		if (inFile > 0)
			continue;
		const int64_t size = given ? (*given)[i] : known == sizes.end() ? 1 : known->second;
		if (!axis.dim_param().empty())
			sizes.emplace(axis.dim_param(), size);
		axis.set_dim_value(size);
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
	/* A given size also holds for axes of the same name in other inputs: take these first. */
	for (const bool areGiven : { true, false }) {
		for (pb::ValueInfo &input : inputs) {
			const auto sizesOf = given.find(input.name());
			/* An input that is a sequence, not a tensor, is refused later. */
			if ((sizesOf != given.end()) == areGiven &&
			    input.type().tensor_type().elem_type() != pb::UNDEFINED)
				closeInput(input, areGiven ? &sizesOf->second : nullptr, sizes);
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
