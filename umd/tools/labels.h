/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>
#include <vector>

#include <nvdla/network.h>

namespace nvdla::tools
{

/**
 * \param[in] count number of lines in a file of labels
 * \param[in] path path of that file, for the error
 * \return the index of the first output with \a count elements; InvalidArgument if there is none
 */
Result<size_t> findOutputOf(const Network &network, size_t count, const std::string &path);

/**
 * \brief Read the names of classes, a line each
 * \return no names if \a path is empty; InvalidArgument if the number of names differs from the
 * size of every output, because the file then belongs to another network
 */
Result<std::vector<std::string>> readLabels(const std::string &path, const Network &network);

} /* namespace nvdla::tools */
