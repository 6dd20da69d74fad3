/* SPDX-License-Identifier: MIT */
#include <cstring>

#include <fmt/format.h>
#include <limits>

#include <gtest/gtest.h>
#include <nvdla/tensor_file.h>

#include "test_support.h"

namespace nvdla
{

namespace
{

std::vector<std::byte> npyFile(const std::string &dictionary, const std::vector<std::byte> &data)
{
	std::string text("\x93NUMPY\x01\x00", 8);
	const auto length = static_cast<uint16_t>(dictionary.size());
	text.append(reinterpret_cast<const char *>(&length), 2);
	text += dictionary;
	const auto *raw = reinterpret_cast<const std::byte *>(text.data());
	std::vector<std::byte> bytes(raw, raw + text.size());
	bytes.insert(bytes.end(), data.begin(), data.end());
	return bytes;
}

} /* namespace */

TEST(Dimg, HeaderAndElements)
{
	const TensorDesc desc = TensorDesc::packedFeature("x", DataType::Half, 10, 2, 3);
	const std::vector<std::byte> elements(60 * 2, std::byte{ 7 });
	auto bytes = encodeDimg(desc, elements);
	ASSERT_TRUE(bytes);
	ASSERT_EQ(bytes->size(), 36 + elements.size());

	const uint32_t header[] = { 0, 42, 3, 2, 10, 96, 192, 192 };
	EXPECT_EQ(std::memcmp(bytes->data(), "DIMG", 4), 0);
	EXPECT_EQ(std::memcmp(bytes->data() + 4, header, sizeof(header)), 0);
	auto back = decodeDimg(*bytes, "file");
	ASSERT_TRUE(back);
	EXPECT_EQ(back->elements, elements);
	EXPECT_EQ(back->channel, 10u);
}

TEST(Dimg, RefusesWhatItCannotSay)
{
	TensorDesc desc = TensorDesc::packedFeature("x", DataType::Int8, 1, 1, 1);
	EXPECT_FALSE(encodeDimg(desc, std::vector<std::byte>(2)));
	desc.format = PixelFormat::R8;
	EXPECT_FALSE(encodeDimg(desc, std::vector<std::byte>(1)));
	EXPECT_FALSE(decodeDimg(std::vector<std::byte>(35), "short"));
	EXPECT_FALSE(decodeDimg(std::vector<std::byte>(100), "zero"));
}

TEST(Dimg, IsAnInputOfItsTypeAndShape)
{
	const TensorDesc desc = TensorDesc::packedFeature("x", DataType::Half, 10, 2, 3);
	const auto elements = test::pattern(60 * 2, 1);
	auto dimg = decodeDimg(encodeDimg(desc, elements).value(), "file");
	ASSERT_TRUE(dimg);
	TensorDesc pixels = desc;
	pixels.format = PixelFormat::A16B16G16R16F;
	EXPECT_EQ(elementsFromDimg(desc, *dimg).value(), elements);
	EXPECT_EQ(elementsFromDimg(pixels, *dimg).value(), elements);

	auto refused = [&](const TensorDesc &other, const char *word) {
		auto found = elementsFromDimg(other, *dimg);
		ASSERT_FALSE(found);
		EXPECT_EQ(found.error().code, ErrorCode::InvalidArgument);
		EXPECT_NE(found.error().why.find(word), std::string::npos) << found.error().why;
	};
	refused(TensorDesc::packedFeature("x", DataType::Int16, 10, 2, 3), "format 42");
	refused(TensorDesc::packedFeature("x", DataType::Half, 10, 3, 2), "10 x 2 x 3");
	dimg->elements.pop_back();
	refused(desc, "119 bytes");
}

TEST(Npy, ArraysOfTheKnownTypes)
{
	const std::vector<float> values{ 1, -2, 3.5f, 4, 5, 6 };
	auto array = decodeNpy(
		npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 1, 3), }\n",
			test::bytesOf(values)),
		"file");
	ASSERT_TRUE(array) << array.error().message();
	EXPECT_EQ(array->shape, (std::vector<size_t>{ 1, 2, 1, 3 }));
	EXPECT_EQ(elementsToFloat(array->type, array->elements), values);

	/* The tensor has a channel more, and steps of 0.5 from -3 on. */
	TensorDesc desc = TensorDesc::packedFeature("x", DataType::Int8, 3, 1, 3);
	desc.quantization = Quantization{ 0.5, 3 };
	auto elements = elementsFromNpy(desc, *array);
	ASSERT_TRUE(elements) << elements.error().message();
	EXPECT_EQ(elementsToFloat(DataType::Int8, *elements),
		  (std::vector<float>{ 5, -1, 10, 11, 13, 15, 3, 3, 3 }));

	/* Elements are not converted; what is missing stands for 0 all the same. */
	array = decodeNpy(npyFile("{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 3), }",
				  std::vector<std::byte>(3, std::byte{ 1 })),
			  "file");
	ASSERT_TRUE(array) << array.error().message();
	EXPECT_EQ(elementsToFloat(DataType::Int8, elementsFromNpy(desc, *array).value()),
		  (std::vector<float>{ 1, 1, 1, 3, 3, 3, 3, 3, 3 }));

	auto bytes = decodeNpy(npyFile("{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }",
				       std::vector<std::byte>(3)),
			       "file");
	ASSERT_TRUE(bytes);
	EXPECT_EQ(bytes->type, DataType::Int8);
	EXPECT_FALSE(elementsFromNpy(desc, *bytes));
}

TEST(Npy, DoublesBecomeTheNearestFloats)
{
	const std::vector<double> values{ 0.1, -1e300, 16777217.0 };
	const auto array =
		decodeNpy(npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1, 1), }",
				  test::bytesOf(values)),
			  "file");
	ASSERT_TRUE(array) << array.error().message();
	EXPECT_EQ(
		elementsToFloat(array->type, array->elements),
		(std::vector<float>{ 0.1f, -std::numeric_limits<float>::infinity(), 16777216.0f }));
}

TEST(Npy, BytesAreTheElementsOfUnsignedTensors)
{
	const auto array =
		decodeNpy(npyFile("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 2), }",
				  test::bytesOf(std::vector<uint8_t>{ 0, 1, 200, 255 })),
			  "file");
	ASSERT_TRUE(array) << array.error().message();
	TensorDesc desc = TensorDesc::packedFeature("x", DataType::Int8, 2, 1, 2);
	const auto elements = [&](ElementOrder order) {
		std::vector<unsigned> values;
		const auto bytes = elementsFromNpy(desc, *array, order).value();
		for (const std::byte element : bytes)
			values.push_back(std::to_integer<unsigned>(element));
		return values;
	};

	desc.quantization = Quantization{ 2.0, 0 };
	EXPECT_EQ(elements(ElementOrder::Nhwc), (std::vector<unsigned>{ 0, 100, 1, 127 }));
	desc.isUnsigned = true;
	EXPECT_EQ(elements(ElementOrder::Nhwc), (std::vector<unsigned>{ 0, 200, 1, 255 }));
	EXPECT_FALSE(elementsFromNpy(desc, *array, ElementOrder::Nchw));

	/* Of a host's tensors, whatever their scale; a signed one takes 128 away. */
	for (const auto &[type, first] :
	     { std::pair{ DataType::UInt8, 0.0f }, std::pair{ DataType::Int8, -128.0f } }) {
		TensorDesc plain = TensorDesc::plain("x", type, { 1, 2, 2 });
		plain.quantization = Quantization{ 1.0 / 255, 0 };
		EXPECT_EQ(elementsToFloat(type, elementsFromNpy(plain, *array).value()),
			  (std::vector<float>{ first, first + 1, first + 200, first + 255 }));
	}
}

TEST(Npy, ArraysHaveTheShapeOfTheSignature)
{
	const TensorSignature nchw{ { 1, 3, 4, 5 }, ElementOrder::Nchw };
	const TensorSignature batch{ { 2, 8 }, ElementOrder::Nhwc };
	const auto samples = [](const TensorSignature &signature, std::vector<size_t> shape) {
		return countSamples("x", signature, shape).value_or(0);
	};

	EXPECT_EQ(samples(nchw, { 1, 3, 4, 5 }), 1u);
	EXPECT_EQ(samples(nchw, { 3, 4, 5 }), 1u);
	EXPECT_EQ(samples(nchw, { 7, 3, 4, 5 }), 7u);
	EXPECT_EQ(samples(nchw, { 1, 4, 5, 3 }), 0u);
	EXPECT_EQ(samples(nchw, { 60 }), 0u);
	EXPECT_EQ(samples(nchw, {}), 0u);
	EXPECT_EQ(samples(batch, { 2, 8 }), 1u);
	EXPECT_EQ(samples(batch, { 6, 8 }), 3u);
	EXPECT_EQ(samples(batch, { 5, 8 }), 0u);
	EXPECT_EQ(samples({ { 1, 1 }, ElementOrder::Nhwc }, { 9 }), 9u);
	EXPECT_FALSE(countSamples("x", nchw, std::vector<size_t>{ 0, 3, 4, 5 }));
	EXPECT_FALSE(countSamples("x", batch, std::vector<size_t>{ 0, 8 }));
	const auto other = countSamples("x", nchw, std::vector<size_t>{ 1, 4, 5, 3 });
	EXPECT_NE(other.error().why.find("whose channels are last"), std::string::npos)
		<< other.error().message();
}

TEST(Npy, ArraysOfAModelAreInItsOrder)
{
	TensorDesc desc = TensorDesc::packedFeature("x", DataType::Int16, 2, 1, 2);
	desc.quantization = Quantization{ 0.5, 0 };
	desc.signature = { { 1, 2, 2 }, ElementOrder::Nhwc, true };
	const auto elements = [&](const char *type, auto values) {
		const auto array =
			decodeNpy(npyFile(fmt::format("{{'descr': '{}', 'fortran_order': False, "
						      "'shape': (2, 2), }}",
						      type),
					  test::bytesOf(values)),
				  "file");
		return elementsToFloat(DataType::Int16,
				       elementsFromNpy(desc, array.value()).value());
	};

	/* Bytes and integers of 8 bits are elements, numbers are quantized. */
	EXPECT_EQ(elements("|u1", std::vector<uint8_t>{ 0, 1, 2, 255 }),
		  (std::vector<float>{ -128, -126, -127, 127 }));
	EXPECT_EQ(elements("|i1", std::vector<int8_t>{ 0, 1, 2, -128 }),
		  (std::vector<float>{ 0, 2, 1, -128 }));
	EXPECT_EQ(elements("<i8", std::vector<int64_t>{ 0, 1, 2, -3 }),
		  (std::vector<float>{ 0, 4, 2, -6 }));
}

TEST(Signature, HasAsManyElementsAsTheTensor)
{
	TensorDesc desc = TensorDesc::packedFeature("x", DataType::Int8, 2, 1, 2);

	for (const auto &shape : std::vector<std::vector<uint32_t>>{
		     {}, { 0 }, { 3 }, { 2, 4 }, { 65536, 65536, 65536, 65536 }, { 4, 0 } }) {
		desc.signature = { shape, ElementOrder::Nchw };
		EXPECT_FALSE(desc.check()) << testing::PrintToString(shape);
	}
	desc.signature = { { 4 }, ElementOrder::Nchw };
	EXPECT_TRUE(desc.check());
	desc.signature->order = static_cast<ElementOrder>(2);
	EXPECT_FALSE(desc.check());
}

TEST(Picture, GreyFillsTheColours)
{
	const Image grey{ 2, 1, 1, { 7, 250 } };
	const auto pixels = [&](uint32_t channels) {
		return elementsToFloat(
			DataType::Half,
			elementsFromImage(
				TensorDesc::packedFeature("x", DataType::Half, channels, 1, 2),
				grey)
				.value_or(std::vector<std::byte>{}));
	};

	EXPECT_EQ(pixels(1), (std::vector<float>{ 7, 250 }));
	EXPECT_EQ(pixels(3), (std::vector<float>{ 7, 250, 7, 250, 7, 250 }));
	EXPECT_EQ(pixels(4), (std::vector<float>{ 7, 250, 7, 250, 7, 250, 0, 0 }));
	EXPECT_TRUE(pixels(2).empty());
}

/* Not from a file: what a caller put together. */
TEST(Npy, ArraysThatAreNotWhatTheySay)
{
	TensorDesc desc = TensorDesc::packedFeature("x", DataType::Half, 2, 1, 3);
	for (const DataType type : { DataType::Half, DataType::Int8 }) {
		for (const size_t bytes : { 0, 5, 13, 1000 }) {
			const auto elements = elementsFromNpy(
				desc, { { 2, 1, 3 }, type, std::vector<std::byte>(bytes) });
			ASSERT_FALSE(elements);
			EXPECT_NE(elements.error().why.find(fmt::format("{} bytes", bytes)),
				  std::string::npos)
				<< elements.error().message();
		}
	}
	desc.n = 0;
	EXPECT_FALSE(elementsFromNpy(desc, { { 0, 2, 1, 3 }, DataType::Int8, {} }));
}

TEST(Npy, NumbersAreWrittenAndRead)
{
	const std::vector<float> values{ 1, -2.5f, 3e-20f, 4, 5, 6 };

	for (const std::vector<size_t> &shape : { std::vector<size_t>{ 6 }, { 1, 3, 2, 1 } }) {
		auto bytes = encodeNpy(shape, values);
		ASSERT_TRUE(bytes) << bytes.error().message();
		EXPECT_EQ((bytes->size() - values.size() * sizeof(float)) % 64, 0u)
			<< "numpy maps files";
		auto array = decodeNpy(*bytes, "file");
		ASSERT_TRUE(array) << array.error().message();
		EXPECT_EQ(array->shape, shape);
		EXPECT_EQ(elementsToFloat(array->type, array->elements), values);
	}
	EXPECT_FALSE(encodeNpy(std::vector<size_t>{ 7 }, values));
}

/* As numpy writes a transposed array, and an array of another machine. */
TEST(Npy, OrdersOfElementsAndOfBytes)
{
	const std::vector<int16_t> little{ 1, 4, 2, 5, 3, 6 };
	const std::vector<int16_t> big{ 0x100, 0x400, 0x200, 0x500, 0x300, 0x600 };
	const auto numbersOf = [](const char *code, const std::vector<int16_t> &held) {
		const auto bytes = std::as_bytes(std::span(held));
		auto array =
			decodeNpy(npyFile(fmt::format("{{'descr': '{}', 'fortran_order': True, "
						      "'shape': (1, 2, 3), }}",
						      code),
					  { bytes.begin(), bytes.end() }),
				  "file");
		return array ? elementsToFloat(array->type, array->elements) : std::vector<float>();
	};

	EXPECT_EQ(numbersOf("<i2", little), (std::vector<float>{ 1, 2, 3, 4, 5, 6 }));
	EXPECT_EQ(numbersOf(">i2", big), (std::vector<float>{ 1, 2, 3, 4, 5, 6 }));
	EXPECT_EQ(numbersOf(">u2", big), (std::vector<float>{ 1, 2, 3, 4, 5, 6 }));
}

TEST(Npy, DamagedFilesAreRefused)
{
	const std::vector<std::byte> data(24);
	const char *dictionaries[] = {
		"{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }",
		"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 3), }",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (7,), }",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (x), }",
		"{'descr': '<f4', 'fortran_order': False}",
		"",
	};
	for (const char *dictionary : dictionaries)
		EXPECT_FALSE(decodeNpy(npyFile(dictionary, data), "file")) << dictionary;

	const auto good =
		npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", data);
	EXPECT_TRUE(decodeNpy(good, "file"));
	for (size_t length = 0; length < good.size(); length++)
		EXPECT_FALSE(decodeNpy(std::span(good).first(length), "file")) << length;
}

} /* namespace nvdla */
