/* SPDX-License-Identifier: MIT */
/*
 * Predicted time of some operations of a graph.
 */
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

/** \brief Result of a trial */
struct TrialResult {
	double cycles = 0;
	size_t convolutions = 0;  /**< of the hardware, that is with bands */
	size_t fusedPoolings = 0; /**< of the hardware, those that take a stream */
	bool onCpu = false;	  /**< some of it runs on the CPU */
};

/** \return the chip of a strategy; InvalidArgument naming an unknown option */
Result<sim::TimingParameters> chipOf(const Strategy &strategy);

/** \return duration of a loadable without CPU operations; nothing if the loadable is not valid */
std::optional<TrialResult> timeOf(const Loadable &loadable,
				  const sim::TimingParameters &parameters);

/**
 * \brief Try operations of a graph by themselves, with the surfaces that they read as inputs
 *
 * \param[in] members indices of the graph's operations, in their order
 * \return nothing if the core cannot do it
 */
std::optional<TrialResult> tryOperations(const Graph &graph,
					 const std::map<std::string, Surface> &shapes,
					 const std::vector<size_t> &members,
					 const CoreGeometry &core,
					 const sim::TimingParameters &parameters);

} /* namespace nvdla::assembly */
