/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>
#include <vector>

namespace nvdla
{

/** \brief A file on the command line */
struct NamedFile {
	std::string option; /**< name of its option, such as "--output" */
	std::string path;
};

/**
 * \brief Find an output file that cannot be written, or that would replace another output or an
 * input (named itself, or in a folder of inputs)
 *
 * Paths are compared by inode, so two names of one file are the same. Not checked: "-", which is
 * standard output, pipes and devices.
 * \return the error, a sentence about the first such output; empty if there is none
 */
std::string problemOfOutputs(const std::vector<NamedFile> &inputs,
			     const std::vector<NamedFile> &outputs);

} /* namespace nvdla */
