/* SPDX-License-Identifier: MIT */
/*
 * Sums of INT16 products that 32 bits do not hold, on hosts with VNNI.
 *
 * The products are added up in 32 bits, which go round. How often they did is known from an
 * estimate: the same sum of high bytes alone. What the estimate misses of some hundred products
 * fits 32 bits, so that it is the difference of both, modulo 2^32:
 *
 *     data   d = D + e, D = 256 * high + 128, where the high byte is rounded down, |e| <= 128
 *     weight w = W + f, W = 256 * high, where the high byte is rounded to nearest
 *     sum of d * w = sum of D * W + rest, |rest| <= sum of |d| * |f| + 128 * |W|
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conv/conv_tile.h"
#include "conv/wide_tile.h"

namespace nvdla::sim
{

/** \brief Weights of a group for such sums */
class EstimatedWeights
{
public:
	/** \return the host has the instructions for them */
	static bool supported() { return tileKind() == TileKind::Quads; }

	/**
	 * \brief Cut runs into chunks whose rest fits 32 bits
	 *
	 * \param weights units of all runs one after the other, kFewColumns columns of each
	 * \param largest magnitude of the data that they meet
	 */
	void load(std::span<const TileRun> runs, const int32_t *weights, uint32_t largest);

	/**
	 * \brief Sums of products for \a count positions, for each of kFewColumns columns
	 *
	 * Up to eight elements behind each run are read; they do not matter.
	 *
	 * \param positions of the data \param highs of their high bytes, see highBytes()
	 * \param sums \a count times kFewColumns; overwritten
	 */
	void sums(const TilePosition *positions, const TilePosition *highs, size_t count,
		  int64_t *sums) const;

private:
	/** Runs whose sums are made in one go */
	struct Chunk {
		std::vector<TileRun> runs;
		std::vector<TileRun> highs; /* of the high bytes */
		const int32_t *weights;
		const int32_t *highWeights;
		int32_t start[kTileColumns]; /* of the sums that go round */
	};

	void addPiece(const TileRun &piece, const int32_t *weights, uint32_t largest);
	void someSums(const TilePosition *positions, const TilePosition *highs, size_t count,
		      int64_t *sums) const;

	std::vector<Chunk> chunks_;
	std::vector<int32_t> weights_;
	std::vector<int32_t> highWeights_;
	size_t used_ = 0; /* of weights_ */
	size_t usedHighs_ = 0;
	uint64_t rest_[kFewColumns];   /* what the last chunk's rest is at most */
	int64_t offsets_[kFewColumns]; /* what is to be added to each sum in the end */
};

} /* namespace nvdla::sim */
