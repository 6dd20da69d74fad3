/* SPDX-License-Identifier: MIT */
/*
 * Nodes of a graph as an ONNX file.
 *
 * The compiler reads this file like any other model. If the device is lost, ONNX Runtime itself
 * runs it.
 */
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "graph_view.h"

namespace nvdla::ort
{

/** \brief A file with its inputs and outputs, in the file's order */
struct WrittenModel {
	std::vector<std::byte> bytes;
	std::vector<ValueView> inputs;
	std::vector<ValueView> outputs;
};

/**
 * \brief Write some nodes of a graph
 * \param[in] chosen indices into graph.nodes, ascending
 * \return Unsupported naming the node and its part that cannot be written
 */
Result<WrittenModel> writeModel(const Api &api, const GraphView &graph,
				std::span<const size_t> chosen);

} /* namespace nvdla::ort */
