/* SPDX-License-Identifier: MIT */
/*
 * Numbers that an ONNX model compares its inputs with.
 */
#pragma once

#include <optional>
#include <vector>

#include "onnx.pb.h"

namespace nvdla::compiler
{

/**
 * \brief Add the whole numbers that a graph, or a graph in it, compares something with
 *
 * With others than these, as a rate in hertz, some models take only one of their branches, or
 * cannot run at all.
 *
 * \param[in,out] numbers six at most, each once
 */
void addComparedNumbers(const nvdla::onnx::Graph &graph,
			std::vector<std::optional<float>> &numbers);

} /* namespace nvdla::compiler */
