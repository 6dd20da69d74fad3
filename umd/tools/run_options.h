/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>
#include <vector>

#include <nvdla/image.h>

namespace nvdla::tools
{

/** \brief What nvdla-run was asked for */
struct RunSettings {
	std::string device = "embedded";
	std::string loadable;
	std::vector<std::string> inputs;
	std::vector<std::string> outputs;
	/** \brief Without names in outputs, they go where the first runtime's did */
	bool usualOutputs = false;
	PixelScaling scaling;
	float inputScale = 1.0f;
	bool rawDump = false;
	unsigned top = 0;
	std::string labels; /**< file with the names of classes, one a line */
	unsigned repeat = 1;
	unsigned timeoutMs = 30000;
	bool verbose = false;
	bool perf = false;
	bool json = false;
};

} /* namespace nvdla::tools */
