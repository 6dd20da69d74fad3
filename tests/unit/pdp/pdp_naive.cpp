/* SPDX-License-Identifier: MIT */
#include "pdp_naive.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace nvdla::sim;

namespace nvdla::test
{

namespace
{

constexpr uint32_t atomBytes = 32;

/* One window of the input: the columns and lines of it that are not padding. */
struct Window {
	int32_t left, right, top, bottom; /* right and bottom: one beyond */
};

Window windowAt(const PdpOp &op, uint32_t x, uint32_t y)
{
	const auto left = static_cast<int32_t>(x * op.strideX) - static_cast<int32_t>(op.padLeft);
	const auto top = static_cast<int32_t>(y * op.strideY) - static_cast<int32_t>(op.padTop);

	return {
		std::max(left, 0),
		std::min(left + static_cast<int32_t>(op.kernelWidth),
			 static_cast<int32_t>(op.inWidth)),
		std::max(top, 0),
		std::min(top + static_cast<int32_t>(op.kernelHeight),
			 static_cast<int32_t>(op.inHeight)),
	};
}

int32_t wrapped(int64_t value, unsigned bits)
{
	const int64_t range = int64_t{ 1 } << bits;
	const int64_t rest = ((value % range) + range) % range;

	return static_cast<int32_t>(rest >= range / 2 ? rest - range : rest);
}

int64_t roundedShift(int64_t value)
{
	const int64_t magnitude = (std::llabs(value) + 0x8000) / 0x10000;

	return value < 0 ? -magnitude : magnitude;
}

int32_t integerAverage(const PdpOp &op, const Cube &in, const Window &window, uint32_t surface,
		       uint32_t lane)
{
	const bool int8 = op.precision == Precision::Int8;
	const auto columns = static_cast<uint32_t>(window.right - window.left);
	const auto lines = static_cast<uint32_t>(window.bottom - window.top);
	int64_t sum = int64_t{ op.padValue[op.kernelHeight - lines] } * op.kernelWidth;

	for (int32_t y = window.top; y < window.bottom; y++) {
		int64_t row = op.padValue[op.kernelWidth - columns];
		for (int32_t x = window.left; x < window.right; x++)
			row += in.at(surface, static_cast<uint32_t>(y), static_cast<uint32_t>(x),
				     lane);
		sum += wrapped(row, int8 ? 11 : 22);
	}
	return static_cast<int32_t>(
		roundedShift(roundedShift(int64_t{ wrapped(sum, int8 ? 14 : 22) } * op.recipWidth) *
			     op.recipHeight));
}

/* A number with eleven significant bits, as FP17 has them. */
double toFp17(double value)
{
	int exponent;
	const double mantissa = std::frexp(value, &exponent);

	return std::ldexp(std::nearbyint(std::ldexp(mantissa, 11)), exponent - 11);
}

double fp17Value(uint32_t bits)
{
	const int exponent = static_cast<int>(bits >> 10 & 0x3f);
	const double magnitude =
		exponent == 0 ? 0 : std::ldexp((bits & 0x3ff) + 1024.0, exponent - 31 - 10);

	return bits & 0x10000 ? -magnitude : magnitude;
}

double floatAverage(const PdpOp &op, const Cube &in, const Window &window, uint32_t surface,
		    uint32_t lane)
{
	const auto columns = static_cast<uint32_t>(window.right - window.left);
	const auto lines = static_cast<uint32_t>(window.bottom - window.top);
	const auto pad = [&op](uint32_t n) {
		return fp17Value(static_cast<uint32_t>(op.padValue[n]));
	};
	double sum = 0;

	for (int32_t y = window.top; y < window.bottom; y++) {
		double row = 0;
		for (int32_t x = window.left; x < window.right; x++)
			row = toFp17(row + fp16Value(in.at(surface, static_cast<uint32_t>(y),
							   static_cast<uint32_t>(x), lane)));
		sum = toFp17(sum + toFp17(row + pad(op.kernelWidth - columns)));
	}
	sum = toFp17(sum + toFp17(pad(op.kernelHeight - lines) * op.kernelWidth));
	return toFp17(toFp17(sum * fp17Value(op.recipWidth)) * fp17Value(op.recipHeight));
}

/* FP16 bits of a number with eleven significant bits below 65504; denormals are rounded. */
int32_t fp16Bits(double value)
{
	constexpr double smallestNormal = 0x1p-14;
	const double magnitude = std::fabs(value);
	const int32_t sign = value < 0 ? 0x8000 : 0;

	if (magnitude < smallestNormal)
		return sign | static_cast<int32_t>(std::nearbyint(magnitude * 0x1p24));
	int exponent;
	const double mantissa = std::frexp(magnitude, &exponent);
	const auto significand = static_cast<int32_t>(std::ldexp(mantissa, 11));
	return sign | (exponent + 14) << 10 | (significand & 0x3ff);
}

int32_t extreme(const PdpOp &op, const Cube &in, const Window &window, uint32_t surface,
		uint32_t lane)
{
	const auto key = [&op](int32_t value) {
		return op.precision == Precision::Fp16 ? fp16Value(value) : value;
	};
	std::optional<int32_t> best;

	for (int32_t y = window.top; y < window.bottom; y++)
		for (int32_t x = window.left; x < window.right; x++) {
			const int32_t value = in.at(surface, static_cast<uint32_t>(y),
						    static_cast<uint32_t>(x), lane);
			const bool better = !best || (op.method == PoolingMethod::Max
							      ? key(value) > key(*best)
							      : key(value) < key(*best));
			if (better)
				best = value;
		}
	return best.value();
}

} /* namespace */

double fp16Value(int32_t bits)
{
	const int exponent = bits >> 10 & 0x1f;
	const int mantissa = bits & 0x3ff;
	const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24)
					       : std::ldexp(mantissa + 1024, exponent - 25);

	return bits & 0x8000 ? -magnitude : magnitude;
}

uint32_t fp17Bits(double value)
{
	if (value == 0)
		return 0;
	int exponent;
	const double mantissa = std::frexp(std::fabs(value), &exponent);
	const auto significand = static_cast<uint32_t>(std::ldexp(mantissa, 11));

	return (value < 0 ? 0x10000U : 0U) | static_cast<uint32_t>(exponent + 30) << 10 |
	       (significand & 0x3ff);
}

Cube randomInput(const PdpOp &op, std::mt19937 &random)
{
	Cube cube(op.inWidth, op.inHeight, op.surfaces(), op.lanes());

	for (int32_t &value : cube.values) {
		switch (op.precision) {
		case Precision::Int8:
			value = pick(random, -128, 127);
			break;
		case Precision::Int16:
			value = pick(random, -32768, 32767);
			break;
		case Precision::Fp16:
			/* 2^-3 to 2^6: what an average cancels down to is still a normal number */
			value = pick(random, 0, 1) << 15 | pick(random, 12, 20) << 10 |
				pick(random, 0, 0x3ff);
			break;
		}
	}
	return cube;
}

Cube poolByDefinition(const PdpOp &op, const Cube &in)
{
	Cube out(op.outWidth, op.outHeight, in.surfaces, in.lanes);

	for (uint32_t surface = 0; surface < in.surfaces; surface++)
		for (uint32_t y = 0; y < out.height; y++)
			for (uint32_t x = 0; x < out.width; x++) {
				const Window window = windowAt(op, x, y);
				for (uint32_t lane = 0; lane < in.lanes; lane++) {
					int32_t &value = out.at(surface, y, x, lane);
					if (op.method != PoolingMethod::Average)
						value = extreme(op, in, window, surface, lane);
					else if (op.precision == Precision::Fp16)
						value = fp16Bits(floatAverage(op, in, window,
									      surface, lane));
					else
						value = integerAverage(op, in, window, surface,
								       lane);
				}
			}
	return out;
}

PdpOp opOf(Precision precision, PoolingMethod method)
{
	PdpOp op;
	op.precision = precision;
	op.method = method;
	op.recipWidth = op.recipHeight = precision == Precision::Fp16 ? fp17Bits(1) : 65536;
	return op;
}

PdpOp randomOp(Precision precision, PoolingMethod method, std::mt19937 &random)
{
	PdpOp op;
	const auto number = [&random](uint32_t low, uint32_t high) {
		return static_cast<uint32_t>(
			pick(random, static_cast<int32_t>(low), static_cast<int32_t>(high)));
	};
	/* From the output and the padding to the input: then everything fits. */
	const auto axis = [&](uint32_t &in, uint32_t &out, uint32_t kernel, uint32_t stride,
			      uint32_t &before, uint32_t &after) {
		do {
			out = number(1, 5);
			before = number(0, kernel - 1);
			after = number(0, kernel - 1);
			in = (out - 1) * stride + kernel - before - after;
		} while (static_cast<int32_t>(in) < 1);
	};

	op.precision = precision;
	op.method = method;
	op.kernelWidth = number(1, 8);
	op.kernelHeight = number(1, 8);
	op.strideX = number(1, 16);
	op.strideY = number(1, 16);
	/* As most networks have them: windows share a column. */
	if (number(0, 2) == 0) {
		op.kernelWidth = 3;
		op.strideX = 2;
	}
	axis(op.inWidth, op.outWidth, op.kernelWidth, op.strideX, op.padLeft, op.padRight);
	axis(op.inHeight, op.outHeight, op.kernelHeight, op.strideY, op.padTop, op.padBottom);
	op.channels = number(1, 2 * op.lanes());
	if (precision == Precision::Fp16) {
		op.recipWidth = fp17Bits(toFp17(1.0 / op.kernelWidth));
		op.recipHeight = fp17Bits(toFp17(1.0 / op.kernelHeight));
		for (uint32_t n = 1; n < op.padValue.size(); n++)
			op.padValue[n] = static_cast<int32_t>(fp17Bits(pick(random, -9, 9) * 0.5));
	} else {
		const int32_t largest = precision == Precision::Int8 ? 127 : 32767;
		const int32_t pad = pick(random, -largest, largest);
		op.recipWidth = 65536 / op.kernelWidth;
		op.recipHeight = 65536 / op.kernelHeight;
		for (uint32_t n = 1; n < op.padValue.size(); n++)
			op.padValue[n] = pad * static_cast<int32_t>(n);
	}

	const auto place = [&](FeatureCube &cube, uint32_t width, uint32_t height,
			       uint64_t offset) {
		cube.ram = pick(random, 0, 1) ? RamType::Mc : RamType::Cv;
		cube.address =
			(cube.ram == RamType::Mc ? PdpMemory::dramBase : PdpMemory::cvsramBase) +
			offset;
		cube.lineStride = (width + number(0, 3)) * atomBytes;
		cube.surfaceStride = height * cube.lineStride + number(0, 3) * atomBytes;
	};
	place(op.source, op.inWidth, op.inHeight, 0);
	place(op.destination, op.outWidth, op.outHeight, PdpMemory::outputOffset);
	return op;
}

PdpMemory::PdpMemory(const PdpOp &op)
	: op_(op), dram_(dramBase, size), cvsram_(cvsramBase, size), port_(dram_, cvsram_)
{
	const std::vector<std::byte> fill(size, untouched);
	dram_.write(dramBase, fill);
	cvsram_.write(cvsramBase, fill);
}

Memory &PdpMemory::memory(RamType ram)
{
	return ram == RamType::Mc ? dram_ : cvsram_;
}

void PdpMemory::storeInput(const Cube &in)
{
	const uint32_t bytes = elementBytes(op_.precision);
	std::vector<std::byte> atom(atomBytes);

	for (uint32_t surface = 0; surface < in.surfaces; surface++)
		for (uint32_t y = 0; y < in.height; y++)
			for (uint32_t x = 0; x < in.width; x++) {
				for (uint32_t i = 0; i < atomBytes; i++)
					atom[i] = static_cast<std::byte>(
						in.at(surface, y, x, i / bytes) >>
						(8 * (i % bytes)));
				memory(op_.source.ram)
					.write(op_.source.address +
						       surface * op_.source.surfaceStride +
						       y * op_.source.lineStride + x * atomBytes,
					       atom);
			}
}

Cube PdpMemory::loadOutput()
{
	const uint32_t bytes = elementBytes(op_.precision);
	Cube out(op_.outWidth, op_.outHeight, op_.surfaces(), op_.lanes());
	std::vector<std::byte> atom(atomBytes);

	for (uint32_t surface = 0; surface < out.surfaces; surface++)
		for (uint32_t y = 0; y < out.height; y++)
			for (uint32_t x = 0; x < out.width; x++) {
				memory(op_.destination.ram)
					.read(op_.destination.address +
						      surface * op_.destination.surfaceStride +
						      y * op_.destination.lineStride +
						      x * atomBytes,
					      atom);
				for (uint32_t lane = 0; lane < out.lanes; lane++) {
					const auto low = std::to_integer<uint8_t>(
						atom[size_t{ lane } * bytes]);
					int32_t &value = out.at(surface, y, x, lane);
					if (bytes == 1) {
						value = static_cast<int8_t>(low);
						continue;
					}
					const auto bits = static_cast<uint16_t>(
						low | std::to_integer<unsigned>(atom[lane * 2 + 1])
							      << 8);
					value = op_.precision == Precision::Fp16
							? bits
							: static_cast<int16_t>(bits);
				}
			}
	return out;
}

size_t PdpMemory::strayBytes()
{
	const uint64_t base = op_.destination.ram == RamType::Mc ? dramBase : cvsramBase;
	std::vector<std::byte> bytes(outputOffset);

	memory(op_.destination.ram).read(base + outputOffset, bytes);
	for (uint32_t surface = 0; surface < op_.surfaces(); surface++)
		for (uint32_t y = 0; y < op_.outHeight; y++)
			std::fill_n(bytes.begin() +
					    static_cast<ptrdiff_t>(
						    op_.destination.address - base - outputOffset +
						    surface * op_.destination.surfaceStride +
						    y * op_.destination.lineStride),
				    op_.outWidth * atomBytes, untouched);
	return bytes.size() -
	       static_cast<size_t>(std::count(bytes.begin(), bytes.end(), untouched));
}

} /* namespace nvdla::test */
