/* SPDX-License-Identifier: MIT */
#pragma once

#include "loadable/inspect/network_graph.h"
#include "loadable/inspect/svg.h"
#include "tools/report/model_report.h"

namespace nvdla::report
{

/** \return the operators of the model's file, as a graph that can be drawn */
inspect::NetworkGraph modelGraph(const CompileReport &report);

/**
 * \return an SVG with the graphs of the model and of the network, side by side; Unsupported if a
 * graph has more nodes than a picture can have
 */
Result<inspect::Svg> graphsPicture(const ModelReport &report);

/**
 * \brief An SVG of the memories that surfaces share: the offset of each surface, and the steps that
 * need it
 *
 * Steps are from left to right, offsets from bottom to top.
 */
inspect::Svg memoryPicture(const CompiledModel &model);

} /* namespace nvdla::report */
