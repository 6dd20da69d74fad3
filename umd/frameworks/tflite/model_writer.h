/* SPDX-License-Identifier: MIT */
/*
 * A part of a graph as a TensorFlow Lite file.
 *
 * The file is what the compiler reads, as it reads any other, and what TensorFlow Lite itself runs
 * if the device is lost.
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
 * \return Unsupported naming the node and what of it cannot be written
 */
Result<std::vector<std::byte>> writeModel(const GraphView &graph, const Part &part);

} /* namespace nvdla::delegate */
