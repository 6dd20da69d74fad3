/* SPDX-License-Identifier: MIT */
/*
 * Which nodes of a graph the device gets.
 */
#pragma once

#include <memory>
#include <vector>

#include "frameworks/plugin/partition.h"
#include "model_writer.h"

namespace nvdla::ort
{

/** \brief A partition on the device, and what it reads and writes */
struct PlacedPartition {
	std::vector<const OrtNode *> nodes;
	std::unique_ptr<plugin::Partition> partition;
	std::vector<ValueView> inputs;
	std::vector<ValueView> outputs;
};

/**
 * \brief Put nodes together whose results no other node needs in between
 *
 * \param[in] possible for each node whether it may be in a group
 * \return groups of indices, the largest first
 */
std::vector<std::vector<size_t>> groupsOf(const GraphView &graph,
					  const std::vector<bool> &possible);

/**
 * \brief Choose partitions, compile them and bring them to the device
 *
 * The reason why a node is left is logged.
 */
Result<std::vector<PlacedPartition>> placePartitions(const Api &api, const GraphView &graph,
						     std::shared_ptr<plugin::Session> session);

} /* namespace nvdla::ort */
