/* SPDX-License-Identifier: MIT */
#include <array>
#include <cstring>
#include <optional>

#include <fmt/core.h>
#include <nvdla/tensor_file.h>

#include "base/io/guarded.h"
#include "byte_reader.h"
#include "file.h"

namespace nvdla
{

namespace
{

constexpr std::array<char, 4> dimgMagic{ 'D', 'I', 'M', 'G' };
constexpr uint32_t version = 0;
constexpr uint64_t maxDimgBytes = uint64_t{ 1 } << 32;

constexpr struct {
	DataType type;
	DimgFormat format;
} formatsOfTypes[] = {
	{ DataType::Int8, DimgFormat::Int8 },
	{ DataType::Int16, DimgFormat::Int16 },
	{ DataType::Half, DimgFormat::Half },
};

std::optional<DimgFormat> dimgFormatOf(DataType type)
{
	for (const auto &known : formatsOfTypes) {
		if (known.type == type)
			return known.format;
	}
	return {};
}

/* Header of a .dimg file (a tensor of NVIDIA's runtime), behind dimgMagic and the version. */
struct DimgHeader {
	uint32_t format;
	uint32_t width;
	uint32_t height;
	uint32_t channel;
	uint32_t lineStride;
	uint32_t surfaceStride;
	uint32_t size;
};

template<typename T>
void appendBytes(std::vector<std::byte> &bytes, const T &value)
{
	const auto *raw = reinterpret_cast<const std::byte *>(&value);
	bytes.insert(bytes.end(), raw, raw + sizeof(value));
}

} /* namespace */

Result<std::vector<std::byte>> encodeDimg(const TensorDesc &desc,
					  std::span<const std::byte> elements)
{
	constexpr const char *what = "write dimg";
	return guarded(what, [&]() -> Result<std::vector<std::byte>> {
		const std::string where = "tensor " + desc.describe();
		const auto format = dimgFormatOf(desc.type);

		if (!format)
			return fail(ErrorCode::Unsupported, what, where,
				    "no format code for its type");
		if (desc.format != PixelFormat::Feature)
			return fail(ErrorCode::Unsupported, what, where,
				    "only feature tensors have a code");
		if (elements.size() != desc.elements() * elementBytes(desc.type))
			return fail(ErrorCode::InvalidArgument, what, where,
				    fmt::format("{} bytes of elements given, {} needed",
						elements.size(),
						desc.elements() * elementBytes(desc.type)));

		std::vector<std::byte> bytes;
		appendBytes(bytes, dimgMagic);
		appendBytes(bytes, version);
		appendBytes(bytes, DimgHeader{ static_cast<uint32_t>(*format), desc.w, desc.h,
					       desc.c, desc.lineStride, desc.surfaceStride,
					       static_cast<uint32_t>(desc.size) });
		bytes.insert(bytes.end(), elements.begin(), elements.end());
		return bytes;
	});
}

Result<Dimg> decodeDimg(std::span<const std::byte> bytes, const std::string &name)
{
	constexpr const char *what = "read dimg";
	return guarded(what, [&]() -> Result<Dimg> {
		ByteReader reader(bytes);
		const auto start = reader.take<std::array<char, 4>>();
		const auto fileVersion = reader.take<uint32_t>();
		const auto header = reader.take<DimgHeader>();

		if (!header || *start != dimgMagic || *fileVersion != version)
			return fail(ErrorCode::InvalidFile, what, name,
				    "does not start as a dimg does");
		if (header->format < static_cast<uint32_t>(DimgFormat::Int8) ||
		    header->format > static_cast<uint32_t>(DimgFormat::Half))
			return fail(ErrorCode::Unsupported, what, name,
				    fmt::format("surface format {}", header->format));

		Dimg dimg;
		dimg.format = static_cast<DimgFormat>(header->format);
		dimg.width = header->width;
		dimg.height = header->height;
		dimg.channel = header->channel;
		dimg.lineStride = header->lineStride;
		dimg.surfaceStride = header->surfaceStride;
		dimg.size = header->size;
		dimg.elements.assign(reader.rest().begin(), reader.rest().end());
		return dimg;
	});
}

Result<std::vector<std::byte>> elementsFromDimg(const TensorDesc &desc, const Dimg &dimg)
{
	constexpr const char *what = "convert dimg to tensor";
	return guarded(what, [&]() -> Result<std::vector<std::byte>> {
		const std::string where = "tensor " + desc.describe();
		const uint64_t bytes = desc.elements() * elementBytes(desc.type);

		const auto accepted = dimgFormatOf(desc.type);
		if (!accepted)
			return fail(ErrorCode::Unsupported, what, where,
				    "no format code for its type");
		if (*accepted != dimg.format)
			return fail(ErrorCode::InvalidArgument, what, where,
				    fmt::format("the file has elements of surface format {}, "
						"accepted is {}",
						static_cast<uint32_t>(dimg.format),
						static_cast<uint32_t>(*accepted)));
		if (dimg.channel != desc.c || dimg.height != desc.h || dimg.width != desc.w)
			return fail(
				ErrorCode::InvalidArgument, what, where,
				fmt::format("the file is {} x {} x {}; accepted is {} x {} x {} "
					    "(channels, height, width)",
					    dimg.channel, dimg.height, dimg.width, desc.c, desc.h,
					    desc.w));
		if (dimg.elements.size() != bytes)
			return fail(ErrorCode::InvalidArgument, what, where,
				    fmt::format("the file holds {} bytes of elements, {} needed",
						dimg.elements.size(), bytes));
		return dimg.elements;
	});
}

Result<Dimg> readDimg(const std::string &path)
{
	return guarded("read dimg", [&]() -> Result<Dimg> {
		auto bytes = readWholeFile(path, maxDimgBytes);
		if (!bytes)
			return forward(bytes);
		return decodeDimg(*bytes, path);
	});
}

} /* namespace nvdla */
