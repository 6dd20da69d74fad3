/* SPDX-License-Identifier: MIT */
/*
 * Writes a part of a graph as a TensorFlow Lite file.
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
 * \brief Write a part of a graph as a file
 *
 * The inputs and outputs of the file are in the order of Part::inputs and Part::outputs.
 *
 * \return the file; Unsupported naming a node or tensor that cannot be written, and the reason
 */
Result<std::vector<std::byte>> writeModel(const GraphView &graph, const Part &part);

} /* namespace nvdla::delegate */
