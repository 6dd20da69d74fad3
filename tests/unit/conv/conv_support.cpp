/* SPDX-License-Identifier: MIT */
#include "conv_support.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include <gtest/gtest.h>

namespace nvdla::sim::test
{

double halfValue(uint16_t bits)
{
	const int exponent = bits >> 10 & 0x1f;
	const int fraction = bits & 0x3ff;
	const double magnitude =
		exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);

	return bits >> 15 ? -magnitude : magnitude;
}

uint16_t halfBits(double value)
{
	const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
	int exponent;
	const double fraction = std::frexp(std::fabs(value), &exponent);

	if (value == 0)
		return sign;
	if (exponent + 14 > 0)
		return static_cast<uint16_t>(sign | (exponent + 14) << 10 |
					     static_cast<int>(std::ldexp(fraction, 11) - 1024));
	return static_cast<uint16_t>(sign | static_cast<int>(std::ldexp(std::fabs(value), 24)));
}

double floatValue(int32_t bits)
{
	float value;

	std::memcpy(&value, &bits, sizeof(value));
	return value;
}

double elementAt(const Layer &layer, uint32_t batch, int x, int y, uint32_t c)
{
	const Cube &input = layer.inputs[batch];
	const bool inside = x >= 0 && y >= 0 && x < static_cast<int>(input.width) &&
			    y < static_cast<int>(input.height);
	const int16_t element =
		inside ? input.at(c, static_cast<uint32_t>(y), static_cast<uint32_t>(x))
		       : layer.padValue;

	return layer.precision == Precision::Fp16 ? halfValue(static_cast<uint16_t>(element))
						  : element;
}

double naiveOutput(const Layer &layer, uint32_t batch, uint32_t k, uint32_t y, uint32_t x)
{
	const Cube &kernel = layer.kernels[k];
	double sum = 0;

	for (uint32_t c = 0; c < kernel.channels; c++) {
		for (uint32_t r = 0; r < kernel.height; r++) {
			for (uint32_t s = 0; s < kernel.width; s++) {
				const int inX =
					static_cast<int>(x * layer.strideX + s * layer.dilationX) -
					static_cast<int>(layer.padLeft);
				const int inY =
					static_cast<int>(y * layer.strideY + r * layer.dilationY) -
					static_cast<int>(layer.padTop);
				const int16_t weight = kernel.at(c, r, s);
				sum += elementAt(layer, batch, inX, inY, c) *
				       (layer.precision == Precision::Fp16
						? halfValue(static_cast<uint16_t>(weight))
						: weight);
			}
		}
	}
	return sum;
}

Random::Random(uint32_t seed) : engine_(seed)
{
	std::printf("seed %u\n", seed);
}

void Random::fill(Cube &cube, Precision precision)
{
	for (int16_t &element : cube.v) {
		switch (precision) {
		case Precision::Int8:
			element = static_cast<int16_t>((*this)(-128, 127));
			break;
		case Precision::Int16:
			element = static_cast<int16_t>((*this)(-32768, 32767));
			break;
		default:
			/* Any sign and fraction, exponents -5..2, and zeroes. */
			element = static_cast<int16_t>(
				(*this)(0, 7) == 0 ? 0
						   : (*this)(0, 1) << 15 | (*this)(10, 17) << 10 |
							     (*this)(0, 1023));
			break;
		}
	}
}

Collector::Collector(const ConvOp &op)
	: atom_(op.groupKernels()), surfaces_(op.surfaces()), height_(op.windows.out.height),
	  width_(op.windows.out.width),
	  values_(static_cast<size_t>(op.batches) * surfaces_ * height_ * width_ * atom_)
{
}

size_t Collector::index(uint32_t batch, uint32_t k, uint32_t y, uint32_t x) const
{
	const size_t line = (static_cast<size_t>(batch) * surfaces_ + k / atom_) * height_ + y;

	return (line * width_ + x) * atom_ + k % atom_;
}

void Collector::push(const StreamRun &run)
{
	ASSERT_LT(run.surface, surfaces_);
	ASSERT_LT(run.y, height_);
	ASSERT_LE(run.x + run.width, width_);
	ASSERT_EQ(run.data.size(), static_cast<size_t>(run.width) * atom_);
	std::copy(run.data.begin(), run.data.end(),
		  values_.begin() + static_cast<ptrdiff_t>(
					    index(run.batch, run.surface * atom_, run.y, run.x)));
	columns_ += run.width;
}

void appendElement(std::vector<uint8_t> &bytes, Precision precision, int16_t element)
{
	bytes.push_back(static_cast<uint8_t>(element));
	if (precision != Precision::Int8)
		bytes.push_back(static_cast<uint8_t>(static_cast<uint16_t>(element) >> 8));
}

void Bench::store(uint64_t address, const std::vector<uint8_t> &bytes)
{
	ASSERT_TRUE(dram.write(address, std::as_bytes(std::span(bytes))));
}

ConvOp Bench::direct(const Layer &layer)
{
	const Cube &input = layer.inputs[0];
	const Cube &kernel = layer.kernels[0];
	const uint32_t atom = geometry.atomChannels(layer.precision);
	const uint32_t block = geometry.macChannels;
	const uint32_t surfaces = geometry.surfaces(layer.precision, input.channels);
	ConvOp op;

	op.geometry = &geometry;
	op.mode = ConvMode::Direct;
	op.precision = op.inPrecision = layer.precision;
	op.batches = static_cast<uint32_t>(layer.inputs.size());
	op.dataBanks = geometry.banks / 2;
	op.weightBanks = geometry.banks / 2 - 1;
	op.fetch.address = kData;
	/* Gaps behind lines, surfaces and cubes. */
	op.fetch.lineStride = (input.width + 1) * geometry.atomBytes;
	op.fetch.surfaceStride = op.fetch.lineStride * input.height + 2 * geometry.atomBytes;
	op.fetch.batchStride = op.fetch.surfaceStride * surfaces + 3 * geometry.atomBytes;
	op.fetch.size = { input.width, input.height, input.channels };
	op.windows.data = op.fetch.size;
	op.windows.kernel = { kernel.width, kernel.height, kernel.channels };
	op.windows.kernels = static_cast<uint32_t>(layer.kernels.size());
	op.windows.out = { layer.outWidth(), layer.outHeight(), op.windows.kernels };
	op.windows.strideX = layer.strideX;
	op.windows.strideY = layer.strideY;
	op.windows.dilationX = layer.dilationX;
	op.windows.dilationY = layer.dilationY;
	op.windows.padLeft = layer.padLeft;
	op.windows.padTop = layer.padTop;
	op.windows.padValue = layer.padValue;
	op.windows.releasedSlices = input.height;

	for (uint32_t batch = 0; batch < op.batches; batch++) {
		for (uint32_t surface = 0; surface < surfaces; surface++) {
			for (uint32_t y = 0; y < input.height; y++) {
				std::vector<uint8_t> line;
				for (uint32_t x = 0; x < input.width; x++) {
					for (uint32_t c = surface * atom; c < (surface + 1) * atom;
					     c++)
						appendElement(
							line, layer.precision,
							c < input.channels
								? layer.inputs[batch].at(c, y, x)
								: int16_t{ 0 });
				}
				store(kData + batch * op.fetch.batchStride +
					      surface * op.fetch.surfaceStride +
					      y * op.fetch.lineStride,
				      line);
			}
		}
	}

	packedWeights.clear();
	const auto kernels = static_cast<uint32_t>(layer.kernels.size());
	for (uint32_t k0 = 0; k0 < kernels; k0 += atom)
		for (uint32_t c0 = 0; c0 < kernel.channels; c0 += block)
			for (uint32_t r = 0; r < kernel.height; r++)
				for (uint32_t s = 0; s < kernel.width; s++)
					for (uint32_t k = k0; k < std::min(k0 + atom, kernels); k++)
						for (uint32_t c = c0;
						     c < std::min(c0 + block, kernel.channels); c++)
							appendElement(packedWeights,
								      layer.precision,
								      layer.kernels[k].at(c, r, s));
	/* Another entry would stay in the buffer, in front of the next layer's weights. */
	packedWeights.resize((packedWeights.size() + geometry.entryBytes - 1) /
			     geometry.entryBytes * geometry.entryBytes);
	store(kWeights, packedWeights);
	op.weights.address = kWeights;
	op.weights.bytes = static_cast<uint32_t>(packedWeights.size());
	return op;
}

ConvOp Bench::compressed(const ConvOp &op)
{
	const size_t bytes = elementBytes(op.precision);
	const size_t elements = static_cast<size_t>(op.windows.kernel.width) *
				op.windows.kernel.height * op.windows.kernel.channels *
				op.windows.kernels;
	std::vector<uint8_t> mask((elements + 7) / 8);
	std::vector<uint8_t> packed;
	std::vector<uint32_t> groupSizes(op.surfaces());
	const size_t groupElements = elements / op.windows.kernels * op.groupKernels();
	ConvOp sparse = op;

	for (size_t i = 0; i < elements; i++) {
		const uint8_t *element = &packedWeights[i * bytes];
		if (std::all_of(element, element + bytes, [](uint8_t b) { return b == 0; }))
			continue;
		mask[i / 8] |= static_cast<uint8_t>(1U << i % 8);
		packed.insert(packed.end(), element, element + bytes);
		groupSizes[i / groupElements] += static_cast<uint32_t>(bytes);
	}
	storeGroupSizes(groupSizes);
	mask.resize((mask.size() + 127) / 128 * 128);
	packed.resize((packed.size() + 127) / 128 * 128);
	store(kWeights, packed);
	store(kMask, mask);
	sparse.weights.compressed = true;
	sparse.weights.bytes = static_cast<uint32_t>(packed.size());
	sparse.weights.maskAddress = kMask;
	sparse.weights.maskBytes = static_cast<uint32_t>(mask.size());
	sparse.weights.groupSizeAddress = kGroupSizes;
	return sparse;
}

void Bench::storeGroupSizes(const std::vector<uint32_t> &sizes)
{
	dram.write(kGroupSizes, std::as_bytes(std::span(sizes)));
}

OperationResult Bench::run(const ConvOp &op, ConvEngine &which)
{
	MemoryPort port(dram, cvsram);

	out = std::make_unique<Collector>(op);
	OperationResult result = which.run(op, port, *out);
	EXPECT_FALSE(port.faulted());
	return result;
}

} /* namespace nvdla::sim::test */
