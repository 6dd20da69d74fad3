/* SPDX-License-Identifier: MIT */
/*
 * Names of the nodes of an ONNX file. Viewers of ONNX files show these names, so that readers of a
 * report find the nodes there.
 */
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace nvdla::report
{

/** \brief Name of a node's first output (the name of the layer in the report) -> name of the
 * node */
using NodeNames = std::map<std::string, std::string>;

/**
 * \return the names of the nodes that have a name other than their first output's; none if
 * \a model is no ONNX file
 */
NodeNames nodeNames(std::span<const std::byte> model);

} /* namespace nvdla::report */
