/* SPDX-License-Identifier: MIT */
/*
 * Writes nodes of a graph as an ONNX file.
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

/** \brief An ONNX file, and the file's inputs and outputs in their order */
struct WrittenModel {
	std::vector<std::byte> bytes;
	std::vector<ValueView> inputs;
	std::vector<ValueView> outputs;
};

/**
 * \brief Write some nodes of a graph as a file
 * \param[in] chosen indices into graph.nodes, ascending
 * \return the file; Unsupported naming an attribute whose type cannot be written, or if the file
 * is too large; or an error of ONNX Runtime
 */
Result<WrittenModel> writeModel(const Api &api, const GraphView &graph,
				std::span<const size_t> chosen);

} /* namespace nvdla::ort */
