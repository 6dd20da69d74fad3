/* SPDX-License-Identifier: MIT */
/*
 * The MAC cells and accumulators of an FP16 kernel group, all kernels at once.
 *
 * The same bits as macFp16() and FloatSum, which are the readable form of it.
 */
#pragma once

#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/cmac.h"

namespace nvdla::sim
{

/** \brief Kernels of a group */
inline constexpr size_t kFp16Kernels = 16;

/** \brief Accumulators of one output position */
struct Fp16Sums {
	/** FloatSum's numbers: a double holds mantissa and exponent without loss */
	alignas(64) double value[kFp16Kernels];
	uint16_t nan[kFp16Kernels]; /**< bits of the first NaN; 0 if there was none */

	/** Bits of a double's fraction that FP32 has not */
	static constexpr int kNotDelivered = 29;

	/** \return FloatSum::deliver() of accumulator \a kernel */
	uint32_t deliver(size_t kernel) const;
};

/** \brief Weights of one block, taken apart, channel by channel */
class Fp16Weights
{
public:
	Fp16Weights() {} /* what is not loaded is not looked at, or does not matter */

	/**
	 * \param weights \a kernels (up to kFp16Kernels) times \a lanes (up to kMacLanes) numbers
	 * \param wanted a bit for each lane that has data other than zero, or more
	 */
	void load(const std::byte *weights, uint32_t kernels, uint32_t lanes, uint64_t wanted);

	/** With sign, shifted as in Fp16Vector; 0 for zeroes */
	alignas(64) int16_t significand[kMacLanes * kFp16Kernels];
	/** A multiple of four; large for zeroes, so that no distance is positive */
	alignas(64) int16_t exponent[kMacLanes * kFp16Kernels];
	/** Which bit of LostCarries' rows is about this weight */
	alignas(64) int16_t carryBit[kMacLanes * kFp16Kernels];
	/** The exponent in units of four, very negative for zeroes */
	alignas(64) int8_t quarter[kMacLanes * kFp16Kernels] = {};
	uint32_t kernels = 0;
	uint32_t lanes = 0;
	bool anyNan = false;
	uint16_t nan[kFp16Kernels]; /**< the first NaN of each kernel, 0 if there is none */
};

/** \return true if this host has instructions for stepFp16() */
bool fp16CellsSupported();

/** \brief While there is one, this thread's floating-point results are cut instead of rounded */
class TowardZero
{
public:
	TowardZero() : before_(std::fegetround()) { std::fesetround(FE_TOWARDZERO); }
	~TowardZero() { std::fesetround(before_); }
	TowardZero(const TowardZero &) = delete;
	TowardZero &operator=(const TowardZero &) = delete;

private:
	int before_;
};

/**
 * \brief One step of all cells for each of \a count positions
 *
 * \param data for each position the block's operands, of which kMacLanes can be read
 */
void stepFp16(const TowardZero &, const Fp16Weights &weights, const int16_t *const *data,
	      size_t count, Fp16Sums *sums);

/** \brief Steps of a single position, one after the other: each block's weights and data */
void stepsFp16(const TowardZero &, std::span<const Fp16Weights> weights, const int16_t *const *data,
	       Fp16Sums &sums);

/** \brief Weights of kernels that have them for one channel each, kernel k for channel k */
struct Fp16ChannelTaps {
	/** Of each kernel element, numbers from a position's first operand to those of all channels
	 */
	std::span<const size_t> taps;
	const double *weights; /**< of each tap those of kFp16Kernels */
};

/**
 * \brief Sums of such kernels, as SDP gets them, for each of \a positions
 *
 * Each tap is a step. Nothing is a NaN, infinities are 65536.
 */
void sumFp16Channels(const TowardZero &, const Fp16ChannelTaps &channels,
		     std::span<const double *const> positions, int32_t *out);

/** \brief The same numbers, wider; \return none is a NaN. \a count is a multiple of 16 */
bool widenFp16(const float *numbers, size_t count, double *out);

/** \brief deliver() of all kernels for each of \a count positions */
void deliverFp16(const Fp16Sums *sums, size_t count, int32_t *out);

} /* namespace nvdla::sim */
