/* SPDX-License-Identifier: MIT */
/*
 * conv_tile's sums of INT8 where the host multiplies whole matrices (AMX).
 */
#pragma once

#include <cstddef>
#include <span>

#include "conv/conv_tile.h"

namespace nvdla::sim
{

/**
 * \return this host multiplies matrices of bytes, and its kernel lets this process do so
 *
 * Linux wants to be asked, since what it saves of a thread gets larger by 8 KiB; asked is once.
 */
bool hasMatrices();

/**
 * \brief tileSums() of TileKind::Matrices, where hasMatrices()
 *
 * As many operands of a position are read as there are units in a multiple of kMatrixUnits, and
 * those of one position that fills no matrix, so that neighbours at the same distance from each
 * other are best.
 *
 * \param operands of kTileColumns columns, whose runs are multiples of kMatrixUnits
 */
void matrixSums(std::span<const TilePosition> positions, const TileOperands &operands,
		const TileSums &sums, std::span<const std::byte> ahead);

} /* namespace nvdla::sim */
