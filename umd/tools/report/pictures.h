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
 * \return the graphs of the model and of the compiled network, side by side; Unsupported if one has
 * more nodes than a picture can have
 */
Result<inspect::Svg> graphsPicture(const ModelReport &report);

/**
 * \brief Draw the memories that surfaces (tensors between operations) share
 *
 * A surface is a rectangle. From left to right are the steps that need it, from bottom to top its
 * offsets in the memory.
 */
inspect::Svg memoryPicture(const CompiledModel &model);

} /* namespace nvdla::report */
