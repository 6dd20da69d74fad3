/* SPDX-License-Identifier: MIT */
/*
 * Weights for channel_sums: kernels with weights for one channel only. Compilers make groups of
 * such kernels for depthwise layers.
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
 * \brief The weights of a group whose kernel k has weights for channel k of each atom only
 *
 * If kernels have several atoms, each further atom counts as a further kernel element. Compilers
 * make such kernels for an average over whole lines, with the columns stored as channels.
 */
class ChannelWeights
{
public:
	/** \param plan its mayBeChannelwise must be true; must outlive this object */
	explicit ChannelWeights(const TilePlan &plan);

	/**
	 * \brief Copy the weights of a group
	 *
	 * \param largestData INT16: the largest magnitude of data
	 * \return false if kernels have weights for other channels, or sums may exceed 32 bits
	 */
	bool load(const WeightGroup &group, uint32_t largestData);

	ChannelOperands operands() const
	{
		return { plan_.elementBytes, plan_.op.groupKernels(), taps_, weights_.data(),
			 plan_.kernel.lines == LineFormat::Unsigned ? starts_ : nullptr };
	}

private:
	/** The weights of all kernels for one kernel element, in the format of memory */
	using Numbers = std::array<std::byte, atomBytes>;

	/**
	 * \brief Read the weights of a block's kernel elements, one element for each of its atoms
	 * \return false if kernels have weights for other channels
	 */
	bool read(const WeightGroup &group, const Block &block, std::span<Numbers> numbers) const;
	/** \param weights all kernels' weights for a kernel element */
	void put(size_t element, std::span<const std::byte> weights);

	const TilePlan &plan_;
	const uint32_t channels_; /* channels of an atom */
	std::vector<ChannelTaps> taps_;
	std::vector<int32_t> weights_;
	std::array<uint64_t, kTileColumns> magnitudes_ = {}; /* sum of the magnitudes of each
							      * kernel's weights */
	int32_t starts_[kTileColumns];
};

} /* namespace nvdla::sim */
