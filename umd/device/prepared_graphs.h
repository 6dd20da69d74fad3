/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <drm/nvdla_descriptors.h>
#include <nvdla/task.h>

namespace nvdla
{

/** \brief The task graph of a prepared task, and the number of entries in its address table */
struct PreparedGraph {
	explicit PreparedGraph(const TaskGraph &from, uint32_t addressCount)
		: graph(from.graph.begin(), from.graph.end()),
		  operations(from.operations.begin(), from.operations.end()),
		  surfaces(from.surfaces.begin(), from.surfaces.end()),
		  luts(from.luts.begin(), from.luts.end()), addresses(addressCount)
	{
	}

	TaskGraph view() const { return { graph, operations, surfaces, luts }; }

	std::vector<nvdla_graph_node> graph;
	std::vector<nvdla_operation_desc> operations;
	std::vector<nvdla_surface_desc> surfaces;
	std::vector<nvdla_lut_desc> luts;
	uint32_t addresses;
};

/**
 * \brief Graphs of an open device file's prepared tasks, kept to explain why the driver refused a
 * job with a prepared task
 *
 * All functions may be called from several threads at once.
 */
class PreparedGraphs
{
public:
	void add(uint32_t handle, std::shared_ptr<const PreparedGraph> graph)
	{
		const std::lock_guard guard(lock_);
		graphs_[handle] = std::move(graph);
	}

	void remove(uint32_t handle)
	{
		const std::lock_guard guard(lock_);
		graphs_.erase(handle);
	}

	/** \return null if there is no such task */
	std::shared_ptr<const PreparedGraph> find(uint32_t handle) const
	{
		const std::lock_guard guard(lock_);
		const auto entry = graphs_.find(handle);
		return entry == graphs_.end() ? nullptr : entry->second;
	}

private:
	mutable std::mutex lock_;
	std::unordered_map<uint32_t, std::shared_ptr<const PreparedGraph>> graphs_;
};

} /* namespace nvdla */
