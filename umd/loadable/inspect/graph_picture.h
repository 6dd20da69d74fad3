/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include "network_graph.h"
#include "svg.h"

namespace nvdla::inspect
{

/** \return the graph with all edges in Graphviz' language */
std::string graphDot(const NetworkGraph &graph, const std::string &name);

/**
 * \return the graph as a picture
 *
 * Shows data edges, and other edges for nodes without data edges. Fused operations share a box, and
 * nodes of one layer with the same text are one box with their number if they do not need each
 * other.
 */
Svg graphPicture(const NetworkGraph &graph, const std::string &name);

/** \return graphPicture() as a file */
std::string graphSvg(const NetworkGraph &graph, const std::string &name);

/** \brief Largest number of nodes of a picture; a larger one would take minutes to arrange and be
 * unreadable */
constexpr size_t maxPictureNodes = 4000;

} /* namespace nvdla::inspect */
