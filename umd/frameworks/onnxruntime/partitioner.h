/* SPDX-License-Identifier: MIT */
/*
 * Chooses the nodes of a graph that the device computes.
 */
#pragma once

#include <memory>
#include <vector>

#include "compiler/partition/node_graph.h"
#include "frameworks/plugin/partition.h"
#include "model_writer.h"

namespace nvdla::ort
{

/** \brief A partition on the device, with its inputs and outputs */
struct PlacedPartition {
	std::vector<const OrtNode *> nodes;
	std::unique_ptr<plugin::Partition> partition;
	std::vector<ValueView> inputs;
	std::vector<ValueView> outputs;
};

/** \return the nodes in the form that the compiler's code for grouping nodes into partitions
 * needs */
compiler::NodeGraph nodesOf(const GraphView &graph);

/**
 * \brief Choose partitions, compile them and bring them to the device
 *
 * For each node that is left to ONNX Runtime, the reason is logged.
 */
Result<std::vector<PlacedPartition>> placePartitions(const Api &api, const GraphView &graph,
						     std::shared_ptr<plugin::Session> session);

} /* namespace nvdla::ort */
