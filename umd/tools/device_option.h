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
				"device file of an NVDLA or its name, such as /dev/accel/accel0 or "
				"accel0; or embedded: the device model, an NVDLA in software, in "
				"this process. embedded has the core (configuration of NVDLA) "
				"nv_full; embedded:CORE has CORE, one of ") +
				sim::geometryNames() +
				"; nvdla-run(1) has further options of embedded, such as "
				"fp16=fast and threads=N. The default is the first NVDLA of the "
				"kernel driver, or embedded if there is none")
		.valueText("DEVICE");
}

/** \brief Add --timeout, which is the same in all programs that have it */
inline CommandLineOption addTimeoutOption(CommandLine &app, unsigned int &milliseconds)
{
	return app
		.option("--timeout", milliseconds,
			"end with exit code 4 if no operation on the device begins or ends for N "
			"milliseconds, or if a submission to the device (all operations up to the "
			"next one on the CPU) takes longer than 10 * N milliseconds. The kernel "
			"driver limits N to 10000, which is less than the default, unless the "
			"user has the capability CAP_SYS_NICE")
		.range(1u, 600000u)
		.showDefault();
}

} /* namespace nvdla::tools */
