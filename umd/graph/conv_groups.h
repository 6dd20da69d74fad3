/* SPDX-License-Identifier: MIT */
/*
 * Grouped convolutions: the kernels of a group see only the channels of the group.
 */
#pragma once

#include <optional>
#include <vector>

#include "lowering.h"

namespace nvdla::assembly
{

/** \brief Neighbouring groups that one hardware layer computes, with their channels and kernels */
struct GroupTile {
	uint32_t firstGroup = 0;
	uint32_t groups = 0;
	uint32_t firstC = 0; /**< first channel of the input */
	uint32_t c = 0;
	uint32_t firstK = 0; /**< first channel of the output */
	uint32_t k = 0;
};

/**
 * \return the smallest number of groups whose channels and kernels fill whole atoms, or all groups
 *
 * The weights' type determines the channels of an atom. An atom of the output has as many channels,
 * or fewer.
 */
uint32_t groupsTogether(const GraphWeights &weights, uint32_t groups, const CoreGeometry &core);

/** \brief A grouped convolution with values derived from its surfaces and weights */
struct GroupedLayer {
	const GraphWeights &weights;
	std::vector<GroupTile> tiles;
	uint32_t n = 1; /**< number of cubes (samples) of the input */
};

/** \brief Check groups and divide them; nothing if a rule is broken */
std::optional<GroupedLayer> groupedLayer(Lowering &lowering, const op::Convolution &conv);

/** \brief Make the convolution of a tile, with weights and input derived from the layer's */
op::Convolution convolutionOf(Symbols &symbols, const op::Convolution &conv,
			      const GroupedLayer &layer, const GroupTile &tile);

} /* namespace nvdla::assembly */
