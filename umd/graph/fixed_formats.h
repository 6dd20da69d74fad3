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
 * Rules and where they stand in the document on fixed-point formats: terms of a sum have one format
 * ("Addition and Subtraction", "Bias for MAC-based Kernels"); fraction bits of factors add up
 * ("Multiplication"); a sum of products has room in the accumulator ("Influence of Accumulator Bit
 * Depth"). The result of a table or of a CPU step has the format in its surface's description.
 *
 * \return fraction bits of the inputs and outputs that have a format; InvalidArgument naming the
 * operation whose parameters and formats do not agree, with the value that would agree
 */
Result<std::map<std::string, uint32_t>> fixedFormats(const Graph &graph);

} /* namespace nvdla::assembly */
