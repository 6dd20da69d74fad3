/* SPDX-License-Identifier: MIT */
/*
 * The kernels of a convolution as plain loops, which those of each instruction set are held against.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/channel_sums.h"
#include "conv/conv_tile.h"
#include "conv/dense_sums.h"
#include "conv/tile_operands.h"

namespace nvdla::sim::test
{

/**
 * \brief tileSums(), and WideWeights::sums()
 * \return how many were clipped to 32 bits behind \a truncate
 */
uint32_t tileSumsReference(TileKind kind, std::span<const TilePosition> positions,
			   const Panel &panel, const TileSums &sums, uint32_t truncate = 0);

void channelSumsReference(const ChannelOperands &operands, const TilePosition *positions,
			  size_t count, int32_t *sums);

void denseSumsReference(std::span<const DenseBlock> blocks, const DenseWeights &weights,
			int32_t *sums);

void putUnitsReference(UnitFormat format, const KernelRows &rows, size_t units, int32_t *out);

} /* namespace nvdla::sim::test */
