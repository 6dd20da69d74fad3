/* SPDX-License-Identifier: MIT */
/*
 * PDP: the arithmetic of one element, for each precision and pooling method.
 *
 * A window is reduced row by row: first the elements of a row from left to right, then the rows
 * from top to bottom. Widths of integer accumulators, order of operands and rounding are those of
 * the hardware's RTL. Integers that exceed these widths wrap. Each class has a type for
 * elements in memory, and one for intermediate numbers, as narrow as possible.
 */
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "arith/float.h"
#include "arith/integer.h"
#include "pdp/pdp_op.h"

namespace nvdla::sim
{

/** \brief An element in memory; FP16 as bits */
template<Precision P>
using PdpElement = std::conditional_t<P == Precision::Int8, int8_t,
				      std::conditional_t<P == Precision::Int16, int16_t, uint16_t>>;

/** \brief Average pooling of integers, with the bit widths of the hardware */
template<Precision P>
struct PdpIntegerAverage {
	using Element = PdpElement<P>;
	using Number = std::conditional_t<P == Precision::Int8, int16_t, int32_t>;

	/* Widths in bits: the sum of a row, the sum of a window, that sum divided by the width, the
	 * result. */
	static constexpr unsigned kRowBits = P == Precision::Int8 ? 11 : 22;
	static constexpr unsigned kSumBits = P == Precision::Int8 ? 14 : 22;
	static constexpr unsigned kScaledBits = P == Precision::Int8 ? 11 : 19;
	static constexpr unsigned kOutBits = P == Precision::Int8 ? 8 : 16;
	static constexpr unsigned kFraction = 16;

	template<unsigned Bits>
	static int32_t wrap(int32_t value)
	{
		return static_cast<int32_t>(arith::signExtend<Bits>(static_cast<uint32_t>(value)));
	}

	/* Holds the product of a window's sum and a reciprocal of 17 bits: 31 bits for INT8. */
	using Product = std::conditional_t<P == Precision::Int8, int32_t, int64_t>;

	/* Rounds halves away from zero. As in RTL, only numbers >= 0 lose bits above \a Bits. */
	template<unsigned Bits>
	static int32_t scale(int32_t value, int32_t reciprocal)
	{
		constexpr Product kMask = (1 << (Bits - 1)) - 1;
		const Product product = Product{ value } * reciprocal;
		const bool negative = product < 0;
		const Product magnitude = negative ? -product : product;
		const Product whole = magnitude >> kFraction;
		const Product half = magnitude >> (kFraction - 1) & 1;
		const Product rounded = (negative ? whole : whole & kMask) + half;
		return wrap<Bits>(static_cast<int32_t>(negative ? -rounded : rounded));
	}

	explicit PdpIntegerAverage(const PdpOp &op)
		: padValue(op.padValue), width(static_cast<int32_t>(op.kernelWidth)),
		  recipWidth(static_cast<int32_t>(op.recipWidth)),
		  recipHeight(static_cast<int32_t>(op.recipHeight))
	{
	}

	Number load(Element in) const { return in; }
	Number addInRow(Number row, Number in) const { return static_cast<Number>(row + in); }
	Number finishRow(Number row, uint32_t padded) const
	{
		return static_cast<Number>(wrap<kRowBits>(row + padValue[padded]));
	}
	Number addRow(Number sum, Number row) const { return static_cast<Number>(sum + row); }
	Element finish(Number sum, uint32_t padded) const
	{
		const int32_t whole = wrap<kSumBits>(sum + padValue[padded] * width);
		return static_cast<Element>(
			scale<kOutBits>(scale<kScaledBits>(whole, recipWidth), recipHeight));
	}

	std::array<int32_t, 8> padValue;
	int32_t width;
	int32_t recipWidth;
	int32_t recipHeight;
};

/** \brief Averages of FP16; intermediate numbers are FP17 */
struct PdpFloatAverage {
	using Element = PdpElement<Precision::Fp16>;
	using Number = int32_t;

	explicit PdpFloatAverage(const PdpOp &op)
		: recipWidth(op.recipWidth), recipHeight(op.recipHeight)
	{
		const uint32_t width =
			arith::fp16ToFp17(arith::int17ToFp16(static_cast<int32_t>(op.kernelWidth)));
		for (size_t n = 0; n < op.padValue.size(); n++) {
			rowPad[n] = static_cast<uint32_t>(op.padValue[n]) & kFp17;
			windowPad[n] = arith::multiply<arith::Fp17>(rowPad[n], width);
		}
	}

	static int32_t add(int32_t a, uint32_t b)
	{
		return static_cast<int32_t>(arith::add<arith::Fp17>(static_cast<uint32_t>(a), b));
	}

	int32_t load(Element in) const { return static_cast<int32_t>(arith::fp16ToFp17(in)); }
	int32_t addInRow(int32_t row, int32_t in) const
	{
		return add(row, static_cast<uint32_t>(in));
	}
	int32_t finishRow(int32_t row, uint32_t padded) const { return add(row, rowPad[padded]); }
	int32_t addRow(int32_t sum, int32_t row) const
	{
		return add(row, static_cast<uint32_t>(sum));
	}
	Element finish(int32_t sum, uint32_t padded) const
	{
		uint32_t value = static_cast<uint32_t>(add(sum, windowPad[padded]));
		value = arith::multiply<arith::Fp17>(value, recipWidth);
		value = arith::multiply<arith::Fp17>(value, recipHeight);
		return arith::fp17ToFp16(value);
	}

	static constexpr uint32_t kFp17 = (1U << 17) - 1;

	std::array<uint32_t, 8> rowPad;
	std::array<uint32_t, 8> windowPad;
	uint32_t recipWidth;
	uint32_t recipHeight;
};

} /* namespace nvdla::sim */
