/* SPDX-License-Identifier: MIT */
/*
 * What operations of a graph compute, on plain arrays in N, C, H, W order.
 *
 * Written from the formulas of the documents (programming guide, in-memory data
 * formats, precision) and from what is known of the hardware where they are
 * silent; it shares no code with the device model and knows no layout. Slow on
 * purpose.
 */
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nvdla/graph.h>

namespace nvdla::test
{

/**
 * \brief Elements of a surface
 *
 * Doubles hold all that the core works on exactly: integers of 32 bits, FP16 and
 * FP32.
 */
struct Cube {
	DataType type = DataType::Int8;
	uint32_t n = 1;
	uint32_t c = 0;
	uint32_t h = 0;
	uint32_t w = 0;
	std::vector<double> values;
	/** \brief How far an element may be off (precision document, thresholds); empty: not at all
	 */
	std::vector<double> tolerance;
	PixelFormat format = PixelFormat::Feature; /**< of an image */

	static Cube like(const Cube &other, DataType type);
	static Cube of(DataType type, uint32_t n, uint32_t c, uint32_t h, uint32_t w);

	size_t index(uint32_t in, uint32_t ic, uint32_t ih, uint32_t iw) const
	{
		return ((size_t{ in } * c + ic) * h + ih) * w + iw;
	}
	double at(uint32_t in, uint32_t ic, uint32_t ih, uint32_t iw) const
	{
		return values[index(in, ic, ih, iw)];
	}
};

/** \brief Constants of a graph by name */
struct Constants {
	std::map<std::string, GraphWeights> weights;
	std::map<std::string, GraphOperands> operands;
	std::map<std::string, Lut> luts;
};

/** \return \a elements as numbers */
std::vector<double> numbers(const Elements &elements);

/* Steps that several operations share. */

/** \brief Shift right, halves away from zero */
int64_t shiftRight(int64_t value, int shift);
/** \brief Clip to a signed number of \a bits */
int64_t saturate(int64_t value, int bits);
/** \brief (x - offset) * scale >> shift */
int64_t convert(int64_t x, const Converter &converter);
/** \brief Significant bits of the core's kinds of numbers */
inline constexpr int fp17Bits = 11, fp32Bits = 24;
/** \brief To \a bits significant bits, nearest, ties to even */
double roundTo(double value, int bits);
/** \brief As it is written to memory in FP16: nearest, saturated */
double toHalf(double value);

/** \brief Look up an integer; the result is clipped to 32 (SDP) or 16 bits */
int64_t lookUp(const Lut &lut, LutUnit unit, int64_t x);
/** \brief Look up an FP32 number; the result is one of FP17 */
double lookUpFloat(const Lut &lut, LutUnit unit, double x);

Cube convolve(const op::Convolution &op, const Cube &in, const GraphWeights &weights);

Cube deconvolve(const op::Deconvolution &op, const Cube &in, const GraphWeights &weights);

/** \param[in] surfaces for operands that are surfaces */
Cube applySdp(const op::Sdp &op, const Cube &in, DataType out, const Constants &constants,
	      const std::map<std::string, Cube> &surfaces);

Cube pool(const op::Pooling &op, const Cube &in);
Cube normalize(const op::Normalization &op, const Cube &in, const Lut &lut);
Cube contract(const op::Contract &op, const Cube &in);

/**
 * \brief Run one operation
 * \param[in,out] surfaces all that was computed before; the output is added
 */
void run(const op::Any &operation, const Constants &constants,
	 std::map<std::string, Cube> &surfaces);

} /* namespace nvdla::test */
