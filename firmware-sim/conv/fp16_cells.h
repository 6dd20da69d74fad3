/* SPDX-License-Identifier: MIT */
/*
 * The MAC cells and accumulators of one or two FP16 kernel groups, all kernels in parallel.
 *
 * Gives the same bits as macFp16() and FloatSum, the readable reference.
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

/** \brief Number of kernels in a group */
inline constexpr size_t kFp16Kernels = 16;
/** \brief Number of kernels in the two groups that are computed together */
inline constexpr size_t kFp16Columns = 2 * kFp16Kernels;

/** \brief Accumulators of one output position */
struct Fp16Sums {
	/** FloatSum's values: a double holds mantissa and exponent without loss. In each row (a
	 * vector of 16 bits per kernel), the even kernels come before the odd ones.
	 */
	alignas(64) double value[kFp16Columns];
	uint16_t nan[kFp16Columns]; /**< bits of the first NaN; 0 if there was none */

	/** Fraction bits of a double that FP32 does not have */
	static constexpr int kNotDelivered = 29;
};

/** \brief Data of one block, split into significands and exponents */
struct Fp16Data {
	Fp16Data() {} /* leaves the elements uninitialised */

	/** 16-bit significands, in the lower halves (low) or the upper halves (high) of 32 bits */
	alignas(64) int32_t low[kMacLanes];
	alignas(64) int32_t high[kMacLanes];
	/** Index of each significand's row in the table LostCarries (fp16_carries-inl.h) */
	alignas(64) int32_t carryRow[kMacLanes];
	/** 16-bit exponents, twice in each 32 bits */
	alignas(64) int32_t exponent[kMacLanes];
	uint64_t present; /**< a bit for each nonzero datum */
	uint16_t nan;	  /**< bits of the first NaN, 0 if there is none */
};

/** \brief Weights of one channel, split into significands and exponents */
struct Fp16Lane {
	/** Signed significands, shifted as in Fp16Vector; 0 for zeroes */
	alignas(64) int16_t significand[kFp16Columns];
	/** Exponents: multiples of four, plus a bias; for zeroes the most negative number */
	alignas(64) int16_t exponent[kFp16Columns];
	/** Places of the bits of these weights in LostCarries, stored by LostCarries::place() */
	alignas(64) uint8_t carryPlaces[2 * kFp16Columns];
};

/** \brief Weights of one block, split into significands and exponents, channel by channel */
class Fp16Weights
{
public:
	Fp16Weights() {} /* leaves the elements uninitialised */

	/**
	 * \brief Copy the weights of a group; group 0 first
	 * \param group 0 or 1
	 * \param weights \a kernels (up to kFp16Kernels) times \a lanes (up to kMacLanes) numbers
	 */
	void load(size_t group, const std::byte *weights, uint32_t kernels, uint32_t lanes);

	/** \brief Split the weights into significands and exponents, after load() of all groups */
	void takeApart();

	/** Before takeApart(), the first of each two lanes holds the weights of both lanes, in
	 * units of 32 bits as in conv_tile.h */
	Fp16Lane numbers[kMacLanes];
	uint32_t kernels = 0; /**< kernels of all groups; only the last group may be partial */
	uint32_t lanes = 0;
	bool anyNan = false;
	uint16_t nan[kFp16Columns]; /**< the first NaN of each kernel, 0 if there is none */
};

/** \brief Makes this thread's floating-point operations truncate, for the object's lifetime */
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

/** \brief The operations of the cells, compiled for this host */
struct Fp16Cells {
	/** Implementations of Fp16Weights::load() and takeApart() */
	void (*load)(size_t group, const std::byte *weights, size_t kernels, Fp16Weights &out);
	void (*takeApart)(Fp16Weights &weights);
	/**
	 * Runs one step of all cells for each of \a count positions
	 * \param data pointers to the block's operands of each position; kMacLanes can be read
	 */
	void (*step)(const TowardZero &, const Fp16Weights &weights, const int16_t *const *data,
		     size_t count, Fp16Sums *sums);
	/**
	 * Converts the sums of \a count positions to FP32 for SDP, like FloatSum::deliver()
	 * \param groups outputs of the first group, and of the second group or null
	 */
	void (*deliver)(const Fp16Sums *sums, size_t count, int32_t *const groups[2]);
	/**
	 * Sums kernels with weights for one channel each (ChannelOperands), as FP32 for SDP
	 *
	 * Each tap is a step with a single product, which is exact. Operands must not be NaNs; an
	 * infinity is 65536.
	 *
	 * \param channels f32 operands with kFp16Kernels columns
	 */
	void (*sumChannels)(const TowardZero &, const ChannelOperands &channels,
			    std::span<const TilePosition> positions, int32_t *out);
};

/** \return the cells for this host; null if it lacks the instructions */
const Fp16Cells *fp16Cells();

} /* namespace nvdla::sim */
