/* SPDX-License-Identifier: MIT */
/*
 * Random graphs on a device against the reference.
 */
#pragma once

#include <cstdint>
#include <string>

#include <nvdla/network.h>

#include "random_graph.h"

namespace nvdla::test
{

constexpr uint32_t firstSeed = 1;
/** \brief Graphs that run in the guest */
constexpr uint32_t deviceSample = 28;

/** \brief Assemble and load the graph of a case on a device, and write its inputs */
Result<Network> loadCase(const Device &device, const RandomCase &made);

/** \brief Run a case on a device; \return what differs from the reference, or nothing */
std::string checkCase(const Device &device, const RandomCase &made);

/**
 * \brief Run the first \a count random graphs on the device at \a path
 *
 * Integers have to be equal, FP16 has to be within the thresholds of the
 * precision document: CC DC and CC Winograd through SDP, SDP bit by bit, CDP and
 * PDP 0.0001 and 0.001 of the largest value in the window. NVDLA_GRAPH_SEED runs
 * the graph of that seed alone.
 */
void checkRandomGraphs(const std::string &path, uint32_t count, const CoreGeometry &core = nvFull);

} /* namespace nvdla::test */
