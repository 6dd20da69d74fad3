/* SPDX-License-Identifier: MIT */
/*
 * Constants of a file, or of files beside it, and operators that make constants without computing
 * anything.
 */
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include <fmt/core.h>

#include "base/io/file.h"
#include "base/io/number_list.h"
#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

std::vector<std::byte> bytesOf(const pb::Tensor &tensor, ElementType type)
{
	const size_t each = elementBytes(type);

	if (tensor.has_raw_data())
		return lowBytes(tensor.raw_data(), 1);
	if (type == ElementType::Float32)
		return lowBytes(tensor.float_data(), each);
	return type == ElementType::Int64 ? lowBytes(tensor.int64_data(), each)
					  : lowBytes(tensor.int32_data(), each);
}

SharedBytes floatsOf(const pb::Tensor &ofDoubles)
{
	std::vector<double> numbers(ofDoubles.double_data().begin(), ofDoubles.double_data().end());

	if (ofDoubles.has_raw_data()) {
		numbers.resize(ofDoubles.raw_data().size() / sizeof(double));
		std::memcpy(numbers.data(), ofDoubles.raw_data().data(),
			    numbers.size() * sizeof(double));
	}
	return floatConstant(numbers, {}).data;
}

Tensor readConstantOfShape(NodeReader &reader)
{
	const auto shape = shapeFrom(reader.wholeNumbers(0), maxConstant);
	const pb::Attribute *attribute = reader.attribute("value");
	const Value one =
		attribute ? reader.take(readConstant(attribute->t())) : floatConstant({ 0 }, { 1 });
	Value all = one;

	reader.need(elementCount(one.shape) == 1, "value", "is not a tensor of one number");
	reader.need(shape.has_value(), "shape", "has negative axes, or more elements than can be");
	all.shape = *shape;
	std::vector<std::byte> bytes(elementCount(*shape) * one.data.size());
	for (size_t i = 0; i < bytes.size(); i++)
		bytes[i] = one.data[i % one.data.size()];
	all.data = std::move(bytes);
	return reader.constantTensor(std::move(all));
}

Tensor readConstantNode(NodeReader &reader)
{
	if (reader.attribute("value_int"))
		return reader.constantTensor(
			wholeConstant({ reader.integer("value_int", 0) }, Extents{}));
	if (reader.attribute("value_ints"))
		return reader.constantTensor(wholeConstant(reader.integers("value_ints")));
	if (reader.attribute("value_float"))
		return reader.constantTensor(
			floatConstant({ reader.number("value_float", 0) }, {}));
	const pb::Attribute *attribute = reader.attribute("value");
	reader.support(attribute, "value", "is no tensor and no number");
	return reader.constantTensor(reader.take(readConstant(attribute->t())));
}

Tensor readShape(NodeReader &reader)
{
	const Extents shape = reader.input(0).shape;
	const auto rank = static_cast<int64_t>(shape.size());
	const int64_t first = legalize::placeWithin(reader.integer("start", 0), rank);
	const int64_t last = legalize::placeWithin(reader.integer("end", rank), rank);

	return reader.constantTensor(
		wholeConstant({ shape.begin() + first, shape.begin() + std::max(first, last) }));
}

namespace fs = std::filesystem;

/* Contents of the files beside the model, by the names that the model gives them */
using Files = std::map<std::string, std::vector<std::byte>>;

/* A model is not trusted: it may not name files outside of its own folder. */
std::vector<std::byte> readBeside(const std::string &modelsFolder, const std::string &location)
{
	std::error_code noFolder, noPath;
	/* Resolve symbolic links first, so that none leads out of the folder. */
	const fs::path folder = fs::canonical(modelsFolder.empty() ? "." : modelsFolder, noFolder);
	const fs::path path = fs::weakly_canonical(folder / location, noPath);
	const auto [end, rest] = std::ranges::mismatch(folder, path);

	if (noFolder || noPath || location.empty() || end != folder.end())
		refuse(ErrorCode::InvalidFile, reading, "",
		       fmt::format("is in the file '{}', which is not in the model's folder",
				   location));
	return valueOf(readWholeFile(path.string(), maxModelBytes));
}

/* The bytes of a constant in one of the files. */
std::span<const std::byte> findIn(Files &files, const std::string &folder, const pb::Tensor &tensor)
{
	std::map<std::string, std::string> entries{ { "offset", "0" } };

	for (const pb::Entry &entry : tensor.external_data())
		entries[entry.key()] = entry.value();
	const std::string &location = entries["location"], &length = entries["length"];
	if (!files.contains(location))
		files[location] = readBeside(folder, location);
	const std::span<const std::byte> bytes = files[location];
	/* Without a length, the constant extends to the end of its file. */
	const auto place = parseNumbers<uint64_t>(
		entries["offset"] + "," + (length.empty() ? "0" : length), ',');
	if (!place || place->size() != 2 || (*place)[0] > bytes.size() ||
	    (*place)[1] > bytes.size() - (*place)[0])
		refuse(ErrorCode::InvalidFile, reading, "",
		       fmt::format("is at {} of '{}', {} bytes long; that file has {} bytes",
				   entries["offset"], location, length, bytes.size()));
	const auto rest = bytes.subspan((*place)[0]);
	return length.empty() ? rest : rest.first((*place)[1]);
}

/* All constants of a graph and of its nodes' bodies. */
void collect(pb::Graph &graph, std::vector<pb::Tensor *> &tensors)
{
	for (pb::Tensor &tensor : *graph.mutable_initializer())
		tensors.push_back(&tensor);
	for (pb::Node &node : *graph.mutable_node()) {
		for (pb::Attribute &attribute : *node.mutable_attribute()) {
			if (attribute.has_t())
				tensors.push_back(attribute.mutable_t());
			if (attribute.has_g())
				collect(*attribute.mutable_g(), tensors);
			for (pb::Graph &body : *attribute.mutable_graphs())
				collect(body, tensors);
		}
	}
}

} /* namespace */

std::optional<ElementType> elementTypeOf(int32_t type)
{
	static const std::map<int32_t, ElementType> types = {
		{ pb::FLOAT, ElementType::Float32 }, { pb::FLOAT16, ElementType::Float16 },
		{ pb::INT8, ElementType::Int8 },     { pb::UINT8, ElementType::UInt8 },
		{ pb::INT16, ElementType::Int16 },   { pb::INT32, ElementType::Int32 },
		{ pb::INT64, ElementType::Int64 },   { pb::BOOL, ElementType::Bool },
	};
	const auto found = types.find(type);

	return found == types.end() ? std::nullopt : std::optional(found->second);
}

Value wholeConstant(const std::vector<int64_t> &numbers, std::optional<Extents> shape)
{
	Value value;

	value.type = ElementType::Int64;
	value.shape = shape.value_or(Extents{ static_cast<uint32_t>(numbers.size()) });
	value.data = lowBytes(numbers, sizeof(int64_t));
	value.isConstant = true;
	return value;
}

Result<Value> readConstant(const pb::Tensor &tensor)
{
	Value value;
	auto damaged = [&](ErrorCode code, const std::string &why) {
		return fail(code, "read ONNX model", fmt::format("constant '{}'", tensor.name()),
			    why);
	};
	value.name = tensor.name();
	value.isConstant = true;
	if (tensor.data_location())
		return damaged(
			ErrorCode::Unsupported,
			"is in another file, which is found if the model is given by its path");
	const auto shape = shapeFrom({ tensor.dims().begin(), tensor.dims().end() }, maxConstant);
	if (!shape)
		return damaged(ErrorCode::InvalidFile,
			       "has negative axes, or more elements than can be");
	value.shape = *shape;
	const bool isDouble = tensor.data_type() == pb::DOUBLE;
	const auto type = isDouble ? ElementType::Float32 : elementTypeOf(tensor.data_type());
	if (!type)
		return damaged(ErrorCode::Unsupported,
			       fmt::format("has elements of type {}; use float, or integers of 8 "
					   "or 16 bits",
					   tensor.data_type()));
	value.type = *type;
	value.data = isDouble ? floatsOf(tensor) : bytesOf(tensor, *type);
	if (const auto error = bytesError(value))
		return damaged(ErrorCode::InvalidFile, error->why);
	return value;
}

const NodeTable constantNodes = {
	{ "Constant", readConstantNode },
	{ "ConstantOfShape", readConstantOfShape },
	{ "Shape", readShape },
};

} /* namespace nvdla::compiler::onnx */

namespace nvdla::compiler
{

Result<std::vector<std::byte>> withExternalData(std::vector<std::byte> file,
						const std::string &folder)
{
	const std::string_view text(reinterpret_cast<const char *>(file.data()), file.size());
	std::vector<onnx::pb::Tensor *> tensors;
	onnx::Files files;
	onnx::pb::Model model;

	/* Constants with external data name their files by this key. */
	if (text.find("location") == std::string_view::npos ||
	    !model.ParseFromArray(file.data(), static_cast<int>(file.size())))
		return file;
	onnx::collect(*model.mutable_graph(), tensors);
	for (onnx::pb::Tensor *tensor : tensors) {
		if (!tensor->data_location())
			continue;
		auto bytes = resultOf([&] { return onnx::findIn(files, folder, *tensor); });
		if (!bytes) {
			std::string &where = bytes.error().where;
			where = fmt::format("constant '{}'{}{}", tensor->name(),
					    where.empty() ? "" : ": ", where);
			return forward(bytes);
		}
		tensor->set_raw_data(bytes->data(), bytes->size());
		tensor->clear_external_data();
		tensor->clear_data_location();
	}
	if (files.empty())
		return file;
	if (model.ByteSizeLong() >= maxModelBytes)
		return fail(ErrorCode::Unsupported, onnx::reading, "file",
			    "has 2 GiB of constants, or more, in the files beside it");
	file.resize(model.ByteSizeLong());
	model.SerializeToArray(file.data(), static_cast<int>(file.size()));
	return file;
}

} /* namespace nvdla::compiler */
