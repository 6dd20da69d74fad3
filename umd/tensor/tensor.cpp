/* SPDX-License-Identifier: MIT */
#include <nvdla/tensor.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <nvdla/half.h>

#include "layout.h"

namespace nvdla
{

namespace
{

template<typename T>
T saturate(float value)
{
	constexpr float lowest = std::numeric_limits<T>::min();
	constexpr float highest = std::numeric_limits<T>::max();

	if (std::isnan(value))
		return 0;
	return static_cast<T>(std::clamp(std::round(value), lowest, highest));
}

Error sizeError(const TensorDesc &desc, const char *what, uint64_t have, uint64_t want)
{
	return Error{ ErrorCode::InvalidArgument, what, "tensor " + desc.describe(),
		      fmt::format("{} bytes given, {} needed", have, want) };
}

/* Calls copy(index of the first element, byte offset of its pixel) for every line. */
template<typename Copy>
void forEachLine(const TensorDesc &desc, const Layout &layout, Copy copy)
{
	const uint64_t imageBytes = desc.size / desc.n;
	uint64_t element = 0;

	for (uint32_t n = 0; n < desc.n; n++) {
		for (uint32_t c = 0; c < desc.c; c++) {
			const uint64_t plane = n * imageBytes + layout.channelOffset(desc, c);
			for (uint32_t h = 0; h < desc.h; h++) {
				copy(element, plane + uint64_t{ h } * desc.lineStride);
				element += desc.w;
			}
		}
	}
}

} /* namespace */

size_t elementBytes(DataType type)
{
	switch (type) {
	case DataType::Int8:
		return 1;
	case DataType::Int16:
	case DataType::Half:
		return 2;
	case DataType::Float:
		return 4;
	case DataType::Unknown:
		break;
	}
	return 0;
}

const char *dataTypeName(DataType type)
{
	switch (type) {
	case DataType::Int8:
		return "int8";
	case DataType::Int16:
		return "int16";
	case DataType::Half:
		return "fp16";
	case DataType::Float:
		return "fp32";
	case DataType::Unknown:
		break;
	}
	return "unknown";
}

std::string pixelFormatName(PixelFormat format)
{
	switch (format) {
	case PixelFormat::R8:
		return "R8";
	case PixelFormat::R16:
		return "R16";
	case PixelFormat::R16I:
		return "R16_I";
	case PixelFormat::R16F:
		return "R16_F";
	case PixelFormat::A16B16G16R16:
		return "A16B16G16R16";
	case PixelFormat::A16B16G16R16F:
		return "A16B16G16R16_F";
	case PixelFormat::A8B8G8R8:
		return "A8B8G8R8";
	case PixelFormat::Feature:
		return "FEATURE";
	case PixelFormat::FeatureX8:
		return "FEATURE_X8";
	}
	return fmt::format("format {}", static_cast<unsigned>(format));
}

std::string TensorDesc::describe() const
{
	return fmt::format("{} {}x{}x{}x{} {} {}", name, n, c, h, w, dataTypeName(type),
			   pixelFormatName(format));
}

Result<void> TensorDesc::check() const
{
	auto layout = Layout::of(*this);
	if (!layout)
		return forward(layout);
	return {};
}

TensorDesc TensorDesc::packedFeature(std::string name, DataType type, uint32_t c, uint32_t h,
				     uint32_t w)
{
	constexpr uint32_t atomBytes = 32;
	const uint32_t atom = atomBytes / static_cast<uint32_t>(elementBytes(type));
	TensorDesc desc;

	desc.name = std::move(name);
	desc.type = type;
	desc.c = c;
	desc.h = h;
	desc.w = w;
	desc.lineStride = w * atomBytes;
	desc.surfaceStride = h * desc.lineStride;
	desc.size = uint64_t{ desc.surfaceStride } * ((c + atom - 1) / atom);
	return desc;
}

Result<void> overwriteElements(const TensorDesc &desc, std::span<const std::byte> elements,
			       std::span<std::byte> tensor)
{
	auto layout = Layout::of(desc);
	if (!layout)
		return forward(layout);

	const size_t bytes = elementBytes(desc.type);
	if (elements.size() != desc.elements() * bytes)
		return tl::unexpected(sizeError(desc, "pack tensor elements", elements.size(),
						desc.elements() * bytes));
	if (tensor.size() != desc.size)
		return tl::unexpected(
			sizeError(desc, "pack tensor memory", tensor.size(), desc.size));

	forEachLine(desc, *layout, [&](uint64_t element, uint64_t offset) {
		const std::byte *from = elements.data() + element * bytes;
		for (uint32_t w = 0; w < desc.w; w++, from += bytes, offset += layout->pixelBytes)
			std::memcpy(tensor.data() + offset, from, bytes);
	});
	return {};
}

Result<void> packElements(const TensorDesc &desc, std::span<const std::byte> elements,
			  std::span<std::byte> out)
{
	std::fill(out.begin(), out.end(), std::byte{ 0 });
	return overwriteElements(desc, elements, out);
}

Result<std::vector<std::byte>> unpackElements(const TensorDesc &desc,
					      std::span<const std::byte> tensor)
{
	auto layout = Layout::of(desc);
	if (!layout)
		return forward(layout);
	if (tensor.size() != desc.size)
		return tl::unexpected(
			sizeError(desc, "unpack tensor memory", tensor.size(), desc.size));

	const size_t bytes = elementBytes(desc.type);
	std::vector<std::byte> elements(desc.elements() * bytes);
	forEachLine(desc, *layout, [&](uint64_t element, uint64_t offset) {
		std::byte *to = elements.data() + element * bytes;
		for (uint32_t w = 0; w < desc.w; w++, to += bytes, offset += layout->pixelBytes)
			std::memcpy(to, tensor.data() + offset, bytes);
	});
	return elements;
}

std::vector<std::byte> elementsFromFloat(DataType type, std::span<const float> values)
{
	const size_t bytes = elementBytes(type);
	std::vector<std::byte> elements(values.size() * bytes);
	std::byte *to = elements.data();

	for (float value : values) {
		switch (type) {
		case DataType::Int8: {
			const int8_t element = saturate<int8_t>(value);
			std::memcpy(to, &element, sizeof(element));
			break;
		}
		case DataType::Int16: {
			const int16_t element = saturate<int16_t>(value);
			std::memcpy(to, &element, sizeof(element));
			break;
		}
		case DataType::Half: {
			const uint16_t element = floatToHalf(value);
			std::memcpy(to, &element, sizeof(element));
			break;
		}
		case DataType::Float:
			std::memcpy(to, &value, sizeof(value));
			break;
		case DataType::Unknown:
			break;
		}
		to += bytes;
	}
	return elements;
}

std::vector<float> elementsToFloat(DataType type, std::span<const std::byte> elements)
{
	const size_t bytes = elementBytes(type);
	std::vector<float> values(bytes ? elements.size() / bytes : 0);
	const std::byte *from = elements.data();

	for (float &value : values) {
		if (type == DataType::Int8) {
			value = static_cast<float>(static_cast<int8_t>(*from));
		} else if (type == DataType::Float) {
			std::memcpy(&value, from, sizeof(value));
		} else {
			uint16_t raw;
			std::memcpy(&raw, from, sizeof(raw));
			value = type == DataType::Half
					? halfToFloat(raw)
					: static_cast<float>(static_cast<int16_t>(raw));
		}
		from += bytes;
	}
	return values;
}

} /* namespace nvdla */
