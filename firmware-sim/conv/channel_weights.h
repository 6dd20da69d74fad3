/* SPDX-License-Identifier: MIT */
/*
 * Weights of kernels that have one channel each, as channel_sums wants them: what depthwise layers
 * become when their groups are put together.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conv/channel_sums.h"
#include "conv/csc.h"
#include "conv/tile_plan.h"
#include "conv/wide_tile.h"

namespace nvdla::sim
{

/** \brief The weights of a group whose kernel k has them for channel k alone */
class ChannelWeights
{
public:
	/** \param plan whose isOneAtom is true, must outlive this object */
	explicit ChannelWeights(const TilePlan &plan);

	/**
	 * \brief Take over a group, whose bytes are not needed afterwards
	 *
	 * \param data INT16: that it meets
	 * \return false if kernels have weights for other channels, or data are -2^15, of which 32
	 *         bits do not hold two products
	 */
	bool load(const WeightGroup &group, Int16Range data);

	/** \return channelSums() may overflow 32 bits */
	bool areWide() const { return areWide_; }
	ChannelOperands operands() const
	{
		/* Of matrices the operands are no others. */
		const TileKind kind =
			plan_.kind == TileKind::Matrices ? TileKind::Bytes : plan_.kind;

		return { kind, plan_.op.groupKernels(), taps_, weights_.data(), start_.data() };
	}

private:
	bool accepts(const WeightGroup &group) const;
	/** \param weights of a kernel element, those of all kernels */
	void put(size_t element, std::span<const std::byte> weights);

	const TilePlan &plan_;
	const size_t kernelBytes_; /* of one element, all channels */
	size_t elements_;	   /* of a kernel */
	std::vector<ChannelTaps> taps_;
	std::vector<int32_t> weights_;
	std::vector<int32_t> start_;
	std::vector<int32_t> weightSums_;  /* integers: of each kernel */
	std::vector<uint64_t> magnitudes_; /* the same without signs */
	bool areWide_ = false;
};

} /* namespace nvdla::sim */
