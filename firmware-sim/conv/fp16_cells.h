/* SPDX-License-Identifier: MIT */
/*
 * The MAC cells and accumulators of one or two FP16 kernel groups, all kernels at once.
 *
 * The same bits as macFp16() and FloatSum, which are the readable form of it.
 */
#pragma once

#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/channel_sums.h"
#include "conv/cmac.h"

namespace nvdla::sim
{

/** \brief Kernels of a group */
inline constexpr size_t kFp16Kernels = 16;
/** \brief Of two groups, which are worked on at once */
inline constexpr size_t kFp16Columns = 2 * kFp16Kernels;

/** \brief Accumulators of one output position */
struct Fp16Sums {
	/** FloatSum's numbers: a double holds mantissa and exponent without loss. Of as many
	 * kernels as a vector of 16 bits has, the even ones are before the odd ones.
	 */
	alignas(64) double value[kFp16Columns];
	uint16_t nan[kFp16Columns]; /**< bits of the first NaN; 0 if there was none */

	/** Bits of a double's fraction that FP32 has not */
	static constexpr int kNotDelivered = 29;
};

/** \brief Data of one block, taken apart */
struct Fp16Data {
	Fp16Data() {} /* what is not loaded is not looked at */

	/** Significands in 16 bits, in the lower halves and in the upper ones, with zeroes beside
	 * them */
	alignas(64) int32_t low[kMacLanes];
	alignas(64) int32_t high[kMacLanes];
	/** Which row of LostCarries is about them */
	alignas(64) int32_t carryRow[kMacLanes];
	/** In 16 bits, twice */
	alignas(64) int32_t exponent[kMacLanes];
	uint64_t present; /**< a bit for each that is not zero */
	uint16_t nan;	  /**< the first one, 0 if there is none */
};

/** \brief Weights of one channel, taken apart: beside each other, as they are wanted together */
struct Fp16Lane {
	/** With sign, shifted as in Fp16Vector; 0 for zeroes */
	alignas(64) int16_t significand[kFp16Columns];
	/** A multiple of four and a bias; the most negative number for zeroes */
	alignas(64) int16_t exponent[kFp16Columns];
	/** Where LostCarries has the bits that are about these weights, in its own order */
	alignas(64) uint8_t carryPlaces[2 * kFp16Columns];
};

/** \brief Weights of one block, taken apart, channel by channel */
class Fp16Weights
{
public:
	Fp16Weights() {} /* what is not loaded is not looked at, or does not matter */

	/**
	 * \brief Take over the numbers of a group; the second one, if there is one, comes next
	 * \param group 0 or 1
	 * \param weights \a kernels (up to kFp16Kernels) times \a lanes (up to kMacLanes) numbers
	 */
	void load(size_t group, const std::byte *weights, uint32_t kernels, uint32_t lanes);

	/** \brief Take the numbers apart, when those of all groups are there */
	void takeApart();

	/** Before takeApart() two lanes have their numbers in the first one's bytes, as a unit of
	 * conv_tile for each kernel */
	Fp16Lane numbers[kMacLanes];
	uint32_t kernels = 0; /**< of all groups; those before the last one are full */
	uint32_t lanes = 0;
	bool anyNan = false;
	uint16_t nan[kFp16Columns]; /**< the first NaN of each kernel, 0 if there is none */
};

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

/** \brief What the cells do, compiled for this host */
struct Fp16Cells {
	/** Fp16Weights::load() and takeApart() */
	void (*load)(size_t group, const std::byte *weights, size_t kernels, Fp16Weights &out);
	void (*takeApart)(Fp16Weights &weights);
	/**
	 * One step of all cells for each of \a count positions
	 * \param data for each position the block's operands, of which kMacLanes can be read
	 */
	void (*step)(const TowardZero &, const Fp16Weights &weights, const int16_t *const *data,
		     size_t count, Fp16Sums *sums);
	/**
	 * What SDP gets of each of \a count positions: FloatSum::deliver()
	 * \param groups of the first group and of the second one, or null
	 */
	void (*deliver)(const Fp16Sums *sums, size_t count, int32_t *const groups[2]);
	/**
	 * Sums of kernels that have weights for one channel each, as SDP gets them
	 *
	 * Each tap is a step, whose only product is exact. Nothing is a NaN, infinities are 65536.
	 *
	 * \param channels f32 of kFp16Kernels
	 */
	void (*sumChannels)(const TowardZero &, const ChannelOperands &channels,
			    std::span<const TilePosition> positions, int32_t *out);
};

/** \return those of this host; null if it has no instructions for them */
const Fp16Cells *fp16Cells();

} /* namespace nvdla::sim */
