/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of cubes and of images on cores of any size, against the textbook's, which knows
 * neither atoms nor steps nor a buffer.
 */
#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "conv_support.h"

namespace nvdla::sim::test
{

namespace
{

constexpr unsigned int kGeometries = 60;
constexpr unsigned int kLayers = 4; /* one after the other, so that the buffer's rings turn round */

template<size_t kCount>
uint32_t oneOf(Random &random, const std::array<uint32_t, kCount> &values)
{
	return values[static_cast<size_t>(random(0, kCount - 1))];
}

/* Entries have one, two or four atoms, as those of all configurations. */
Geometry randomGeometry(Random &random)
{
	Geometry geometry = nvSmall;

	geometry.name = "random";
	geometry.atomBytes = oneOf<3>(random, { 8, 16, 32 });
	do
		geometry.macChannels = geometry.atomBytes * oneOf<3>(random, { 1, 2, 4 });
	while (geometry.macChannels > kMacLanes);
	geometry.entryBytes = geometry.macChannels;
	geometry.banks = oneOf<2>(random, { 16, 32 });
	geometry.bankEntries = oneOf<3>(random, { 128, 256, 512 });
	return geometry;
}

Cube randomCube(Random &random, uint32_t channels, uint32_t height, uint32_t width)
{
	Cube cube(channels, height, width);

	random.fill(cube, Precision::Int8);
	return cube;
}

Layer smallLayer(Random &random)
{
	const auto number = [&](int low, int high) {
		return static_cast<uint32_t>(random(low, high));
	};
	Layer layer;
	const uint32_t channels = number(1, 70);
	const uint32_t height = number(1, 3);
	const uint32_t width = number(1, 3);

	layer.inputs.push_back(randomCube(random, channels, number(5, 8), number(7, 14)));
	for (uint32_t k = number(1, 40); k > 0; k--)
		layer.kernels.push_back(randomCube(random, channels, height, width));
	layer.strideX = number(1, 3);
	layer.strideY = number(1, 3);
	layer.dilationX = number(1, 3);
	layer.dilationY = number(1, 2);
	layer.padLeft = number(0, static_cast<int>(width) - 1);
	layer.padTop = number(0, static_cast<int>(height) - 1);
	layer.padValue = static_cast<int16_t>(random(-128, 127));
	return layer;
}

/* A picture with one byte for each of one channel or four; CDMA adds the columns around it. */
Layer imageLayer(Random &random)
{
	const auto number = [&](int low, int high) {
		return static_cast<uint32_t>(random(low, high));
	};
	Layer layer;
	const uint32_t channels = random(0, 1) ? 4 : 1;
	const uint32_t height = number(1, 6);
	const uint32_t width = number(1, 5);

	layer.inputs.push_back(randomCube(random, channels, number(6, 9), number(5, 20)));
	for (uint32_t k = number(1, 40); k > 0; k--)
		layer.kernels.push_back(randomCube(random, channels, height, width));
	layer.strideX = number(1, 3);
	layer.strideY = number(1, 3);
	layer.padLeft = number(0, static_cast<int>(width) - 1);
	layer.padRight = number(0, static_cast<int>(width) - 1);
	layer.padTop = number(0, static_cast<int>(height) - 1);
	layer.padValue = static_cast<int16_t>(random(-128, 127));
	return layer;
}

/* Steps of some channels of a row, or of some rows; of them the same of each kernel of a group. */
std::vector<uint8_t> imageWeights(const Layer &layer, const Geometry &geometry, uint32_t rows)
{
	const Cube &first = layer.kernels[0];
	const uint32_t all = first.width * first.channels;
	const uint32_t step = geometry.macChannels / rows;
	const auto kernels = static_cast<uint32_t>(layer.kernels.size());
	std::vector<uint8_t> bytes;

	for (uint32_t k0 = 0; k0 < kernels; k0 += geometry.atomBytes)
		for (uint32_t c0 = 0; c0 < all; c0 += step)
			for (uint32_t r0 = 0; r0 < first.height; r0 += rows)
				for (uint32_t k = k0;
				     k < std::min(k0 + geometry.atomBytes, kernels); k++)
					for (uint32_t r = r0; r < std::min(r0 + rows, first.height);
					     r++)
						for (uint32_t c = c0; c < std::min(c0 + step, all);
						     c++)
							appendElement(bytes, Precision::Int8,
								      layer.kernels[k].at(
									      c % first.channels, r,
									      c / first.channels));
	bytes.resize((bytes.size() + geometry.entryBytes - 1) / geometry.entryBytes *
		     geometry.entryBytes);
	return bytes;
}

/* Into the bench's memory: the operation that makes \a layer of a picture. */
ConvOp imageOp(Random &random, Bench &bench, const Layer &layer)
{
	const Geometry &geometry = bench.geometry;
	const Cube &image = layer.inputs[0];
	const Cube &kernel = layer.kernels[0];
	const uint32_t rows = 1U << random(0, 2);
	const std::vector<uint8_t> weights = imageWeights(layer, geometry, rows);
	const uint32_t line = image.width * image.channels + geometry.atomBytes;
	ConvOp op;

	op.geometry = &geometry;
	op.mode = ConvMode::Image;
	op.pixel.format = static_cast<uint8_t>(
		image.channels == 4 ? NVDLA_CDMA_D_DATAIN_FORMAT__PIXEL_FORMAT__T_A8B8G8R8
				    : NVDLA_CDMA_D_DATAIN_FORMAT__PIXEL_FORMAT__T_R8);
	op.dataBanks = geometry.banks / 2;
	op.weightBanks = geometry.banks / 2;
	op.fetch.address = Bench::kData;
	op.fetch.lineStride = line / geometry.atomBytes * geometry.atomBytes;
	op.fetch.size = op.windows.data = { image.width, image.height, image.channels };
	op.fetch.padLeft = layer.padLeft;
	op.fetch.padRight = layer.padRight;
	op.fetch.padValue = op.windows.padValue = layer.padValue;
	op.weights.address = Bench::kWeights;
	op.weights.bytes = static_cast<uint32_t>(weights.size());
	op.windows.kernel = { 1, kernel.height, kernel.width * kernel.channels };
	op.windows.kernels = static_cast<uint32_t>(layer.kernels.size());
	op.windows.padTop = layer.padTop;
	op.windows.strideX = layer.strideX;
	op.windows.strideY = layer.strideY;
	op.windows.out = { layer.outWidth(), layer.outHeight(), op.windows.kernels };
	op.windows.rowsPerBlock = rows;
	op.windows.releasedSlices = image.height;
	for (uint32_t y = 0; y < image.height; y++) {
		std::vector<uint8_t> bytes;
		for (uint32_t x = 0; x < image.width; x++)
			for (uint32_t c = 0; c < image.channels; c++)
				appendElement(bytes, Precision::Int8, image.at(c, y, x));
		bench.store(Bench::kData + uint64_t{ y } * op.fetch.lineStride, bytes);
	}
	bench.store(Bench::kWeights, weights);
	return op;
}

std::string describe(const Geometry &geometry)
{
	return "atom " + std::to_string(geometry.atomBytes) + ", step of " +
	       std::to_string(geometry.macChannels) + " channels, " +
	       std::to_string(geometry.banks) + " banks of " +
	       std::to_string(geometry.bankEntries) + " entries";
}

std::string describe(const Layer &layer)
{
	const auto size = [](const Cube &cube) {
		return std::to_string(cube.width) + " x " + std::to_string(cube.height) + " x " +
		       std::to_string(cube.channels);
	};

	return size(layer.inputs[0]) + ", " + std::to_string(layer.kernels.size()) +
	       " kernels of " + size(layer.kernels[0]) + ", dilation " +
	       std::to_string(layer.dilationX) + ", " + std::to_string(layer.dilationY) +
	       ", stride " + std::to_string(layer.strideX) + ", " + std::to_string(layer.strideY) +
	       ", padding " + std::to_string(layer.padLeft) + ", " + std::to_string(layer.padTop);
}

void expectNaive(const Layer &layer, const Geometry &geometry, const Collector &out)
{
	EXPECT_EQ(out.columns() * geometry.atomBytes, out.values().size());
	for (uint32_t k = 0; k < layer.kernels.size(); k++)
		for (uint32_t y = 0; y < layer.outHeight(); y++)
			for (uint32_t x = 0; x < layer.outWidth(); x++)
				ASSERT_EQ(out.at(0, k, y, x), naiveOutput(layer, 0, k, y, x))
					<< "kernel " << k << " at " << x << ", " << y;
}

/* \param roll makes an operation of a layer, which it rolls */
template<typename Roll>
void expectPlainConvolutions(const Roll &roll)
{
	Random random(20261128);

	for (unsigned int i = 0; i < kGeometries; i++) {
		const Geometry geometry = randomGeometry(random);
		SCOPED_TRACE(describe(geometry));
		Bench bench(geometry);
		for (unsigned int n = 0; n < kLayers; n++) {
			Layer layer;
			const ConvOp op = roll(random, bench, layer);
			SCOPED_TRACE("layer " + std::to_string(n) + ", " + describe(layer));
			const OperationResult result = bench.run(op);
			ASSERT_EQ(result.guestError, "");
			ASSERT_FALSE(result.hangs);
			expectNaive(layer, geometry, *bench.out);
		}
	}
}

} /* namespace */

TEST(ConvGeometryTest, AnyGeometryGivesAPlainConvolution)
{
	expectPlainConvolutions([](Random &random, Bench &bench, Layer &layer) {
		layer = smallLayer(random);
		return bench.direct(layer);
	});
}

/* As a fully connected layer is one. */
TEST(ConvGeometryTest, AnyGeometryGivesAPlainConvolutionOfOnePosition)
{
	expectPlainConvolutions([](Random &random, Bench &bench, Layer &layer) {
		layer = smallLayer(random);
		const Cube &kernel = layer.kernels[0];
		layer.inputs[0] = randomCube(random, kernel.channels, kernel.height, kernel.width);
		layer.dilationX = layer.dilationY = 1;
		layer.padLeft = layer.padTop = 0;
		layer.padRight = layer.padBottom = 0;
		return bench.direct(layer);
	});
}

TEST(ConvGeometryTest, AnyGeometryGivesAPlainConvolutionOfAPicture)
{
	expectPlainConvolutions([](Random &random, Bench &bench, Layer &layer) {
		layer = imageLayer(random);
		return imageOp(random, bench, layer);
	});
}

} /* namespace nvdla::sim::test */
