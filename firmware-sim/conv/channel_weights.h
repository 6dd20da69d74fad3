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
#include "conv/wide_tile.h"

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
	 * \param group may be compressed, of whole atoms of INT8
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
	/** Numbers of a kernel element, one of each kernel, as they are in memory */
	using Numbers = std::array<std::byte, atomBytes>;

	/**
	 * \brief The numbers of a block's elements, which are one for each atom of it
	 * \param packed of a compressed group the block's first weight; moved behind its last one
	 * \return false if kernels have weights for other channels
	 */
	bool readAny(const WeightGroup &group, const Block &block, const std::byte *&packed,
		     std::span<Numbers> numbers) const;
	bool read(const WeightGroup &group, const Block &block, std::span<Numbers> numbers) const;
	bool readCompressed(const WeightGroup &group, const Block &block, const std::byte *&packed,
			    std::span<Numbers> numbers) const;
	/** \param weights of a kernel element, those of all kernels */
	void put(size_t element, std::span<const std::byte> weights);

	const TilePlan &plan_;
	const std::vector<Block> blocks_;
	const uint32_t channels_; /* of an atom */
	std::vector<ChannelTaps> taps_;
	std::vector<int32_t> weights_;
	/* Of each kernel. */
	std::array<int32_t, kTileColumns> start_ = {};
	std::array<int32_t, kTileColumns> weightSums_ = {};  /* integers */
	std::array<uint64_t, kTileColumns> magnitudes_ = {}; /* the same without signs */
	bool areWide_ = false;
};

} /* namespace nvdla::sim */
