/* SPDX-License-Identifier: MIT */
#include "compiler/import/import.h"

#include <algorithm>
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

namespace fs = std::filesystem;

/* The files beside the model, by their names in it. */
class Files
{
public:
	explicit Files(const std::string &folder) : folder_(folder.empty() ? "." : folder) {}

	bool any() const { return !files_.empty(); }
	/* The bytes of a constant. */
	std::span<const std::byte> find(const pb::Tensor &tensor);

private:
	std::vector<std::byte> read(const std::string &location) const;

	fs::path folder_;
	std::map<std::string, std::vector<std::byte>> files_;
};

/* A model is not trusted: it may not name files outside of its own folder. */
std::vector<std::byte> Files::read(const std::string &location) const
{
	std::error_code noFolder, noPath;
	/* Resolve symbolic links first, so that none leads out of the folder. */
	const fs::path folder = fs::canonical(folder_, noFolder);
	const fs::path path = fs::weakly_canonical(folder / location, noPath);
	const auto [end, rest] = std::ranges::mismatch(folder, path);

	if (noFolder || noPath || location.empty() || end != folder.end())
		refuse(ErrorCode::InvalidFile, reading, "",
		       fmt::format("is in the file '{}', which is not in the model's folder",
				   location));
	return valueOf(readWholeFile(path.string(), maxModelBytes));
}

std::span<const std::byte> Files::find(const pb::Tensor &tensor)
{
	std::map<std::string, std::string> entries{ { "offset", "0" } };

	for (const pb::Entry &entry : tensor.external_data())
		entries[entry.key()] = entry.value();
	const std::string &location = entries["location"], &length = entries["length"];
	if (!files_.contains(location))
		files_[location] = read(location);
	const std::span<const std::byte> bytes = files_[location];
	/* Without a length the constant is all of the rest. */
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

} /* namespace nvdla::compiler::onnx */

namespace nvdla::compiler
{

Result<std::vector<std::byte>> withExternalData(std::vector<std::byte> file,
						const std::string &folder)
{
	const std::string_view text(reinterpret_cast<const char *>(file.data()), file.size());
	std::vector<onnx::pb::Tensor *> tensors;
	onnx::Files files(folder);
	onnx::pb::Model model;

	/* Constants with external data name their files by this key. */
	if (text.find("location") == std::string_view::npos ||
	    !model.ParseFromArray(file.data(), static_cast<int>(file.size())))
		return file;
	onnx::collect(*model.mutable_graph(), tensors);
	for (onnx::pb::Tensor *tensor : tensors) {
		if (!tensor->data_location())
			continue;
		auto bytes = resultOf([&] { return files.find(*tensor); });
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
	if (!files.any())
		return file;
	if (model.ByteSizeLong() >= maxModelBytes)
		return fail(ErrorCode::Unsupported, onnx::reading, "file",
			    "has 2 GiB of constants, or more, in the files beside it");
	file.resize(model.ByteSizeLong());
	model.SerializeToArray(file.data(), static_cast<int>(file.size()));
	return file;
}

} /* namespace nvdla::compiler */
