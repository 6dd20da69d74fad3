/* SPDX-License-Identifier: MIT */
/*
 * Tensors in every layout: what the device model's readers find in them, and that the fast
 * way gives what the readable one gives.
 */
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "conv/pixel_format.h"
#include "core/ram_memory.h"
#include "each_target.h"
#include "model_convolution.h"
#include "random.h"
#include "rubik/rubik.h"
#include "base/tensor/packing.h"
#include "base/tensor/transpose.h"

namespace nvdla
{

namespace
{

using test::forEachTarget;
using test::Random;

uint16_t elementAt(const std::vector<std::byte> &elements, size_t bytes, size_t index)
{
	uint16_t element = 0;

	std::memcpy(&element, &elements[index * bytes], bytes);
	return element;
}

/* Elements of a picture; those of packed words within their bits. */
std::vector<std::byte> randomPixels(Random &random, const TensorDesc &desc,
				    ElementOrder order = ElementOrder::Nchw)
{
	std::vector<std::byte> elements = random.bytes(desc.elements() * elementBytes(desc.type));

	if (pixelFormatInfo(desc.format)->kind != PixelKind::Packed10)
		return elements;
	for (size_t i = 0; i < desc.elements(); i++) {
		const size_t channel =
			order == ElementOrder::Nchw ? i / desc.h / desc.w % desc.c : i % desc.c;
		const uint32_t bits = PixelFormatInfo::packedBits(static_cast<uint32_t>(channel));
		const auto element =
			static_cast<uint16_t>(elementAt(elements, 2, i) & ((1U << bits) - 1));
		std::memcpy(&elements[i * 2], &element, sizeof(element));
	}
	return elements;
}

/* A picture of a format: any of its channels or some planes, gaps behind lines, several images. */
TensorDesc randomPicture(Random &random, PixelFormat format)
{
	const uint32_t widest = random(0, 9) ? 150 : 1700;
	TensorDesc desc =
		TensorDesc::image("image", format, random.size(1, 4), random.size(1, widest));
	const PixelFormatInfo &info = *pixelFormatInfo(format);
	const uint32_t gap = random(0, 1) ? 32 * random.size(1, 2) : 0;

	desc.n = random.size(1, 2);
	desc.lineStride += gap;
	desc.lineStrideUv += info.planes == 2 ? gap : 0;
	desc.surfaceStride = desc.lineStride * desc.h;
	desc.size = desc.n * (desc.size + uint64_t{ gap } * desc.h * info.planes);
	if (info.channels == 1) {
		desc.c = random.size(1, 6);
		desc.size *= desc.c;
	} else if (random(0, 1)) {
		desc.c = random.size(1, desc.c);
	}
	return desc;
}

/* Bytes at an odd address. */
class Unaligned
{
public:
	explicit Unaligned(std::span<const std::byte> bytes) : memory_(bytes.size() + 1)
	{
		std::copy(bytes.begin(), bytes.end(), memory_.begin() + 1);
	}

	std::span<std::byte> span() { return std::span(memory_).subspan(1); }
	std::vector<std::byte> bytes() const { return { memory_.begin() + 1, memory_.end() }; }

private:
	std::vector<std::byte> memory_;
};

/* The same elements with channels innermost. */
std::vector<std::byte> toNhwc(const TensorDesc &desc, const std::vector<std::byte> &nchw)
{
	const size_t bytes = elementBytes(desc.type);
	const size_t plane = size_t{ desc.h } * desc.w;
	std::vector<std::byte> nhwc(nchw.size());

	for (size_t n = 0; n < desc.n; n++)
		for (size_t c = 0; c < desc.c; c++)
			for (size_t i = 0; i < plane; i++)
				std::memcpy(&nhwc[((n * plane + i) * desc.c + c) * bytes],
					    &nchw[((n * desc.c + c) * plane + i) * bytes], bytes);
	return nhwc;
}

void expectPixels(const TensorDesc &desc, const std::vector<std::byte> &elements,
		  const std::vector<std::byte> &packed)
{
	const sim::PixelFormat &model = *sim::pixelFormat(static_cast<uint32_t>(desc.format));
	const size_t bytes = elementBytes(desc.type);
	size_t i = 0;

	ASSERT_EQ(model.channels, desc.c);
	for (uint32_t c = 0; c < desc.c; c++) {
		for (uint32_t h = 0; h < desc.h; h++) {
			for (uint32_t w = 0; w < desc.w; w++, i++) {
				const std::byte *plane0 =
					&packed[h * desc.lineStride + w * model.pixelBytes(0)];
				const std::byte *plane1 = model.planes == 2
								  ? &packed[desc.surfaceStride +
									    h * desc.lineStrideUv +
									    w * model.pixelBytes(1)]
								  : nullptr;
				uint32_t expected = elementAt(elements, bytes, i);
				if (model.kind == sim::PixelKind::Packed10)
					expected <<= c == 3 ? 14 : 6;
				ASSERT_EQ(sim::pixelChannel(model, c, plane0, plane1), expected)
					<< desc.describe() << " channel " << c;
			}
		}
	}
}

} /* namespace */

TEST(Packing, TheModelReadsEveryPixelFormat)
{
	Random random(301);

	for (unsigned format = 0; format < static_cast<unsigned>(PixelFormat::Feature); format++) {
		for (int round = 0; round < 5; round++) {
			TensorDesc desc =
				TensorDesc::image("image", static_cast<PixelFormat>(format),
						  random.size(1, 6), random.size(1, 40));
			const PixelFormatInfo &info = *pixelFormatInfo(desc.format);
			const uint32_t gap = 32 * random.size(0, 2);
			desc.lineStride += gap;
			desc.lineStrideUv += info.planes == 2 ? gap : 0;
			desc.size += uint64_t{ gap } * desc.h * info.planes;
			desc.surfaceStride = info.planes == 2 ? desc.lineStride * desc.h : 0;
			ASSERT_TRUE(desc.check()) << desc.check().error().message();

			const auto elements = randomPixels(random, desc);
			std::vector<std::byte> packed(desc.size, std::byte{ 0xaa });
			ASSERT_TRUE(packElements(desc, elements, packed));
			expectPixels(desc, elements, packed);
			EXPECT_EQ(*unpackElements(desc, packed), elements);

			const auto nhwc = toNhwc(desc, elements);
			std::vector<std::byte> again(desc.size, std::byte{ 0x55 });
			ASSERT_TRUE(packElements(desc, nhwc, again, ElementOrder::Nhwc));
			EXPECT_EQ(again, packed);
			EXPECT_EQ(*unpackElements(desc, packed, ElementOrder::Nhwc), nhwc);
		}
	}
}

TEST(Packing, NamesAreThoseOfTheFormatDocument)
{
	EXPECT_EQ(pixelFormatName(PixelFormat::R16F), "R16_F");
	EXPECT_EQ(pixelFormatName(PixelFormat::A2Y10U10V10), "A2Y10U10V10");
	EXPECT_EQ(pixelFormatName(PixelFormat::Y16V16U16N444), "Y16___V16U16_N444");
	EXPECT_EQ(pixelFormatName(PixelFormat::FeatureX8), "FEATURE_X8");
	EXPECT_EQ(pixelFormatName(static_cast<PixelFormat>(38)), "format 38");
	EXPECT_EQ(pixelFormatInfo(PixelFormat::Feature), nullptr);
}

TEST(Packing, PackedWordsRefuseWhatDoesNotFit)
{
	const TensorDesc desc = TensorDesc::image("image", PixelFormat::A2B10G10R10, 1, 1);
	std::vector<std::byte> packed(desc.size);
	auto pack = [&](std::vector<float> pixel) {
		return packElements(desc, elementsFromFloat(desc.type, pixel), packed);
	};

	EXPECT_TRUE(pack({ 1023, 0, 1023, 3 }));
	auto result = pack({ 0, 1024, 0, 0 });
	ASSERT_FALSE(result);
	EXPECT_EQ(result.error().why, "element 1 is 1024, must be 0 to 1023");
	EXPECT_FALSE(pack({ 0, 0, 0, 4 }));
	EXPECT_FALSE(pack({ -1, 0, 0, 0 }));
}

TEST(Packing, SecondPlanesAreChecked)
{
	const TensorDesc good = TensorDesc::image("image", PixelFormat::Y8U8V8N444, 4, 32);
	TensorDesc desc = good;

	EXPECT_TRUE(desc.check());
	desc.size--;
	EXPECT_EQ(desc.check().error().where, "size");
	desc = good;
	desc.lineStrideUv = 32;
	EXPECT_EQ(desc.check().error().where, "stride_3") << "32 pairs are 64 bytes";
	desc = good;
	desc.surfaceStride += 1;
	EXPECT_EQ(desc.check().error().where, "size");
}

TEST(Packing, PlanarDataIsWhatRubikMakesOfACube)
{
	Random random(302);

	for (int round = 0; round < 20; round++) {
		const TensorDesc cube =
			TensorDesc::packedFeature("cube", random.type(), random.size(1, 70),
						  random.size(1, 5), random.size(1, 70));
		const TensorDesc planes =
			TensorDesc::planar("planes", cube.type, cube.c, cube.h, cube.w);
		const auto elements = random.bytes(cube.elements() * elementBytes(cube.type));
		std::vector<std::byte> packed(cube.size), expected(planes.size);
		ASSERT_TRUE(packElements(cube, elements, packed));
		ASSERT_TRUE(packElements(planes, elements, expected));
		EXPECT_EQ(*unpackElements(planes, expected), elements);

		sim::RamMemory dram(0, 1 << 20), cvsram(0x50000000, 4096);
		sim::MemoryPort port(dram, cvsram);
		sim::RubikOp op{};
		op.mode = sim::RubikMode::Split;
		op.precision = test::precisionOf(cube.type);
		op.srcType = op.dstType = sim::RamType::Mc;
		op.width = cube.w;
		op.height = cube.h;
		op.channels = op.outChannels = cube.c;
		op.dst = 1 << 19;
		op.srcLineStride = cube.lineStride;
		op.srcSurfaceStride = cube.surfaceStride;
		op.dstLineStride = planes.lineStride;
		op.dstPlaneStride = planes.surfaceStride;
		ASSERT_TRUE(dram.write(0, packed));
		sim::run(op, port);
		std::vector<std::byte> split(planes.size);
		ASSERT_TRUE(dram.read(op.dst, split));
		EXPECT_EQ(split, expected) << planes.describe();
	}
}

TEST(Packing, FastIsTheReference)
{
	Random random(303);

	for (int round = 0; round < 150; round++) {
		const bool single = round % 5 == 0; /* pixel */
		TensorDesc desc = TensorDesc::packedFeature(
			"cube", random.type(), random.size(1, 100), single ? 1 : random.size(1, 7),
			single ? 1 : random.size(1, 40));
		desc.n = random.size(1, 3);
		if (random(0, 4) == 0) {
			desc.format = PixelFormat::FeatureX8;
			desc.lineStride = desc.w * 8;
			desc.surfaceStride = desc.lineStride * desc.h;
			desc.size = (desc.c * elementBytes(desc.type) + 7) / 8 * desc.surfaceStride;
		}
		const uint32_t surfaces = static_cast<uint32_t>(desc.size / desc.surfaceStride);
		desc.lineStride += 32 * (random(0, 1) * random.size(0, 2));
		desc.surfaceStride =
			desc.lineStride * desc.h + 32 * (random(0, 1) * random.size(0, 2));
		desc.size = uint64_t{ desc.n } * surfaces * desc.surfaceStride;
		const auto order =
			random.oneOf<ElementOrder>({ ElementOrder::Nchw, ElementOrder::Nhwc });
		const auto layout = Layout::of(desc);
		ASSERT_TRUE(layout);

		const auto elements = random.bytes(desc.elements() * elementBytes(desc.type));
		const auto before = random.bytes(desc.size);
		auto expected = before;
		packReference(desc, *layout, order, elements, expected);
		std::vector<std::byte> zeroed(desc.size);
		packReference(desc, *layout, order, elements, zeroed);

		forEachTarget([&] {
			auto packed = before;
			ASSERT_TRUE(overwriteElements(desc, elements, packed, order));
			ASSERT_EQ(packed, expected) << desc.describe();
			packed = before;
			ASSERT_TRUE(packElements(desc, elements, packed, order));
			ASSERT_EQ(packed, zeroed) << desc.describe();
			ASSERT_EQ(*unpackElements(desc, packed, order), elements)
				<< desc.describe();
		});
	}
}

TEST(Packing, FastPicturesAreTheReference)
{
	Random random(305);

	for (unsigned format = 0; format < static_cast<unsigned>(PixelFormat::Feature); format++) {
		for (int round = 0; round < 20; round++) {
			const TensorDesc desc =
				randomPicture(random, static_cast<PixelFormat>(format));
			const auto order = random.oneOf<ElementOrder>(
				{ ElementOrder::Nchw, ElementOrder::Nhwc });
			const auto layout = Layout::of(desc);
			ASSERT_TRUE(layout) << layout.error().message();
			const auto elements = randomPixels(random, desc, order);
			const auto before = random.bytes(desc.size);
			auto expected = before;
			packReference(desc, *layout, order, elements, expected);

			forEachTarget([&] {
				Unaligned packed(before);
				ASSERT_TRUE(overwriteElements(desc, Unaligned(elements).span(),
							      packed.span(), order));
				ASSERT_EQ(packed.bytes(), expected) << desc.describe();
				Unaligned unpacked(random.bytes(elements.size()));
				ASSERT_TRUE(unpackElements(desc, packed.span(), unpacked.span(),
							   order));
				ASSERT_EQ(unpacked.bytes(), elements) << desc.describe();
			});
		}
	}
}

TEST(Packing, LargePicturesRefuseWhatDoesNotFit)
{
	Random random(306);

	for (int round = 0; round < 50; round++) {
		TensorDesc desc = TensorDesc::image("image", PixelFormat::A2R10G10B10,
						    random.size(1, 5), random.size(4, 60));
		desc.c = random.size(1, 4);
		const auto order =
			random.oneOf<ElementOrder>({ ElementOrder::Nchw, ElementOrder::Nhwc });
		auto elements = randomPixels(random, desc, order);
		const auto before = random.bytes(desc.size);
		const uint32_t wrong = random.size(0, static_cast<uint32_t>(desc.elements() - 1));
		const uint16_t tooLarge = 0x400;
		std::memcpy(&elements[wrong * 2], &tooLarge, sizeof(tooLarge));

		forEachTarget([&] {
			auto packed = before;
			const auto result = packElements(desc, elements, packed, order);
			ASSERT_FALSE(result);
			EXPECT_EQ(result.error().why.substr(0, result.error().why.find(',')),
				  "element " + std::to_string(wrong) + " is 1024");
			EXPECT_EQ(packed, before);
		});
	}
}

TEST(Packing, PicturesMayHaveFewerChannelsThanPixels)
{
	Random random(304);

	for (unsigned format = 0; format < static_cast<unsigned>(PixelFormat::Feature); format++) {
		for (int round = 0; round < 8; round++) {
			TensorDesc desc = TensorDesc::image(
				"image", static_cast<PixelFormat>(format), random.size(1, 4),
				random.oneOf<uint32_t>({ 8, 13 }));
			desc.c = random.size(1, desc.c);
			const auto order = random.oneOf<ElementOrder>(
				{ ElementOrder::Nchw, ElementOrder::Nhwc });
			const auto layout = Layout::of(desc);
			ASSERT_TRUE(layout) << layout.error().message();

			/* Numbers that two bits hold. */
			std::vector<float> numbers = random.numbers(desc.elements(), 1);
			for (float &number : numbers)
				number += 1;
			const auto elements = elementsFromFloat(desc.type, numbers);
			std::vector<std::byte> expected(desc.size);
			packReference(desc, *layout, order, elements, expected);

			auto packed = random.bytes(desc.size);
			ASSERT_TRUE(packElements(desc, elements, packed, order));
			ASSERT_EQ(packed, expected) << desc.describe();
			ASSERT_EQ(*unpackElements(desc, packed, order), elements)
				<< desc.describe();
		}
	}
}

} /* namespace nvdla */
