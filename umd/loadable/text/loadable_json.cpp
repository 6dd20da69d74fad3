/* SPDX-License-Identifier: MIT */
#include <nvdla/loadable_json.h>

#include <cctype>
#include <charconv>
#include <filesystem>
#include <unordered_set>

#include <fmt/core.h>

#include "base/io/base64.h"
#include "base/io/file.h"
#include "base/io/guarded.h"
#include "blob_kinds.h"
#include "descriptor_json.h"
#include "list_json.h"
#include "loadable/file_kind.h"

namespace nvdla
{

namespace text
{

namespace
{

constexpr const char *formatField = "nvdla_loadable";
constexpr uint64_t formatVersion = 1;
constexpr const char *blobsField = "blobs";

/* Fields of a blob for its bytes: base64, or file, or list together with entries. */
constexpr const char *base64Field = "base64";
constexpr const char *fileField = "file";
constexpr const char *listField = "list";
constexpr const char *entriesField = "entries";

constexpr uint64_t maxFileBytes = uint64_t{ 1 } << 31;

std::string fileName(size_t index, const Blob &blob)
{
	std::string name;

	for (char letter : blob.name.substr(0, 64))
		name += std::isalnum(static_cast<unsigned char>(letter)) || letter == '-' ? letter
											  : '_';
	return fmt::format("{:04}-{}.bin", index, name);
}

class Writer
{
public:
	Writer(const Loadable &loadable, const std::string &folder)
		: loadable_(loadable), folder_(folder), kinds_(findBlobKinds(loadable))
	{
	}

	Result<Json> run() const
	{
		Json json;

		json[formatField] = formatVersion;
		writeMembers(loadable_, json);
		json[blobsField] = Json::array();
		for (size_t i = 0; i < loadable_.blobs.size(); i++) {
			auto blob = writeBlob(i);
			if (!blob)
				return blob;
			json[blobsField].push_back(std::move(*blob));
		}
		return json;
	}

private:
	Result<Json> writeBlob(size_t index) const
	{
		const Blob &blob = loadable_.blobs[index];
		const auto found = kinds_.find(blob.name);
		Json json;

		writeMembers(blob, json);
		if (found != kinds_.end()) {
			const BlobKind &kind = found->second;
			if (auto entries = describeList(*kind.kind, blob.data, kind.types)) {
				json[listField] = kind.kind->name;
				json[entriesField] = std::move(*entries);
				return json;
			}
		}
		if (folder_.empty()) {
			json[base64Field] = encodeBase64(blob.data);
			return json;
		}
		const std::string name = fileName(index, blob);
		const auto path = std::filesystem::path(folder_) / name;
		if (auto written = writeWholeFile(path.string(), blob.data); !written)
			return forward(written);
		json[fileField] = name;
		return json;
	}

	const Loadable &loadable_;
	const std::string &folder_;
	std::unordered_map<std::string, BlobKind> kinds_;
};

Result<std::vector<std::byte>> readBase64(const Json &json, const std::string &path)
{
	auto encoded = stringValue(json, path);
	if (!encoded)
		return forward(encoded);
	auto bytes = decodeBase64(*encoded);
	if (!bytes)
		return badText(path,
			       fmt::format("{} is not base64: letters, digits, + and /, padded "
					   "with = to a multiple of 4",
					   quote(json)));
	return std::move(*bytes);
}

Result<std::vector<std::byte>> readFile(const Json &json, const std::string &path,
					const std::string &folder)
{
	auto name = stringValue(json, path);
	if (!name)
		return forward(name);
	if (name->empty() || *name == "." || *name == ".." ||
	    name->find_first_of(std::string_view("/\0", 2)) != std::string::npos)
		return badText(path, fmt::format("{} is no plain file name; files have to lie "
						 "beside the text",
						 quote(json)));
	if (folder.empty())
		return badText(path, fmt::format("{} is a file, but no folder to find it in was "
						 "given",
						 quote(json)));
	auto bytes = readWholeFile((std::filesystem::path(folder) / *name).string(), maxFileBytes);
	if (!bytes)
		return badText(path, bytes.error().message());
	return bytes;
}

Result<std::vector<std::byte>> readEntries(const Json &json, const std::string &path)
{
	const auto name = findField(json, path, listField);
	if (!name)
		return tl::unexpected(name.error());
	const ListKind *kind = (*name)->is_string()
				       ? findListKind((*name)->get_ref<const std::string &>())
				       : nullptr;
	if (!kind)
		return badText(
			fieldPath(path, listField),
			fmt::format("is {}, must be one of {}", quote(**name), allListKinds()));
	return encodeList(*kind, json[entriesField], fieldPath(path, entriesField));
}

Result<Blob> readBlob(const Json &json, const std::string &path, const std::string &folder)
{
	Blob blob;
	auto read = checkKeys<Blob>(json, path, { base64Field, fileField, listField, entriesField })
			    .and_then([&] { return readMembers(json, path, blob); });
	if (!read)
		return forward(read);

	const size_t given =
		json.count(base64Field) + json.count(fileField) + json.count(entriesField);
	if (given != 1)
		return badText(path,
			       fmt::format("has {} of the fields {}, {} and {}, must have one: "
					   "its bytes",
					   given, base64Field, fileField, entriesField));
	auto bytes = json.contains(base64Field)
			     ? readBase64(json[base64Field], fieldPath(path, base64Field))
		     : json.contains(fileField)
			     ? readFile(json[fileField], fieldPath(path, fileField), folder)
			     : readEntries(json, path);
	if (!bytes)
		return forward(bytes);
	blob.data = std::move(*bytes);
	return blob;
}

Result<void> checkFormat(const Json &json)
{
	const auto format = findField(json, "", formatField);
	if (!format)
		return tl::unexpected(format.error());
	if (**format != formatVersion)
		return badText(formatField, fmt::format("is {}, this library reads {}",
							quote(**format), formatVersion));
	return {};
}

Result<Loadable> readRoot(const Json &json, const std::string &folder)
{
	Loadable loadable;
	auto read =
		checkFormat(json)
			.and_then([&] {
				return checkKeys<Loadable>(json, "", { formatField, blobsField });
			})
			.and_then([&] { return readMembers(json, "", loadable); });
	if (!read)
		return forward(read);
	const auto blobs = findField(json, "", blobsField);
	if (!blobs)
		return tl::unexpected(blobs.error());
	if (!(*blobs)->is_array())
		return badText(blobsField, fmt::format("is {}, must be an array", quote(**blobs)));
	for (size_t i = 0; i < (*blobs)->size(); i++) {
		auto blob = readBlob((**blobs)[i], fmt::format("{}[{}]", blobsField, i), folder);
		if (!blob)
			return forward(blob);
		loadable.blobs.push_back(std::move(*blob));
	}
	if (auto checked = loadable.check(); !checked)
		return forward(checked);
	return loadable;
}

} /* namespace */

Json bitsToJson(uint16_t bits, NameOf nameOf)
{
	Json json = Json::array();

	for (unsigned bit = 0; bit < 16; bit++) {
		if (bits >> bit & 1)
			json.push_back(namedToJson(bit, nameOf));
	}
	return json;
}

Result<uint16_t> bitsFromJson(const Json &json, const std::string &path, NameOf nameOf)
{
	uint16_t bits = 0;

	if (!json.is_array())
		return badText(path, fmt::format("is {}, must be an array with some of {}",
						 quote(json), allNames(nameOf)));
	for (size_t i = 0; i < json.size(); i++) {
		auto bit = unsignedValue(json[i], fmt::format("{}[{}]", path, i), 15, nameOf);
		if (!bit)
			return forward(bit);
		bits = static_cast<uint16_t>(bits | 1u << *bit);
	}
	return bits;
}

Result<Version> versionFromJson(const Json &json, const std::string &path)
{
	Version version;

	if (json.is_string()) {
		const auto &text = json.get_ref<const std::string &>();
		const char *at = text.data();
		const char *const end = at + text.size();
		bool good = true;
		for (uint8_t *part : { &version.major, &version.minor, &version.subMinor }) {
			if (part != &version.major)
				good = good && at < end && *at++ == '.';
			const auto number = std::from_chars(at, end, *part);
			good = good && number.ec == std::errc{};
			at = number.ptr;
		}
		if (good && at == end)
			return version;
	}
	return badText(path, fmt::format("is {}, must be three numbers of at most 255, as in "
					 "\"0.12.3\"",
					 quote(json)));
}

} /* namespace text */

Result<std::string> loadableToJson(const Loadable &loadable, const std::string &blobFolder)
{
	return guarded("write loadable", [&]() -> Result<std::string> {
		Loadable checked = loadable;
		if (auto result = checked.check(); !result)
			return forward(result);

		auto json = text::Writer(checked, blobFolder).run();
		if (!json)
			return forward(json);
		return text::printJson(*json);
	});
}

Result<Loadable> loadableFromJson(std::string_view json, const std::string &blobFolder)
{
	return guarded("read loadable", [&]() -> Result<Loadable> {
		auto parsed = text::parseJson(json);
		if (!parsed)
			return forward(parsed);
		return text::readRoot(*parsed, blobFolder);
	});
}

Result<Loadable> readLoadable(const std::string &path)
{
	return guarded("read loadable", [&]() -> Result<Loadable> {
		auto bytes = readWholeFile(path, text::maxFileBytes);
		if (!bytes)
			return forward(bytes);

		/* A binary loadable begins with a 32-bit little-endian offset whose top byte is
		 * zero; JSON has no zero byte there. */
		const std::string_view text(reinterpret_cast<const char *>(bytes->data()),
					    bytes->size());
		const size_t first = text.find_first_not_of(" \t\r\n");
		if (auto checked = checkIsLoadable(path, *bytes); !checked)
			return forward(checked);
		const bool isText = first != std::string_view::npos && text[first] == '{' &&
				    text.substr(0, 4).find('\0') == std::string_view::npos;
		const std::string folder = std::filesystem::path(path).parent_path().string();
		auto loadable = isText ? loadableFromJson(text, folder.empty() ? "." : folder)
				       : Loadable::read(*bytes);
		if (!loadable)
			loadable.error().where = path + ": " + loadable.error().where;
		return loadable;
	});
}

} /* namespace nvdla */
