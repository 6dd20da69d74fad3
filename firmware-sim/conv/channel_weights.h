/* SPDX-License-Identifier: MIT */
/*
 * Weights of kernels that have one channel each, as channel_sums wants them: what depthwise layers
 * become when their groups are put together.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conv/channel_sums.h"
#include "conv/csc.h"
#include "conv/tile_plan.h"

namespace nvdla::sim
{

/**
 * \brief The weights of a group whose kernel k has them for channel k alone, of each atom
 *
 * Of several atoms there are as many kernel elements, one beside the other: what an average of
 * whole lines becomes whose columns are put together.
 */
class ChannelWeights
{
public:
	/** \param plan whose mayBeChannelwise is true, must outlive this object */
	explicit ChannelWeights(const TilePlan &plan);

	/**
	 * \brief Take over a group, whose bytes are not needed afterwards
	 *
	 * \param largestData INT16: the largest magnitude of data
	 * \return false if kernels have weights for other channels, or sums may leave 32 bits
	 */
	bool load(const WeightGroup &group, uint32_t largestData);

	ChannelOperands operands() const
	{
		return { plan_.elementBytes, plan_.op.groupKernels(), taps_, weights_.data() };
	}

private:
	/** Numbers of a kernel element, one of each kernel, as they are in memory */
	using Numbers = std::array<std::byte, atomBytes>;

	/**
	 * \brief The numbers of a block's elements, which are one for each atom of it
	 * \return false if kernels have weights for other channels
	 */
	bool read(const WeightGroup &group, const Block &block, std::span<Numbers> numbers) const;
	/** \param weights of a kernel element, those of all kernels */
	void put(size_t element, std::span<const std::byte> weights);

	const TilePlan &plan_;
	const uint32_t channels_; /* of an atom */
	std::vector<ChannelTaps> taps_;
	std::vector<int32_t> weights_;
	std::array<uint64_t, kTileColumns> magnitudes_ = {}; /* INT16: sums of each kernel */
};

} /* namespace nvdla::sim */
