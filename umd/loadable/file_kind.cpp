/* SPDX-License-Identifier: MIT */
#include "file_kind.h"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "base/host/host_model.h"

namespace nvdla
{

namespace
{

using namespace std::string_view_literals;

/* Use of a file: it is run, compiled or passed as an input, or none of these. */
enum class Use { Loadable, Model, Input, Other };

struct Signature {
	size_t offset; /* byte offset of the identifier in the file */
	std::string_view identifier;
	const char *name;
	Use use;
};

constexpr Signature kinds[] = {
	{ 0, "\x89PNG\r\n"sv, "a PNG picture", Use::Input },
	{ 0, "\xff\xd8\xff"sv, "a JPEG picture", Use::Input },
	{ 0, "P5\n"sv, "a PGM picture", Use::Input },
	{ 0, "P5 "sv, "a PGM picture", Use::Input },
	{ 0, "P6\n"sv, "a PPM picture", Use::Input },
	{ 0, "P6 "sv, "a PPM picture", Use::Input },
	{ 0, "\x93NUMPY"sv, "a numpy array", Use::Input },
	{ 0, "DIMG"sv, "a tensor (.dimg)", Use::Input },
	{ 0, "\x89HDF\r\n"sv, "an HDF5 file", Use::Other },
	{ 0, "PK\3\4"sv, "a zip archive", Use::Other },
	{ 0, "\x1f\x8b"sv, "a gzip file", Use::Other },
	{ 4, "NVDA"sv, "a loadable", Use::Loadable },
};
constexpr Signature tflite = { 0, "", "a TensorFlow Lite model", Use::Model };
constexpr Signature onnx = { 0, "", "an ONNX model", Use::Model };
constexpr Signature caffe = { 0, "", "a Caffe net", Use::Model };
constexpr Signature caffeWeights = {
	0, "", "the weights of a Caffe net, which are read with its .prototxt: give that",
	Use::Other
};

/*
 * ONNX files have no identifier. They begin with field 1 (the version), then field 2 or 7 (the
 * producer or the graph) and its length. A loadable cannot begin so: its first four bytes are a
 * small offset, and these bytes, read as an offset, are millions.
 */
bool isOnnx(std::string_view text)
{
	return text.size() > 3 && text[0] == 0x08 && text[1] > 0 && text[1] < 0x20 &&
	       (text[2] == 0x12 || text[2] == 0x3a) && text[3];
}

const Signature *kindOf(const std::string &path, std::span<const std::byte> bytes)
{
	const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());

	for (const Signature &kind : kinds) {
		if (text.substr(std::min(kind.offset, text.size())).starts_with(kind.identifier))
			return &kind;
	}
	if (isTfliteFile(bytes))
		return &tflite;
	if (isCaffeNet(path))
		return &caffe;
	if (path.ends_with(".caffemodel"))
		return &caffeWeights;
	return isOnnx(text) || path.ends_with(".onnx") ? &onnx : nullptr;
}

constexpr const char *giveAsInput = "; it can be the input of a network: nvdla-run NETWORK --input";

} /* namespace */

Result<void> checkIsLoadable(const std::string &path, std::span<const std::byte> bytes)
{
	const Signature *const kind = kindOf(path, bytes);

	if (!kind || kind->use == Use::Loadable)
		return {};
	if (kind->use == Use::Model)
		return fail(ErrorCode::InvalidFile, "read loadable", path,
			    fmt::format("is {}; make a loadable of it: nvdla-compile, "
					"nvdla.compile() or nvdla_compile_file()",
					kind->name));
	return fail(ErrorCode::InvalidFile, "read loadable", path,
		    fmt::format("is {}, a loadable is needed here{}", kind->name,
				kind->use == Use::Input ? giveAsInput : ""));
}

const char *unreadableKind(std::span<const std::byte> bytes)
{
	const Signature *const kind = kindOf({}, bytes);

	return kind && kind->use == Use::Loadable ? "is a loadable that is truncated or damaged"
						  : "is not a loadable, as NVDA is not at byte 4";
}

Result<void> checkIsModel(const std::string &path, std::span<const std::byte> bytes)
{
	const Signature *const kind = kindOf(path, bytes);

	if (!kind || kind->use == Use::Model)
		return {};
	if (kind->use == Use::Loadable)
		return fail(ErrorCode::InvalidFile, "read model", path,
			    fmt::format("is a loadable, which is compiled already{}", runLoadable));
	return fail(ErrorCode::InvalidFile, "read model", path,
		    fmt::format("is {}; a TensorFlow Lite or ONNX model is needed here, or the "
				".prototxt of a Caffe net{}",
				kind->name, kind->use == Use::Input ? giveAsInput : ""));
}

} /* namespace nvdla */
