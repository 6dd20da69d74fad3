/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nvdla/tensor_file.h>

#include "base/io/guarded.h"
#include "byte_reader.h"
#include "file.h"

namespace nvdla
{

namespace
{

constexpr const char *readingNpy = "read npy";
constexpr std::array<char, 6> npyMagic{ '\x93', 'N', 'U', 'M', 'P', 'Y' };
constexpr uint64_t maxNpyBytes = uint64_t{ 1 } << 32;
/* Largest number of elements of an array: 2^32, or in a 32-bit process as many doubles as it can
 * address. */
constexpr auto maxElements =
	static_cast<size_t>(std::min(uint64_t{ 1 } << 32, uint64_t{ SIZE_MAX } / sizeof(double)));

tl::unexpected<Error> badNpy(const std::string &name, std::string why)
{
	return fail(ErrorCode::InvalidFile, readingNpy, name, std::move(why));
}

/* Returns the text between \a key and the next character \a end in a file's header, which is a
 * dictionary in the syntax of Python. */
std::string_view valueOf(std::string_view dictionary, std::string_view key, char end)
{
	const size_t at = dictionary.find(key);
	if (at == std::string_view::npos)
		return {};
	const std::string_view value = dictionary.substr(at + key.size());
	return value.substr(0, value.find(end));
}

Result<std::vector<size_t>> shapeOf(std::string_view dictionary, const std::string &name)
{
	std::string_view text = valueOf(dictionary, "'shape':", ')');
	std::vector<size_t> shape;

	const size_t open = text.find('(');
	if (open == std::string_view::npos)
		return badNpy(name, "the header has no shape");
	text.remove_prefix(open + 1);
	size_t elements = 1;
	while (true) {
		while (!text.empty() && (text.front() == ' ' || text.front() == ','))
			text.remove_prefix(1);
		if (text.empty())
			return shape;
		size_t extent = 0;
		const auto [next, error] =
			std::from_chars(text.data(), text.data() + text.size(), extent);
		if (error != std::errc() || extent == 0 || extent > maxElements / elements)
			return badNpy(name, fmt::format("cannot have the shape ({})", text));
		elements *= extent;
		shape.push_back(extent);
		text.remove_prefix(static_cast<size_t>(next - text.data()));
	}
}

/* Converts uint8 to int16, which can hold all values of uint8. */
std::vector<std::byte> widened(std::span<const std::byte> bytes)
{
	std::vector<std::byte> wide(2 * bytes.size());

	for (size_t i = 0; i < bytes.size(); i++)
		wide[2 * i] = bytes[i];
	return wide;
}

/*
 * Converts numbers to the nearest float32, ties to even; numbers that are too large become
 * infinite.
 */
template<typename T>
std::vector<std::byte> narrowed(std::span<const std::byte> bytes)
{
	std::vector<float> narrow(bytes.size() / sizeof(T));

	for (size_t i = 0; i < narrow.size(); i++) {
		T value;
		std::memcpy(&value, &bytes[i * sizeof(value)], sizeof(value));
		narrow[i] = static_cast<float>(value);
	}
	const auto narrowBytes = std::as_bytes(std::span(narrow));
	return { narrowBytes.begin(), narrowBytes.end() };
}

/* A type of elements in files, the type that they get in the array, and the conversion between the
 * two. */
struct FileType {
	const char *code;
	DataType type;
	size_t fileBytes; /* bytes of an element in the file */
	std::vector<std::byte> (*convert)(std::span<const std::byte>) = nullptr;
	bool ofBytes = false;
	bool isBigEndian = false;
};

constexpr FileType fileTypes[] = {
	{ "'<f8'", DataType::Float, sizeof(double), narrowed<double> },
	{ "'<f4'", DataType::Float, sizeof(float) },
	{ "'<i8'", DataType::Int64, sizeof(int64_t) },
	{ "'<i4'", DataType::Int32, sizeof(int32_t) },
	{ "'<u8'", DataType::Float, sizeof(uint64_t), narrowed<uint64_t> },
	{ "'<u4'", DataType::Float, sizeof(uint32_t), narrowed<uint32_t> },
	{ "'<u2'", DataType::Float, sizeof(uint16_t), narrowed<uint16_t> },
	{ "'|b1'", DataType::Bool, sizeof(bool) },
	{ "'<f2'", DataType::Half, 2 },
	{ "'<i2'", DataType::Int16, 2 },
	{ "'|i1'", DataType::Int8, 1 },
	{ "'|u1'", DataType::Int16, 1, widened, true },
};

Result<FileType> typeOf(std::string_view dictionary, const std::string &name)
{
	const std::string_view text = valueOf(dictionary, "'descr':", ',');
	std::string code(text);

	std::ranges::replace(code, '>', '<');
	for (FileType known : fileTypes) {
		if (code.find(known.code) == std::string::npos)
			continue;
		known.isBigEndian = text.find('>') != std::string_view::npos;
		return known;
	}
	return fail(ErrorCode::Unsupported, readingNpy, name,
		    fmt::format("element type {}; float16 to float64, integers and bool are read; "
				"convert it with numpy's astype",
				text));
}

size_t bytesOf(std::span<const size_t> shape, size_t each)
{
	return std::accumulate(shape.begin(), shape.end(), each, std::multiplies());
}

/* Reverses the bytes of each element. */
void swapBytes(std::vector<std::byte> &elements, size_t each)
{
	for (auto at = elements.begin(); at != elements.end(); at += static_cast<ptrdiff_t>(each))
		std::reverse(at, at + static_cast<ptrdiff_t>(each));
}

/* Changes the order of elements from that of Fortran, where the first axis changes fastest, to that
 * of C, where the last one does. */
void toOrderOfC(std::vector<std::byte> &elements, std::span<const size_t> shape, size_t each)
{
	const std::vector<std::byte> given = elements;
	const size_t count = given.size() / each;

	for (size_t i = 0; i < count; i++) {
		size_t rest = i, at = 0, stride = count;
		for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
			stride /= shape[axis];
			at += rest % shape[axis] * stride;
		}
		std::memcpy(&elements[i * each], &given[at * each], each);
	}
}

/* Copies images, whose channels are planes, to \a to, which has \a imageBytes bytes for each image.
 * The rest of these bytes is not changed if an image is smaller, such as an image of three channels
 * for a tensor of four. */
void copyImages(const NpyArray &array, size_t images, size_t imageBytes, std::span<std::byte> to)
{
	const size_t given = array.elements.size() / images;

	for (size_t n = 0; n < images; n++)
		std::copy_n(&array.elements[n * given], given, &to[n * imageBytes]);
}

} /* namespace */

Result<NpyArray> decodeNpy(std::span<const std::byte> bytes, const std::string &name)
{
	return guarded("decode npy", [&]() -> Result<NpyArray> {
		ByteReader reader(bytes);
		const auto start = reader.take<std::array<char, 6>>();
		const auto version = reader.take<std::array<uint8_t, 2>>();
		if (start != npyMagic || !version)
			return badNpy(name, "does not start as a npy file does");

		size_t length = 0;
		if ((*version)[0] == 1)
			length = reader.take<uint16_t>().value_or(0);
		else
			length = reader.take<uint32_t>().value_or(0);
		const auto header = reader.take(length);
		if (!length || !header)
			return badNpy(name, "is truncated");

		const std::string_view dictionary(reinterpret_cast<const char *>(header->data()),
						  header->size());
		auto type = typeOf(dictionary, name);
		if (!type)
			return forward(type);
		auto shape = shapeOf(dictionary, name);
		if (!shape)
			return forward(shape);
		const std::string_view order = valueOf(dictionary, "'fortran_order':", ',');
		const bool isFortran = order.find("True") != std::string_view::npos;
		if (!isFortran && order.find("False") == std::string_view::npos)
			return badNpy(name, "has neither True nor False as fortran_order");

		const size_t needed = bytesOf(*shape, type->fileBytes);
		if (reader.rest().size() != needed)
			return badNpy(name,
				      fmt::format("holds {} bytes of elements, shape {} needs {}",
						  reader.rest().size(), *shape, needed));
		std::vector<std::byte> file(reader.rest().begin(), reader.rest().end());
		if (type->isBigEndian)
			swapBytes(file, type->fileBytes);
		if (isFortran)
			toOrderOfC(file, *shape, type->fileBytes);
		return NpyArray{ *shape, type->type,
				 type->convert ? type->convert(file) : std::move(file),
				 type->ofBytes };
	});
}

Result<NpyArray> readNpy(const std::string &path)
{
	return guarded("read npy", [&]() -> Result<NpyArray> {
		auto bytes = readWholeFile(path, maxNpyBytes);
		if (!bytes)
			return forward(bytes);
		return decodeNpy(*bytes, path);
	});
}

namespace
{

std::string acceptedShapes(const TensorDesc &desc, ElementOrder order)
{
	const bool last = order == ElementOrder::Nhwc;
	const std::string image = last ? fmt::format("{}, {}, {}", desc.h, desc.w, desc.c)
				       : fmt::format("{}, {}, {}", desc.c, desc.h, desc.w);
	std::string shapes = fmt::format("[{}, {}]", desc.n, image);

	if (desc.n == 1)
		shapes += fmt::format(" or [{}]", image);
	if (desc.c > 1)
		shapes += fmt::format(", also with fewer channels than {}", desc.c);
	return shapes;
}

/* Returns the array in N, C, H, W order; an array of three axes gets a first axis of length 1. */
NpyArray inChannelOrder(const NpyArray &array, ElementOrder order)
{
	NpyArray result = array;

	if (result.shape.size() == 3)
		result.shape.insert(result.shape.begin(), 1);
	if (result.shape.size() != 4 || order == ElementOrder::Nchw)
		return result;
	const size_t n = result.shape[0], plane = result.shape[1] * result.shape[2],
		     c = result.shape[3], each = elementBytes(array.type);
	result.shape = { n, c, result.shape[1], result.shape[2] };
	for (size_t i = 0; i < n * c * plane; i++) {
		const size_t image = i / (c * plane), channel = i / plane % c, pixel = i % plane;
		std::memcpy(&result.elements[i * each],
			    &array.elements[((image * plane + pixel) * c + channel) * each], each);
	}
	return result;
}

constexpr const char *converting = "convert npy to tensor";

/* Returns the lengths that are not 1, for comparisons, in which (1, 1, 28, 28) and (28, 28) are
 * equal. */
std::vector<size_t> withoutOnes(auto shape)
{
	std::erase(shape, 1);
	return { shape.begin(), shape.end() };
}

/* Returns the shape of the same tensor in the other ElementOrder: the axis of channels moves from
 * the second place to the last, or back. */
std::vector<uint32_t> inOtherOrder(const TensorSignature &signature)
{
	std::vector<uint32_t> shape = signature.shape;

	if (shape.size() < 3)
		return shape;
	if (signature.order == ElementOrder::Nchw)
		std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
	else
		std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
	return shape;
}

/*
 * Returns the array in N, C, H, W order. If \a desc has a signature and no \a order is given, the
 * axes of \a given are those of the model's tensor. In all other cases \a given should have three
 * or four axes, in \a order (default: channels before lines and columns).
 */
Result<NpyArray> inAxesOf(const TensorDesc &desc, const NpyArray &given,
			  std::optional<ElementOrder> order)
{
	NpyArray array = given;

	if (order || !desc.signature)
		return inChannelOrder(array, order.value_or(ElementOrder::Nchw));
	auto samples = countSamples(desc.name, *desc.signature, given.shape);
	if (!samples)
		return forward(samples);
	if (*samples != 1)
		return fail(ErrorCode::InvalidArgument, converting, "tensor " + desc.describe(),
			    fmt::format("the array has {} samples, the network takes 1", *samples));
	if (desc.signature->order == ElementOrder::Nhwc)
		array.shape = { desc.n, desc.h, desc.w, desc.c };
	else
		array.shape = { desc.n, desc.c, desc.h, desc.w };
	return inChannelOrder(array, desc.signature->order);
}

/* Networks of 8 bits store an unsigned byte as a signed integer that is less by 128, so this
 * integer represents the byte 0. */
constexpr float zeroByte = -128;

/* Returns the offset to add to each number of the array, mostly 0, if the array holds elements of
 * the tensor; nothing if it holds real numbers, which have to be quantized. */
std::optional<float> offsetOfElements(const TensorDesc &desc, const NpyArray &array)
{
	const bool hasBytes = array.ofBytes || array.type == DataType::Int8;

	if (desc.signature && desc.signature->is8Bits && hasBytes)
		return array.ofBytes ? zeroByte : 0;
	if (array.type == desc.type)
		return 0;
	if (array.ofBytes &&
	    (desc.type == DataType::UInt8 || (desc.isUnsigned && desc.type == DataType::Int8)))
		return 0;
	return std::nullopt;
}

} /* namespace */

Result<size_t> countSamples(const std::string &name, const TensorSignature &signature,
			    std::span<const size_t> shape)
{
	return guarded(converting, [&]() -> Result<size_t> {
		const auto wanted = withoutOnes(signature.shape);
		const auto given = withoutOnes(std::vector<size_t>(shape.begin(), shape.end()));
		const auto endsAlike = [&](size_t count) {
			return std::ranges::equal(std::span(given).last(count),
						  std::span(wanted).last(count));
		};

		if (given == wanted)
			return 1;
		if (given.size() == wanted.size() + 1 && given[0] && endsAlike(wanted.size()))
			return given[0];
		if (given.size() == wanted.size() && signature.shape[0] > 1 && given[0] &&
		    endsAlike(wanted.size() - 1) && given[0] % wanted[0] == 0)
			return given[0] / wanted[0];
		const bool isOther = given == withoutOnes(inOtherOrder(signature));
		const bool isLast = signature.order == ElementOrder::Nhwc;
		return fail(
			ErrorCode::InvalidArgument, converting, fmt::format("tensor {}", name),
			fmt::format("the array has the shape {}, the model has {}: {}", shape,
				    signature.shape,
				    isOther ? fmt::format("transpose the array, whose channels "
							  "are {} ({}; nvdla-run reads such an "
							  "array with --layout {}, other programs "
							  "have no such option)",
							  isLast ? "first" : "last",
							  isLast ? "nchw" : "nhwc",
							  isLast ? "nchw" : "nhwc")
					    : "axes of length 1 may be left out, the others have "
					      "to be equal"));
	});
}

Result<std::vector<std::byte>> elementsFromNpy(const TensorDesc &desc, const NpyArray &given,
					       std::optional<ElementOrder> order)
{
	return guarded(converting, [&]() -> Result<std::vector<std::byte>> {
		if (auto checked = desc.check(); !checked)
			return forward(checked);
		if (given.elements.size() != bytesOf(given.shape, elementBytes(given.type)))
			return fail(
				ErrorCode::InvalidArgument, converting, "tensor " + desc.describe(),
				fmt::format("the array has {} bytes of elements, shape {} needs {}",
					    given.elements.size(), given.shape,
					    bytesOf(given.shape, elementBytes(given.type))));
		auto array = inAxesOf(desc, given, order);
		if (!array)
			return forward(array);
		const std::vector<size_t> &shape = array->shape;
		if (shape.size() != 4 || shape[0] != desc.n || shape[1] > desc.c ||
		    shape[2] != desc.h || shape[3] != desc.w)
			return fail(
				ErrorCode::InvalidArgument, converting, "tensor " + desc.describe(),
				fmt::format(
					"the array has the shape {}; accepted is {}", given.shape,
					acceptedShapes(desc, order.value_or(ElementOrder::Nchw))));
		const size_t image = size_t{ desc.c } * desc.h * desc.w;
		const auto offset = offsetOfElements(desc, *array);
		if (offset && array->type == desc.type && *offset == 0) {
			auto elements =
				elementsFromFloat(desc, std::vector<float>(desc.elements()));
			if (elements)
				copyImages(*array, desc.n, image * elementBytes(array->type),
					   *elements);
			return elements;
		}
		std::vector<std::byte> held(desc.elements() * elementBytes(array->type));
		copyImages(*array, desc.n, image * elementBytes(array->type), held);
		std::vector<float> numbers = elementsToFloat(array->type, held);
		if (!offset)
			return elementsFromFloat(desc, numbers);
		for (float &number : numbers)
			number += *offset;
		TensorDesc elements = desc;
		elements.quantization = {};
		return elementsFromFloat(elements, numbers);
	});
}

namespace
{

Result<std::vector<std::byte>> encodeArray(std::span<const size_t> shape, const char *code,
					   size_t each, std::span<const std::byte> data)
{
	constexpr size_t alignment = 64;
	const size_t needed = bytesOf(shape, 1);

	if (needed * each != data.size())
		return fail(ErrorCode::InvalidArgument, "write npy", "",
			    fmt::format("{} numbers given, shape {} needs {}", data.size() / each,
					shape, needed));

	std::string dictionary =
		fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ({}{}), }}", code,
			    fmt::join(shape, ", "), shape.empty() ? "" : ",");
	const size_t start = npyMagic.size() + 2 + sizeof(uint16_t);
	dictionary.append(alignment - (start + dictionary.size() + 1) % alignment, ' ');
	dictionary += '\n';

	std::string file(npyMagic.data(), npyMagic.size());
	const auto length = static_cast<uint16_t>(dictionary.size());
	file += '\x01';
	file += '\0';
	file.append(reinterpret_cast<const char *>(&length), sizeof(length));
	file += dictionary;
	const auto head = std::as_bytes(std::span(file));
	std::vector<std::byte> bytes(head.begin(), head.end());
	bytes.insert(bytes.end(), data.begin(), data.end());
	return bytes;
}

} /* namespace */

Result<std::vector<std::byte>> encodeNpy(std::span<const size_t> shape,
					 std::span<const float> values)
{
	return guarded("encode npy", [&] {
		return encodeArray(shape, "'<f4'", sizeof(float), std::as_bytes(values));
	});
}

Result<std::vector<std::byte>> encodeNpy(std::span<const size_t> shape, DataType type,
					 std::span<const std::byte> elements)
{
	return guarded("encode npy", [&]() -> Result<std::vector<std::byte>> {
		if (type == DataType::UInt8)
			return encodeArray(shape, "'|u1'", 1, elements);
		for (const FileType &known : fileTypes) {
			if (known.type == type && !known.convert)
				return encodeArray(shape, known.code, known.fileBytes, elements);
		}
		return fail(ErrorCode::InvalidArgument, "write npy", dataTypeName(type),
			    "is no type of arrays");
	});
}

} /* namespace nvdla */
