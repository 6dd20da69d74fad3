/* SPDX-License-Identifier: MIT */
/* Predicts the time of several operations of a graph. */
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nvdla/graph.h>
#include <nvdla/loadable.h>

#include "timing/parameters.h"

namespace nvdla::assembly
{

/** \brief Prediction for some operations of a graph on the chip of the strategy */
struct TrialResult {
	double cycles = 0; /**< cycles of the core's clock */
	size_t convolutions = 0;  /**< hardware layers that are convolutions; each band counts */
	size_t fusedPoolings = 0; /**< hardware layers that pool SDP's stream on the fly */
	bool onCpu = false;	  /**< an operation runs on the CPU */
};

/** \return parameters of a strategy's chip; InvalidArgument naming an unknown option */
Result<sim::TimingParameters> chipOf(const Strategy &strategy);

/** \return duration of a loadable without CPU operations; nothing if the loadable is not valid */
std::optional<TrialResult> timeOf(const Loadable &loadable,
				  const sim::TimingParameters &parameters);

/**
 * \brief Try operations of a graph by themselves, with the surfaces that they read as inputs
 *
 * \param[in] members indices of the graph's operations, in their order
 * \return nothing if the core cannot run them
 */
std::optional<TrialResult> tryOperations(const Graph &graph,
					 const std::map<std::string, Surface> &shapes,
					 const std::vector<size_t> &members,
					 const CoreGeometry &core,
					 const sim::TimingParameters &parameters);

} /* namespace nvdla::assembly */
