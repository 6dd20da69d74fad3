/* SPDX-License-Identifier: MIT */
/* Makes a graph of some operations of a larger graph. */
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nvdla/graph.h>

namespace nvdla::assembly
{

/**
 * \brief Some operations of a larger graph, with its constants
 *
 * A surface that the operations read, but none of them writes, is an input; a surface that none of
 * them reads is an output. Inputs and outputs are in system memory and packed, whatever their place
 * in the larger graph.
 */
class SmallGraph
{
public:
	/** \param[in] shapes shapes of the surfaces of \a from, by name */
	SmallGraph(const Graph &from, const std::map<std::string, Surface> &shapes)
		: from_(from), shapes_(shapes)
	{
	}

	/** \return nothing on success; otherwise the name of a surface whose shape is not known */
	std::optional<std::string> add(const std::vector<op::Any> &operations);

	Graph graph;

private:
	bool take(const std::string &name);
	void describe(const std::string &name, const std::vector<op::Any> &operations);

	const Graph &from_;
	const std::map<std::string, Surface> &shapes_;
	std::set<std::string> taken_;
	std::set<std::string> written_;
};

} /* namespace nvdla::assembly */
