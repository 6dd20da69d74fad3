/* SPDX-License-Identifier: MIT */
/*
 * nvdla-run --dump-surfaces: the tensors inside a network after a run.
 */
#pragma once

#include <string>
#include <vector>

#include <nvdla/network.h>

#include "run_options.h"

namespace nvdla::tools
{

/** \brief A tensor that was written to a file, with the range of its elements */
struct SurfaceSummary {
	std::string name;
	std::string file; /**< name of the file in the folder */
	std::string type; /**< type of the elements, such as "int8" or "fp16" */
	float least = 0;  /**< smallest element, as a real number */
	float most = 0;
	double atLowest = 0;  /**< share of elements with the lowest value of their type */
	double atHighest = 0; /**< share of elements with the highest value; saturated elements have
				 the lowest or the highest */
};

/**
 * \brief Write all outputs of a network. The network must be compiled with
 * CompileOptions::everyTensor, which makes the tensors between layers outputs, too
 * \param[in] folder gets a .npy file with the numbers of each tensor; is created if missing
 */
Result<std::vector<SurfaceSummary>> dumpSurfaces(const Network &network, const std::string &folder,
						 const RunSettings &settings);

/** \return a table with one line for each tensor */
std::string surfaceTable(const std::vector<SurfaceSummary> &surfaces);

} /* namespace nvdla::tools */
