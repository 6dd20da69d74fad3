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
 * Sixteen positions of a line, or less, are worked on at once; those of the next line go on where
 * they are as far from each other.
 *
 * \param panel whose runs are multiples of kMatrixUnits
 */
void matrixSums(std::span<const TilePosition> positions, const Panel &panel, const TileSums &sums);

} /* namespace nvdla::sim */
