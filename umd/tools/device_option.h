/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include "command-line/command_line.h"
#include "core/geometry.h"

namespace nvdla::tools
{

/** \brief Add --device, which is the same in all programs that run networks */
inline CommandLineOption addDeviceOption(CommandLine &app, std::string &device)
{
	return app
		.option("--device", device,
			std::string("/dev/accel/accelN, or embedded for the device model in this "
				    "process; embedded:nv_small emulates that core; there are ") +
				sim::geometryNames())
		.showDefault();
}

} /* namespace nvdla::tools */
