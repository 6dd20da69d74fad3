/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>
#include <vector>

#include <nvdla/network.h>

namespace nvdla::tools
{

/** \return the index of the first output with \a count numbers; InvalidArgument if there is none */
Result<size_t> findOutputOf(const Network &network, size_t count, const std::string &path);

/**
 * \brief Read the names of classes, a line each
 * \return none if \a path is empty; InvalidArgument if no output has as many numbers: the names
 * would be those of other classes
 */
Result<std::vector<std::string>> readLabels(const std::string &path, const Network &network);

} /* namespace nvdla::tools */
