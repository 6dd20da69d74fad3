/* SPDX-License-Identifier: MIT */
#include "input_file.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

#include <nvdla/calibration_table.h>
#include <nvdla/image.h>
#include <nvdla/tensor_file.h>

#include "result.h"

namespace nvdla::fuzz
{

namespace
{

constexpr DataType types[] = { DataType::Int8, DataType::Int16, DataType::Half };

/* Larger files are read, but not converted: that would be a test of patience. */
constexpr uint64_t maxElements = 1 << 20;

void require(bool holds)
{
	if (!holds)
		std::abort();
}

void requireElements(const TensorDesc &desc, const Result<std::vector<std::byte>> &elements)
{
	require(isWell(elements) && elements->size() == desc.elements() * elementBytes(desc.type));
}

void readImageFile(std::span<const std::byte> bytes)
{
	const auto image = decodeImage(bytes, "picture");
	if (!isWell(image))
		return;

	const uint64_t pixels = uint64_t{ image->width } * image->height;
	require(pixels > 0 && image->pixels.size() == pixels * image->channels);
	if (pixels > maxElements)
		return;
	for (const DataType type : types) {
		const auto desc =
			TensorDesc::packedFeature("input", type, 4, image->height, image->width);
		requireElements(desc, elementsFromImage(desc, *image));
	}
}

void readNpyFile(std::span<const std::byte> bytes)
{
	const auto array = decodeNpy(bytes, "array");
	if (!isWell(array))
		return;

	const auto &shape = array->shape;
	const auto fits = [](size_t extent) {
		return extent <= std::numeric_limits<uint16_t>::max();
	};
	if (shape.size() < 3 || shape.size() > 4 || !std::ranges::all_of(shape, fits) ||
	    array->elements.size() > maxElements)
		return;
	const auto planes = std::span(shape).last(3);
	for (const DataType type : types) {
		auto desc = TensorDesc::packedFeature(
			"input", type, static_cast<uint32_t>(planes[0]),
			static_cast<uint32_t>(planes[1]), static_cast<uint32_t>(planes[2]));
		desc.n = shape.size() == 4 ? static_cast<uint32_t>(shape[0]) : 1;
		desc.size *= desc.n;
		requireElements(desc, elementsFromNpy(desc, *array));
	}
}

void readDimgFile(std::span<const std::byte> bytes)
{
	const auto dimg = decodeDimg(bytes, "dimg");
	if (!isWell(dimg))
		return;

	constexpr uint32_t maxExtent = std::numeric_limits<uint16_t>::max();
	if (std::max({ dimg->channel, dimg->height, dimg->width }) > maxExtent)
		return;
	for (const DataType type : types) {
		const auto desc = TensorDesc::packedFeature("input", type, dimg->channel,
							    dimg->height, dimg->width);
		/* Its type and its number of elements may be others. */
		const auto elements = elementsFromDimg(desc, *dimg);
		if (isWell(elements))
			requireElements(desc, elements);
	}
}

void readCalibrationFile(std::span<const std::byte> bytes)
{
	const auto table = decodeCalibrationTable(bytes, "table");
	if (!isWell(table))
		return;
	require(!table->empty() && std::ranges::all_of(*table, [](const auto &row) {
		return row.second > 0 && row.second < std::numeric_limits<double>::infinity();
	}));
}

} /* namespace */

void readInputFile(const uint8_t *data, size_t size)
{
	const auto bytes = std::as_bytes(std::span(data, size));

	readImageFile(bytes);
	readNpyFile(bytes);
	readDimgFile(bytes);
	readCalibrationFile(bytes);
}

} /* namespace nvdla::fuzz */
