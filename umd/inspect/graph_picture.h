/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include "network_graph.h"

namespace nvdla::inspect
{

/** \return the graph in Graphviz' language, all edges */
std::string graphDot(const NetworkGraph &graph, const std::string &name);

/**
 * \return the graph as a picture
 *
 * Data edges, and others where a node would have none. Operations that run
 * as one are one box.
 */
std::string graphSvg(const NetworkGraph &graph, const std::string &name);

} /* namespace nvdla::inspect */
