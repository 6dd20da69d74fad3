/* SPDX-License-Identifier: MIT */
#include "tensor_io.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <numeric>
#include <string_view>

#include <fmt/core.h>
#include <nvdla/tensor_file.h>

#include "base/io/file.h"
#include "base/io/printable.h"
#include "base/tensor/input_note.h"
#include "picture_input.h"
#include "program.h"

namespace nvdla::tools
{

namespace
{

constexpr uint64_t maxInputBytes = uint64_t{ 1 } << 32;

/* Returns the shape of a .npy file. Without \a order, this is the shape of the model's tensor,
 * if the model is known; otherwise four axes, in \a order or, by default, N, C, H, W. */
std::vector<size_t> arrayShape(const TensorDesc &desc, std::optional<ElementOrder> order)
{
	if (!order && desc.signature)
		return { desc.signature->shape.begin(), desc.signature->shape.end() };
	if (order == ElementOrder::Nhwc)
		return { desc.n, desc.h, desc.w, desc.c };
	return { desc.n, desc.c, desc.h, desc.w };
}

Result<std::vector<std::byte>> inputElements(const TensorDesc &desc,
					     std::span<const std::byte> bytes,
					     const std::string &path, const RunSettings &settings,
					     bool isQuantized, std::string &note)
{
	constexpr std::string_view npyMagic = "\x93NUMPY", dimgMagic = "DIMG";
	const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());

	if (text.starts_with(npyMagic)) {
		auto array = decodeNpy(bytes, path);
		if (!array)
			return forward(array);
		auto elements = elementsFromNpy(desc, *array, settings.layout);
		if (const std::string note = inputNote(desc, array->type, array->elements);
		    elements && !note.empty())
			say(fmt::format("{}: {}: {}\n", program_invocation_short_name, path, note));
		return elements;
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
	std::optional<PixelScaling> scaling = settings.scaling;
	if (scaling) {
		auto complete = ScalingOptions::forChannels(*scaling, desc.c);
		if (!complete)
			return forward(complete);
		scaling = *complete;
	}
	note = pictureNote(desc, *image, path, scaling, isQuantized);
	return pictureElements(desc, *image, path, scaling, isQuantized);
}

/* Returns the elements as text, separated by blanks, as NVIDIA's runtime writes them. */
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

} /* namespace */

FileKind fileKind(const std::string &path)
{
	if (path.ends_with(".dimg"))
		return FileKind::Dimg;
	if (path.ends_with(".npy"))
		return FileKind::Npy;
	return path.ends_with(".raw") ? FileKind::Raw : FileKind::Other;
}

Result<void> checkUses(const ScalingOptions &scaling, const std::vector<std::string> &inputs)
{
	const bool picture = std::ranges::any_of(
		inputs, [](const std::string &path) { return fileKind(path) == FileKind::Other; });

	for (const CommandLineOption &option : scaling.all()) {
		if (auto used = checkUses({ { option, picture, "a picture as --input" } }); !used)
			return used;
	}
	return {};
}

Result<std::string> setInput(Network &network, size_t index, const std::string &path,
			     const RunSettings &settings)
{
	std::string note;
	auto bytes = readWholeFile(path, maxInputBytes);
	if (!bytes)
		return forward(bytes);
	if (fileKind(path) == FileKind::Raw || index >= network.inputs().size())
		return network.setInput(index, *bytes).map([&] { return note; });

	auto elements = inputElements(network.inputs()[index], *bytes, path, settings,
				      index < settings.inputQuantizations.size(), note);
	if (!elements)
		return forward(elements);
	return network.setInputElements(index, *elements).map([&] { return note; });
}

void sayZeroInputs(const char *program, size_t given, const Network &network)
{
	for (size_t i = given; i < network.inputs().size(); i++)
		say(fmt::format("{}: input '{}' is zero: --input was not given for it\n", program,
				printable(network.inputs()[i].name)));
}

Result<void> writeOutput(const Network &network, size_t index, const std::string &path,
			 const RunSettings &settings)
{
	auto described = network.outputDesc(index);

	if (!described)
		return forward(described);
	const TensorDesc &desc = *described;
	if (fileKind(path) == FileKind::Raw) {
		auto tensor = network.output(index);
		if (!tensor)
			return forward(tensor);
		return writeOrPrint(path, *tensor);
	}
	if (fileKind(path) == FileKind::Npy) {
		const ElementOrder order = settings.layout.value_or(desc.order());
		const std::vector<size_t> shape = arrayShape(desc, settings.layout);
		if (desc.format == PixelFormat::Plain && desc.quantization.none()) {
			auto own = network.outputElements(index, order).and_then([&](auto &&all) {
				return encodeNpy(shape, desc.type, all);
			});
			return own ? writeOrPrint(path, *own) : forward(own);
		}
		auto array = network.outputFloat(index, order).and_then([&](const auto &values) {
			return encodeNpy(shape, values);
		});
		if (!array)
			return forward(array);
		return writeOrPrint(path, *array);
	}

	auto elements = network.outputElements(index);
	if (!elements)
		return forward(elements);
	if (settings.rawDump) {
		const std::string text = elementText(desc, *elements);
		return writeOrPrint(path, std::as_bytes(std::span(text)));
	}
	auto dimg = encodeDimg(desc, *elements);
	if (!dimg)
		return forward(dimg);
	return writeOrPrint(path, *dimg);
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
