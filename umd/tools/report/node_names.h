/* SPDX-License-Identifier: MIT */
/*
 * Names of the nodes of an ONNX file, with which other programs show a model.
 */
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace nvdla::report
{

/** \brief Names of nodes by the name of their first output, which is the name of a layer */
using NodeNames = std::map<std::string, std::string>;

/**
 * \return the names of the nodes that have a name other than their first output's; none if
 * \a model is no ONNX file
 */
NodeNames nodeNames(std::span<const std::byte> model);

} /* namespace nvdla::report */
