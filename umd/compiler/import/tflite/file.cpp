/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/core.h>

#include "base/host/host_model.h"

namespace nvdla::compiler::tflite
{

File::File(std::span<const std::byte> bytes) : aligned_(bytes.size() / sizeof(std::max_align_t) + 1)
{
	std::memcpy(aligned_.data(), bytes.data(), bytes.size());
}

Result<File> File::open(std::span<const std::byte> bytes)
{
	constexpr flatbuffers::uoffset_t maxDepth = 16;
	constexpr flatbuffers::uoffset_t maxTables = 1u << 20;
	const auto damaged = [](const char *why) {
		return fail(ErrorCode::InvalidFile, reading, "file", why);
	};

	if (!isTfliteFile(bytes))
		return damaged("does not begin as a TFLite model");
	File file(bytes);
	flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(file.aligned_.data()),
				       bytes.size(), maxDepth, maxTables);
	if (!fb::VerifyModelBuffer(verifier))
		return damaged("is truncated, or tables lie outside of it");
	return file;
}

std::optional<ElementType> elementTypeOf(fb::TensorType type)
{
	using enum fb::TensorType;
	static const std::map<fb::TensorType, ElementType> types = {
		{ FLOAT32, ElementType::Float32 }, { FLOAT16, ElementType::Float16 },
		{ INT8, ElementType::Int8 },	   { UINT8, ElementType::UInt8 },
		{ INT16, ElementType::Int16 },	   { INT32, ElementType::Int32 },
		{ INT64, ElementType::Int64 },	   { BOOL, ElementType::Bool },
	};
	const auto found = types.find(type);

	return found == types.end() ? std::nullopt : std::optional(found->second);
}

/* Codes below 127 are in the old field; writers of today fill both. */
fb::BuiltinOperator builtinCode(const fb::OperatorCode &code)
{
	return static_cast<fb::BuiltinOperator>(
		std::max<int32_t>(code.deprecated_builtin_code(), code.builtin_code()));
}

std::string typeName(const fb::OperatorCode &code)
{
	const fb::BuiltinOperator builtin = builtinCode(code);
	const std::string name = fb::EnumNameBuiltinOperator(builtin);

	if (code.custom_code())
		return fmt::format("custom operator '{}'", code.custom_code()->str());
	return name.empty() ? fmt::format("operator code {}", static_cast<int>(builtin)) : name;
}

} /* namespace nvdla::compiler::tflite */
