/* SPDX-License-Identifier: MIT */
/*
 * A part of a graph as a TensorFlow Lite file.
 *
 * The compiler reads this file like any other model. If the device is lost, TensorFlow Lite itself
 * runs it.
 */
#pragma once

#include <cstddef>
#include <vector>

#include <nvdla/error.h>

#include "graph_view.h"

namespace nvdla::delegate
{

/**
 * \brief Write a part of a graph
 *
 * Its inputs and outputs are in the order of the part.
 *
 * \return Unsupported naming the node and its part that cannot be written
 */
Result<std::vector<std::byte>> writeModel(const GraphView &graph, const Part &part);

} /* namespace nvdla::delegate */
