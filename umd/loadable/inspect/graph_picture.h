/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include "network_graph.h"
#include "svg.h"

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
Svg graphPicture(const NetworkGraph &graph, const std::string &name);

/** \return graphPicture() as a file */
std::string graphSvg(const NetworkGraph &graph, const std::string &name);

/** \brief A larger drawing would take minutes to arrange, and could not be read */
constexpr size_t maxPictureNodes = 4000;

} /* namespace nvdla::inspect */
