/* SPDX-License-Identifier: MIT */
/*
 * Convolution accumulator: adds up the sums of MAC steps and converts the total for SDP.
 */
#pragma once

#include <cstdint>

#include "arith/integer.h"
#include "conv/cmac.h"

namespace nvdla::sim
{

/** \brief Accumulator of an integer output; saturates at each step */
struct IntegerSum {
	int64_t value = 0;

	/** \brief Add a step's sum in an accumulator of \a Bits bits: 34 for INT8, 48 for INT16 */
	template<unsigned Bits>
	void add(int64_t step)
	{
		value = arith::saturate<Bits>(value + step);
	}

	/**
	 * \brief Drop \a truncate low bits with rounding, and clip to 32 bits
	 * \param saturated set if the value was clipped, else unchanged
	 */
	int32_t deliver(uint32_t truncate, bool &saturated) const
	{
		const int64_t rounded = arith::shiftRightRound(value, truncate);
		const int64_t clipped = arith::saturate<32>(rounded);

		saturated |= clipped != rounded;
		return static_cast<int32_t>(clipped);
	}
};

/**
 * \brief Accumulator of an FP16 output: mantissa * 2^(exponent - 101)
 *
 * The mantissa is a signed number of 40 bits, normalised: its top two bits differ. The
 * exponent wraps at 8 bits; 255 marks a NaN.
 */
struct FloatSum {
	static constexpr uint32_t kNan = 255;

	uint32_t exponent = 0;
	int64_t mantissa = 0;

	/** \brief Add a step's sum; rounds half away from zero */
	void add(const Fp16Sum &step);

	/** \return the bits of the FP32 number that SDP gets, rounded half away from zero */
	uint32_t deliver() const;
};

} /* namespace nvdla::sim */
