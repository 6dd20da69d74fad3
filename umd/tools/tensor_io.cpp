/* SPDX-License-Identifier: MIT */
#include "tensor_io.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>

#include <fmt/core.h>
#include <nvdla/tensor_file.h>

#include "base/io/file.h"
#include "fitted.h"

namespace nvdla::tools
{

namespace
{

constexpr uint64_t maxInputBytes = uint64_t{ 1 } << 32;

bool isNpy(std::span<const std::byte> bytes)
{
	constexpr std::string_view magic = "\x93NUMPY";
	const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());

	return text.starts_with(magic);
}

/* orders: the model's. */
ElementOrder orderOf(const RunSettings &settings, const std::vector<ElementOrder> &orders,
		     size_t index)
{
	return settings.layout.value_or(index < orders.size() ? orders[index] : ElementOrder::Nchw);
}

/* The model's own, unless another order is asked for; of loadables that of the cube. */
std::vector<size_t> arrayShape(const RunSettings &settings, size_t index, const TensorDesc &desc,
			       ElementOrder order)
{
	if (!settings.layout && index < settings.outputShapes.size())
		return { settings.outputShapes[index].begin(), settings.outputShapes[index].end() };
	if (order == ElementOrder::Nhwc)
		return { desc.n, desc.h, desc.w, desc.c };
	return { desc.n, desc.c, desc.h, desc.w };
}

/* The lowest integer of 8 bits stands for a byte of 0. */
constexpr int32_t zeroByte = -128;

bool is8Bits(const RunSettings &settings, size_t index)
{
	return index < settings.inputsOf8Bits.size() && settings.inputsOf8Bits[index];
}

/* Models of 8 bits are made so that their lowest integer is a pixel of 0. */
Result<std::vector<std::byte>> elementsOfModel(const TensorDesc &desc, const Image &image,
					       const RunSettings &settings, size_t index)
{
	TensorDesc quantized = desc;

	if (is8Bits(settings, index) && settings.scaling == PixelScaling{})
		quantized.quantization = Quantization{ 1.0, zeroByte };
	return elementsFromImage(quantized, fitted(image, desc.c, desc.h, desc.w),
				 settings.scaling);
}

Result<std::vector<std::byte>> inputElements(const TensorDesc &desc, size_t index,
					     std::span<const std::byte> bytes,
					     const std::string &path, const RunSettings &settings)
{
	constexpr std::string_view dimgMagic = "DIMG";
	const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());

	if (isNpy(bytes)) {
		auto array = decodeNpy(bytes, path);
		if (!array)
			return forward(array);
		return elementsFromNpy(desc, *array,
				       orderOf(settings, settings.inputOrders, index));
	}
	if (text.starts_with(dimgMagic)) {
		auto dimg = decodeDimg(bytes, path);
		if (!dimg)
			return forward(dimg);
		return elementsFromDimg(desc, *dimg);
	}
	auto image = decodeImage(bytes, path);
	if (!image)
		return forward(image);
	if (settings.network.isModel)
		return elementsOfModel(desc, *image, settings, index);
	if (desc.type == DataType::Int8 && desc.quantization.none() &&
	    settings.scaling != PixelScaling{})
		return fail(ErrorCode::InvalidArgument, "--mean and --normalize", path,
			    fmt::format("change nothing in {} pixels without --input-scale",
					dataTypeName(desc.type)));
	return elementsFromImage(desc, *image, settings.scaling);
}

/* Elements separated by blanks, as the first runtime wrote them. */
std::string elementText(const TensorDesc &desc, std::span<const std::byte> elements)
{
	std::string text;

	for (float value : elementsToFloat(desc.type, elements)) {
		if (!text.empty())
			text += ' ';
		text += fmt::format("{}", value);
	}
	text += '\n';
	return text;
}

/*
 * An array in the order of the model: elements of the tensor's type, or numbers of another.
 * Integers of 8 bits are the elements of a tensor that has them.
 */
Result<void> setInModelOrder(Network &network, size_t index, std::span<const std::byte> bytes,
			     const RunSettings &settings, const std::string &path)
{
	const ElementOrder order = orderOf(settings, settings.inputOrders, index);
	const TensorDesc &desc = network.inputs()[index];
	auto array = decodeNpy(bytes, path);
	if (!array)
		return forward(array);
	const size_t count = array->elements.size() / elementBytes(array->type);
	if (count != desc.elements())
		return fail(ErrorCode::InvalidArgument, "set input", path,
			    fmt::format("has {} elements, {} needs {}", count, desc.describe(),
					desc.elements()));
	if (is8Bits(settings, index) && (array->ofBytes || array->type == DataType::Int8)) {
		std::vector<float> numbers = elementsToFloat(array->type, array->elements);
		for (float &number : numbers)
			number += array->ofBytes ? zeroByte : 0;
		array->elements = elementsFromFloat(desc.type, numbers);
	} else if (array->type != desc.type)
		return network.setInputFloat(index, elementsToFloat(array->type, array->elements),
					     order);
	std::vector<std::byte> tensor(desc.size);
	if (auto packed = packElements(desc, array->elements, tensor, order); !packed)
		return packed;
	return network.setInput(index, tensor);
}

} /* namespace */

FileKind fileKind(const std::string &path)
{
	if (path.ends_with(".dimg"))
		return FileKind::Dimg;
	if (path.ends_with(".npy"))
		return FileKind::Npy;
	return path.ends_with(".raw") ? FileKind::Raw : FileKind::Other;
}

Result<void> setInput(Network &network, size_t index, const std::string &path,
		      const RunSettings &settings)
{
	auto bytes = readWholeFile(path, maxInputBytes);
	if (!bytes)
		return forward(bytes);
	if (fileKind(path) == FileKind::Raw || index >= network.inputs().size())
		return network.setInput(index, *bytes);

	if (settings.network.isModel && isNpy(*bytes))
		return setInModelOrder(network, index, *bytes, settings, path);
	auto elements = inputElements(network.inputs()[index], index, *bytes, path, settings);
	if (!elements)
		return forward(elements);
	return network.setInputElements(index, *elements);
}

Result<void> writeOutput(const Network &network, size_t index, const std::string &path,
			 const RunSettings &settings)
{
	const TensorDesc &desc = network.outputs()[index];

	if (fileKind(path) == FileKind::Raw) {
		auto tensor = network.output(index);
		if (!tensor)
			return forward(tensor);
		return writeWholeFile(path, *tensor);
	}
	if (fileKind(path) == FileKind::Npy) {
		const ElementOrder order = orderOf(settings, settings.outputOrders, index);
		const std::vector<size_t> shape = arrayShape(settings, index, desc, order);
		auto array = network.outputFloat(index, order).and_then([&](const auto &values) {
			return encodeNpy(shape, values);
		});
		if (!array)
			return forward(array);
		return writeWholeFile(path, *array);
	}

	auto elements = network.outputElements(index);
	if (!elements)
		return forward(elements);
	if (settings.rawDump) {
		const std::string text = elementText(desc, *elements);
		return writeWholeFile(path, std::as_bytes(std::span(text)));
	}
	auto dimg = encodeDimg(desc, *elements);
	if (!dimg)
		return forward(dimg);
	return writeWholeFile(path, *dimg);
}

Result<std::vector<std::pair<size_t, float>>> topElements(const Network &network, size_t index,
							  size_t count)
{
	auto numbers = network.outputFloat(index);
	if (!numbers)
		return forward(numbers);
	const std::vector<float> &values = *numbers;

	std::vector<size_t> order(values.size());
	std::iota(order.begin(), order.end(), 0);
	count = std::min(count, order.size());
	/* Equal values keep the order of their indices; NaN comes last. */
	std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
		return values[a] > values[b] || (values[a] == values[a] && values[b] != values[b]);
	});

	std::vector<std::pair<size_t, float>> top;
	for (size_t i = 0; i < count; i++)
		top.emplace_back(order[i], values[order[i]]);
	return top;
}

} /* namespace nvdla::tools */
