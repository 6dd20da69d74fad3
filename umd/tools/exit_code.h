/* SPDX-License-Identifier: MIT */
#pragma once

#include <nvdla/error.h>

namespace nvdla::tools
{

/** \brief Text for the help: exit codes of tools that run a network on a device */
constexpr const char *exitCodeHelp =
	"Exit codes: 0 success, 2 wrong argument, unusable file, or network that was compiled for "
	"another core than the device has, 3 the device is missing, refuses the work or fails, "
	"4 timeout, 1 any other failure.";

/** \brief Exit codes of nvdla-edges. It makes its network for the device's core, so the network is
 * never for another core */
constexpr const char *exitCodeHelpOfEdges =
	"Exit codes: 0 success, 2 wrong argument, unusable photograph, or device whose core has no "
	"look-up tables (nv_small, nv_small_256), 3 the device is missing, refuses the work or "
	"fails, 4 timeout: no operation began or ended for 30 seconds (10 with the kernel driver, "
	"unless the user has CAP_SYS_NICE), 1 any other failure.";

/** \brief Exit codes of tools that run nothing on a device */
constexpr const char *exitCodeHelpWithoutDevice =
	"Exit codes: 0 success, 2 wrong argument or unusable file, 1 any other failure.";

/** \brief Exit codes of tools that only look at devices */
constexpr const char *exitCodeHelpOfViewer =
	"Exit codes: 0 success, 2 wrong argument, 3 there is no such device or it was removed, "
	"1 any other failure.";

inline int exitCode(ErrorCode code)
{
	switch (code) {
	case ErrorCode::InvalidArgument:
	case ErrorCode::InvalidFile:
	case ErrorCode::NotFound:
	case ErrorCode::Unsupported:
		return 2;
	case ErrorCode::NoDevice:
	case ErrorCode::DeviceRefused:
	case ErrorCode::DeviceFailed:
	case ErrorCode::DeviceLost:
		return 3;
	case ErrorCode::Timeout:
		return 4;
	case ErrorCode::Io:
	case ErrorCode::NoMemory:
	case ErrorCode::Busy:
	case ErrorCode::Cancelled:
		break;
	}
	return 1;
}

} /* namespace nvdla::tools */
