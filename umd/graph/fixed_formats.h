/* SPDX-License-Identifier: MIT */
/*
 * Fixed-point formats of a graph's surfaces.
 */
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nvdla/graph.h>

namespace nvdla::assembly
{

/**
 * \brief Follow the fixed-point formats of inputs and constants through the operations
 *
 * The rules are those for Qm.n formats in the documentation of the embARC MLI library; quotes name
 * its sections. Terms of a sum have one format ("Addition and Subtraction", "Bias for MAC-based
 * Kernels"). Fraction bits of factors add up ("Multiplication"). A sum of products fits the
 * accumulator ("Influence of Accumulator Bit Depth"). Results of tables and of CPU steps have the
 * format in their surface's description.
 *
 * \return fraction bits of the inputs and outputs that have a format; InvalidArgument naming the
 * operation whose parameters and formats do not agree, with the value that would agree
 */
Result<std::map<std::string, uint32_t>> fixedFormats(const Graph &graph);

} /* namespace nvdla::assembly */
