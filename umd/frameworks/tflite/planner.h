/* SPDX-License-Identifier: MIT */
/*
 * Chooses the nodes of a graph that the device computes.
 */
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "frameworks/plugin/partition.h"
#include "graph_view.h"

namespace nvdla::delegate
{

/** \brief A partition on the device, and the tensors of the graph that it reads and writes */
struct PlacedPartition {
	std::unique_ptr<plugin::Partition> partition;
	std::vector<int> inputs;
	std::vector<int> outputs;
	/** \brief The inputs and outputs that no node outside of the partition reads or writes */
	std::set<int> own;
};

/** \brief The nodes of a graph that the device computes */
struct Plan {
	/** \brief Nodes that partitions replace, in the order of the graph */
	std::vector<int> nodes;
	/** \brief Nodes of a partition -> the partition */
	std::map<std::vector<int>, PlacedPartition> partitions;
};

/**
 * \brief Choose partitions, compile them and bring them to the device
 *
 * The compiler says which nodes it supports; for each unsupported node the reason is logged.
 * TensorFlow Lite then forms partitions of the supported nodes, and the largest partitions are
 * placed on the device.
 */
Result<Plan> makePlan(TfLiteContext *context, std::shared_ptr<plugin::Session> session);

} /* namespace nvdla::delegate */
