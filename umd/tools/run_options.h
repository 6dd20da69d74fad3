/* SPDX-License-Identifier: MIT */
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nvdla/device.h>
#include <nvdla/image.h>
#include <nvdla/quantization.h>

#include "network_file.h"
#include "trace_options.h"

namespace nvdla::tools
{

/** \brief Options of nvdla-run */
struct RunSettings {
	std::string device = Device::defaultPath();
	NetworkFile network;
	/** \brief Order of the axes of all .npy files; nothing: the model's order */
	std::optional<ElementOrder> layout;
	std::vector<std::string> inputs;
	std::vector<std::string> outputs;
	/**
	 * \brief Without --output, write files with the names that NVIDIA's runtime gives them:
	 * output.dimg, ...
	 */
	bool usualOutputs = false;
	std::optional<PixelScaling> scaling; /**< nothing: no option gives it */
	/** \brief Quantizations of the first inputs; further inputs keep the loadable's */
	std::vector<TensorQuantization> inputQuantizations;
	std::vector<TensorQuantization> outputQuantizations;
	bool rawDump = false;
	unsigned top = 0;
	/** \brief Folder for the tensors of each layer; empty: do not write them */
	std::string surfaces;
	std::string labels; /**< file with the names of classes, one a line */
	unsigned repeat = 1;
	unsigned timeoutMs = 30000;
	bool verbose = false;
	bool perf = false;
	/**
	 * \brief An operation is reported only if it has more saturated values than this number.
	 * The next two members are the limits for NaNs and for values outside look-up tables
	 */
	uint64_t saturatedAbove = 0;
	uint64_t nanAbove = 0;
	uint64_t lutMissesAbove = 0;
	bool json = false;
};

/**
 * \brief Read the command line of nvdla-run. Print the help if the user asks for it, or the error
 * in the command line
 * \param[out] trace the options of --trace
 * \return the exit code if the program has to end here
 */
Result<std::optional<int>> parseRunOptions(int argc, char **argv, RunSettings &settings,
					   TraceOptions &trace);

} /* namespace nvdla::tools */
