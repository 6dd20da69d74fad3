/* SPDX-License-Identifier: MIT */
#include "compiler/import/import.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "base/io/file.h"
#include "base/io/number_list.h"
#include "onnx.pb.h"

namespace nvdla::compiler::onnx
{

namespace
{

namespace pb = nvdla::onnx;
namespace fs = std::filesystem;

class Collector
{
public:
	explicit Collector(const std::string &folder) : folder_(folder.empty() ? "." : folder) {}

	Result<void> collect(pb::Graph &graph);
	bool any() const { return !files_.empty(); }

private:
	Result<void> collect(pb::Tensor &tensor);
	Result<const std::vector<std::byte> *> fileAt(const std::string &location);

	fs::path folder_;
	std::map<std::string, std::vector<std::byte>> files_;
};

std::string entryOf(const pb::Tensor &tensor, const char *key)
{
	for (const pb::Entry &entry : tensor.external_data()) {
		if (entry.key() == key)
			return entry.value();
	}
	return {};
}

/* \return the number of entry \a key, \a otherwise if absent; nothing if it is no number */
std::optional<uint64_t> numberOf(const pb::Tensor &tensor, const char *key, uint64_t otherwise)
{
	const std::string text = entryOf(tensor, key);
	const auto numbers = parseNumbers<uint64_t>(text, ',');

	if (text.empty())
		return otherwise;
	return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
}

/* A model is not trusted: it may not name files outside of its own folder. */
Result<const std::vector<std::byte> *> Collector::fileAt(const std::string &location)
{
	const auto known = files_.find(location);
	std::error_code noFolder, noPath;

	if (known != files_.end())
		return &known->second;
	/* Resolve symbolic links first, so that none leads out of the folder. */
	const fs::path folder = fs::canonical(folder_, noFolder);
	const fs::path path = fs::weakly_canonical(folder / location, noPath);
	const auto [end, rest] = std::ranges::mismatch(folder, path);
	if (noFolder || noPath || location.empty() || end != folder.end())
		return fail(ErrorCode::InvalidFile, "read ONNX model", "",
			    fmt::format("is in the file '{}', which is not in the model's folder",
					location));
	auto bytes = readWholeFile(path.string(), maxModelBytes);
	if (!bytes)
		return forward(bytes);
	return &(files_[location] = std::move(*bytes));
}

Result<void> Collector::collect(pb::Tensor &tensor)
{
	const std::string where = fmt::format("constant '{}'", tensor.name());
	const std::string location = entryOf(tensor, "location");

	if (!tensor.data_location())
		return {};
	auto file = fileAt(location);
	if (!file) {
		file.error().where =
			where + (file.error().where.empty() ? "" : ": ") + file.error().where;
		return forward(file);
	}
	const std::vector<std::byte> &bytes = **file;
	const auto first = numberOf(tensor, "offset", 0);
	const uint64_t rest = first && *first <= bytes.size() ? bytes.size() - *first : 0;
	const auto count = numberOf(tensor, "length", rest);
	if (!first || !count || *first > bytes.size() || *count > rest)
		return fail(ErrorCode::InvalidFile, "read ONNX model", where,
			    fmt::format("is at {} of '{}', {} bytes long; that file has {} bytes",
					entryOf(tensor, "offset"), location,
					entryOf(tensor, "length"), bytes.size()));
	tensor.set_raw_data(bytes.data() + *first, *count);
	tensor.clear_external_data();
	tensor.clear_data_location();
	return {};
}

Result<void> Collector::collect(pb::Graph &graph)
{
	Result<void> done;

	for (int i = 0; i < graph.initializer_size() && done; i++)
		done = collect(*graph.mutable_initializer(i));
	for (pb::Node &node : *graph.mutable_node()) {
		for (pb::Attribute &attribute : *node.mutable_attribute()) {
			if (done && attribute.has_t())
				done = collect(*attribute.mutable_t());
			if (done && attribute.has_g())
				done = collect(*attribute.mutable_g());
			for (int i = 0; i < attribute.graphs_size() && done; i++)
				done = collect(*attribute.mutable_graphs(i));
		}
	}
	return done;
}

} /* namespace */

} /* namespace nvdla::compiler::onnx */

namespace nvdla::compiler
{

Result<std::vector<std::byte>> withExternalData(std::vector<std::byte> file,
						const std::string &folder)
{
	const std::string_view text(reinterpret_cast<const char *>(file.data()), file.size());
	onnx::Collector collector(folder);
	onnx::pb::Model model;

	/* Constants with external data name their files by this key. */
	if (text.find("location") == std::string_view::npos ||
	    !model.ParseFromArray(file.data(), static_cast<int>(file.size())))
		return file;
	if (auto done = collector.collect(*model.mutable_graph()); !done)
		return forward(done);
	if (!collector.any())
		return file;
	if (model.ByteSizeLong() >= maxModelBytes)
		return fail(ErrorCode::Unsupported, "read ONNX model", "file",
			    "has 2 GiB of constants, or more, in the files beside it");
	file.resize(model.ByteSizeLong());
	model.SerializeToArray(file.data(), static_cast<int>(file.size()));
	return file;
}

} /* namespace nvdla::compiler */
