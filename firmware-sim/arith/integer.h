/* SPDX-License-Identifier: MIT */
/*
 * Integer steps of the datapath: saturation, rounding shifts and the converter.
 *
 * Every engine narrows numbers alike: it shifts the value right, rounding halves away from zero,
 * then clips the result to the next unit's width (precision document, "Convertor" and
 * "Truncate").
 */
#pragma once

#include <cstdint>

namespace nvdla::sim::arith
{

/** \brief Largest and smallest value of a signed number of \a Bits bits */
template<unsigned Bits>
constexpr int64_t maxSigned()
{
	static_assert(Bits >= 1 && Bits <= 64);
	return static_cast<int64_t>((uint64_t{ 1 } << (Bits - 1)) - 1);
}

template<unsigned Bits>
constexpr int64_t minSigned()
{
	return -maxSigned<Bits>() - 1;
}

/** \return \a value clipped to a signed number of \a Bits bits (1..64) */
template<unsigned Bits>
constexpr int64_t saturate(int64_t value)
{
	static_assert(Bits >= 1 && Bits <= 64);
	if (value > maxSigned<Bits>())
		return maxSigned<Bits>();
	if (value < minSigned<Bits>())
		return minSigned<Bits>();
	return value;
}

/** \return true if \a value does not fit a signed number of \a Bits bits */
template<unsigned Bits>
constexpr bool overflows(int64_t value)
{
	return value != saturate<Bits>(value);
}

/** \return the low \a Bits bits of \a value as a signed number */
template<unsigned Bits>
constexpr int64_t signExtend(uint64_t value)
{
	static_assert(Bits >= 1 && Bits <= 64);
	return static_cast<int64_t>(value << (64 - Bits)) >> (64 - Bits);
}

/**
 * \brief Divide by a power of two, halves rounded away from zero
 *
 * Works on the magnitude, so that no intermediate sum can overflow.
 *
 * \param shift any number; from 65 on the result is 0
 */
constexpr int64_t shiftRightRound(int64_t value, unsigned shift)
{
	if (shift == 0)
		return value;
	if (shift > 64)
		return 0;

	const uint64_t bits = static_cast<uint64_t>(value);
	const uint64_t magnitude = value < 0 ? 0 - bits : bits;
	const uint64_t whole = shift == 64 ? 0 : magnitude >> shift;
	const uint64_t half = (magnitude >> (shift - 1)) & 1;
	const int64_t rounded = static_cast<int64_t>(whole + half);

	return value < 0 ? -rounded : rounded;
}

/** \return \a value shifted right with rounding, clipped to \a Bits bits: the "truncate" step */
template<unsigned Bits>
constexpr int64_t truncate(int64_t value, unsigned shift)
{
	return saturate<Bits>(shiftRightRound(value, shift));
}

/** \return \a value shifted left by \a shift, clipped to \a Bits bits: the "shifter" step */
template<unsigned Bits>
constexpr int64_t shiftLeftSaturate(int64_t value, unsigned shift)
{
	static_assert(Bits <= 63);
	if (value == 0)
		return 0;
	if (shift >= Bits)
		return value > 0 ? maxSigned<Bits>() : minSigned<Bits>();
	if (value > (maxSigned<Bits>() >> shift))
		return maxSigned<Bits>();
	if (value < (minSigned<Bits>() >> shift))
		return minSigned<Bits>();
	return value * (int64_t{ 1 } << shift);
}

/** \return \a value shifted right with rounding, or left if \a shift is negative; clipped */
template<unsigned Bits>
constexpr int64_t truncateSigned(int64_t value, int shift)
{
	return shift >= 0 ? truncate<Bits>(value, static_cast<unsigned>(shift))
			  : shiftLeftSaturate<Bits>(value, static_cast<unsigned>(-shift));
}

/**
 * \brief Parameters of a converter: (x - offset) * scale >> shift
 *
 * Register widths: offset 32 bits signed (for INT8, 8 at CDP's input and 25 at its output; for
 * INT16, 16 at CDP's input), scale 16 bits signed, shift 5 or 6 bits unsigned.
 */
struct Converter {
	int32_t offset = 0;
	int16_t scale = 1;
	uint8_t shift = 0;

	/**
	 * \brief The converted number before it is clipped
	 * \param value a signed number of at most 46 bits, so that the product fits
	 */
	constexpr int64_t apply(int64_t value) const
	{
		return shiftRightRound((value - offset) * scale, shift);
	}

	/** \return true if apply() returns every value unchanged */
	constexpr bool changesNothing() const { return offset == 0 && scale == 1 && shift == 0; }
};

} /* namespace nvdla::sim::arith */
