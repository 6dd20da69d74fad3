/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>
#include <vector>

namespace nvdla
{

/** \brief A file on the command line */
struct NamedFile {
	std::string option; /**< "--output" */
	std::string path;
};

/**
 * \brief Find an output that cannot be written, or that would replace an input (also a file in a
 * folder of inputs) or another output
 *
 * Files are the same if they have the same inode, whatever their names are. "-", which is standard
 * output, pipes and devices are no files.
 * \return the error, a sentence about the first such output; empty if there is none
 */
std::string problemOfOutputs(const std::vector<NamedFile> &inputs,
			     const std::vector<NamedFile> &outputs);

} /* namespace nvdla */
