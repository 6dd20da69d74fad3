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
			std::string(
				"device file, such as /dev/accel/accel0; or embedded: an NVDLA "
				"in software, the device model, in this process. embedded computes "
				"as the core nv_full, embedded:CORE as CORE, one of ") +
				sim::geometryNames())
		.valueText("DEVICE")
		.showDefault();
}

} /* namespace nvdla::tools */
