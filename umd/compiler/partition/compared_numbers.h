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
 * Trial runs of a model with other numbers may take only one of its branches, or fail, for instance
 * if an input is a rate in hertz.
 *
 * \param[in,out] numbers six at most, each once
 */
void addComparedNumbers(const nvdla::onnx::Graph &graph,
			std::vector<std::optional<float>> &numbers);

/** \return names of values by which integers may be divided; a 0 in them would end the process */
std::set<std::string> divisorsOf(const nvdla::onnx::Graph &graph);

} /* namespace nvdla::compiler */
