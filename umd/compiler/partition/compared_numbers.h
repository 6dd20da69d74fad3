/* SPDX-License-Identifier: MIT */
/*
 * Numbers that an ONNX model compares its inputs with, or divides by.
 */
#pragma once

#include <optional>
#include <set>
#include <string>
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

/** \return names of values that integers may be divided by; 0 would end the process */
std::set<std::string> divisorsOf(const nvdla::onnx::Graph &graph);

} /* namespace nvdla::compiler */
