/* SPDX-License-Identifier: MIT */
/*
 * Conversion between elements and numbers.
 */
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/core.h>
#include <nvdla/half.h>
#include <nvdla/tensor.h>

#include "base/io/guarded.h"
#include "number_kernels.h"

namespace nvdla
{

namespace
{

/* Elements that share a quantization: \a count elements from index \a first on, each \a step
 * indices after the previous one. */
struct Run {
	size_t first;
	size_t count;
	size_t step;
	Quantization quantization;
	IntegerLimits limits;

	bool isSigned() const { return limits.lowest < 0; }
};

template<typename T>
T loadElement(const std::byte *elements, size_t index)
{
	T element;

	std::memcpy(&element, elements + index * sizeof(T), sizeof(T));
	return element;
}

template<typename T>
void storeElement(std::byte *elements, size_t index, T element)
{
	std::memcpy(elements + index * sizeof(T), &element, sizeof(T));
}

ElementSteps stepsOf(const Run &run)
{
	return { run.quantization.scale, run.quantization.zeroPoint,
		 static_cast<int32_t>(run.limits.lowest),
		 static_cast<int32_t>(run.limits.highest) };
}

/* Gives the results of Quantization::quantize(), but without function calls in the loop. */
template<typename T>
void quantize(const Run &run, const float *values, std::byte *elements)
{
	const double scale = run.quantization.scale;
	const int32_t zeroPoint = run.quantization.zeroPoint;
	const double lowest = static_cast<double>(run.limits.lowest - zeroPoint);
	const double highest = static_cast<double>(run.limits.highest - zeroPoint);
	const size_t done = run.step == 1
				    ? quantizeFloats(stepsOf(run), sizeof(T), values + run.first,
						     elements + run.first * sizeof(T), run.count)
				    : 0;

	for (size_t i = done; i < run.count; i++) {
		const size_t index = run.first + i * run.step;
		double steps = values[index] / scale;
		steps = steps < lowest ? lowest : steps > highest ? highest : steps;
		steps = std::isnan(steps) ? 0 : steps;
		const auto rounded = static_cast<int32_t>(steps + std::copysign(nearlyHalf, steps));
		storeElement(elements, index, static_cast<T>(rounded + zeroPoint));
	}
}

template<typename T>
void dequantize(const Run &run, const std::byte *elements, float *values)
{
	const double scale = run.quantization.scale;
	const int32_t zeroPoint = run.quantization.zeroPoint;
	const size_t done = run.step == 1 ? dequantizeElements(stepsOf(run), sizeof(T),
							       elements + run.first * sizeof(T),
							       values + run.first, run.count)
					  : 0;

	for (size_t i = done; i < run.count; i++) {
		const size_t index = run.first + i * run.step;
		values[index] = static_cast<float>(
			scale * (int32_t{ loadElement<T>(elements, index) } - zeroPoint));
	}
}

/* Converts numbers to integers that have no quantization, by rounding and saturating. */
template<typename T>
void toWhole(const Run &run, const float *values, std::byte *elements)
{
	for (size_t i = 0; i < run.count; i++)
		storeElement(elements, i, static_cast<T>(run.limits.saturate(double{ values[i] })));
}

template<typename T>
void fromWhole(const Run &run, const std::byte *elements, float *values)
{
	for (size_t i = 0; i < run.count; i++)
		values[i] = static_cast<float>(loadElement<T>(elements, i));
}

void convert(DataType type, const Run &run, const float *values, std::byte *elements)
{
	switch (type) {
	case DataType::Int8:
		return run.isSigned() ? quantize<int8_t>(run, values, elements)
				      : quantize<uint8_t>(run, values, elements);
	case DataType::Int16:
		return run.isSigned() ? quantize<int16_t>(run, values, elements)
				      : quantize<uint16_t>(run, values, elements);
	case DataType::Half:
		for (size_t i = floatsToHalves(values, elements, run.count); i < run.count; i++)
			storeElement(elements, i, floatToHalf(values[i]));
		break;
	case DataType::Float:
		if (run.count)
			std::memcpy(elements, values, run.count * sizeof(float));
		break;
	case DataType::Int32:
		return toWhole<int32_t>(run, values, elements);
	case DataType::Int64:
		return toWhole<int64_t>(run, values, elements);
	case DataType::UInt8:
		return quantize<uint8_t>(run, values, elements);
	case DataType::Bool:
		return toWhole<uint8_t>(run, values, elements);
	case DataType::Unknown:
		break;
	}
}

void convert(DataType type, const Run &run, const std::byte *elements, float *values)
{
	switch (type) {
	case DataType::Int8:
		return run.isSigned() ? dequantize<int8_t>(run, elements, values)
				      : dequantize<uint8_t>(run, elements, values);
	case DataType::Int16:
		return run.isSigned() ? dequantize<int16_t>(run, elements, values)
				      : dequantize<uint16_t>(run, elements, values);
	case DataType::Half:
		for (size_t i = halvesToFloats(elements, values, run.count); i < run.count; i++)
			values[i] = halfToFloat(loadElement<uint16_t>(elements, i));
		break;
	case DataType::Float:
		if (run.count)
			std::memcpy(values, elements, run.count * sizeof(float));
		break;
	case DataType::Int32:
		return fromWhole<int32_t>(run, elements, values);
	case DataType::Int64:
		return fromWhole<int64_t>(run, elements, values);
	case DataType::UInt8:
		return dequantize<uint8_t>(run, elements, values);
	case DataType::Bool:
		return fromWhole<uint8_t>(run, elements, values);
	case DataType::Unknown:
		break;
	}
}

/* Returns the run of \a count plain integers: adjacent, with scale 1 and zero point 0. */
Run wholeRun(DataType type, size_t count)
{
	return { 0, count, 1, {}, integerLimits(type) };
}

/* Returns whether the limits or the quantization of elements differ between channels. */
bool channelsDiffer(const TensorDesc &desc)
{
	/* Only pixel formats, of up to four channels, have limits that depend on the channel. */
	constexpr uint32_t mostOfPixels = 4;

	if (desc.quantization.values().size() > 1)
		return true;
	for (uint32_t c = 1; c < std::min(desc.c, mostOfPixels); c++)
		if (desc.limits(c) != desc.limits(0))
			return true;
	return false;
}

template<typename Call>
void forEachRun(const TensorDesc &desc, ElementOrder order, Call call)
{
	const uint64_t plane = uint64_t{ desc.h } * desc.w;
	const bool nchw = order == ElementOrder::Nchw;

	if (!channelsDiffer(desc)) {
		call({ 0, desc.elements(), 1, desc.quantization.channel(0), desc.limits(0) });
		return;
	}
	for (uint32_t c = 0; c < desc.c; c++) {
		Run run{ c, plane * desc.n, desc.c, desc.quantization.channel(c), desc.limits(c) };
		if (!nchw) {
			call(run);
			continue;
		}
		run.count = plane;
		run.step = 1;
		for (uint64_t n = 0; n < desc.n; n++) {
			run.first = (n * desc.c + c) * plane;
			call(run);
		}
	}
}

Result<void> checkCount(const char *what, const TensorDesc &desc, const char *kind, uint64_t given,
			uint64_t needed)
{
	if (auto checked = desc.check(); !checked)
		return checked;
	if (given == needed)
		return {};
	return fail(ErrorCode::InvalidArgument, what, "tensor " + desc.describe(),
		    fmt::format("{} {} given, {} needed", given, kind, needed));
}

} /* namespace */

Result<std::vector<std::byte>> elementsFromFloat(const TensorDesc &desc,
						 std::span<const float> values, ElementOrder order)
{
	return guarded("elements from float", [&]() -> Result<std::vector<std::byte>> {
		auto count = checkCount("convert numbers to elements", desc, "numbers",
					values.size(), desc.elements());
		if (!count)
			return forward(count);
		std::vector<std::byte> elements(desc.elements() * elementBytes(desc.type));
		forEachRun(desc, order, [&](const Run &run) {
			convert(desc.type, run, values.data(), elements.data());
		});
		return elements;
	});
}

Result<std::vector<float>> elementsToFloat(const TensorDesc &desc,
					   std::span<const std::byte> elements, ElementOrder order)
{
	return guarded("elements to float", [&]() -> Result<std::vector<float>> {
		auto count = checkCount("convert elements to numbers", desc, "bytes",
					elements.size(), desc.elements() * elementBytes(desc.type));
		if (!count)
			return forward(count);
		std::vector<float> values(desc.elements());
		forEachRun(desc, order, [&](const Run &run) {
			convert(desc.type, run, elements.data(), values.data());
		});
		return values;
	});
}

Result<void> packFloat(const TensorDesc &desc, std::span<const float> values,
		       std::span<std::byte> out, ElementOrder order)
{
	return guarded("pack float", [&]() -> Result<void> {
		return elementsFromFloat(desc, values, order).and_then([&](const auto &elements) {
			return packElements(desc, elements, out, order);
		});
	});
}

Result<std::vector<float>> unpackFloat(const TensorDesc &desc, std::span<const std::byte> tensor,
				       ElementOrder order)
{
	return guarded("unpack float", [&]() -> Result<std::vector<float>> {
		return unpackElements(desc, tensor, order).and_then([&](const auto &elements) {
			return elementsToFloat(desc, elements, order);
		});
	});
}

std::vector<std::byte> elementsFromFloat(DataType type, std::span<const float> values)
{
	std::vector<std::byte> elements(values.size() * elementBytes(type));

	convert(type, wholeRun(type, values.size()), values.data(), elements.data());
	return elements;
}

std::vector<float> elementsToFloat(DataType type, std::span<const std::byte> elements)
{
	const size_t bytes = elementBytes(type);
	std::vector<float> values(bytes ? elements.size() / bytes : 0);

	convert(type, wholeRun(type, values.size()), elements.data(), values.data());
	return values;
}

} /* namespace nvdla */
