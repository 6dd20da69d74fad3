/* SPDX-License-Identifier: MIT */
#include <nvdla/error.h>

#include "base/io/printable.h"

namespace nvdla
{

const char *errorName(ErrorCode code)
{
	switch (code) {
	case ErrorCode::InvalidArgument:
		return "invalid-argument";
	case ErrorCode::InvalidFile:
		return "invalid-file";
	case ErrorCode::Unsupported:
		return "unsupported";
	case ErrorCode::NotFound:
		return "not-found";
	case ErrorCode::NoDevice:
		return "no-device";
	case ErrorCode::Io:
		return "io";
	case ErrorCode::NoMemory:
		return "no-memory";
	case ErrorCode::DeviceRefused:
		return "device-refused";
	case ErrorCode::DeviceFailed:
		return "device-failed";
	case ErrorCode::Timeout:
		return "timeout";
	case ErrorCode::Busy:
		return "busy";
	case ErrorCode::Cancelled:
		return "cancelled";
	case ErrorCode::DeviceLost:
		return "device-lost";
	}
	return "unknown";
}

std::string Error::message() const
{
	std::string text = what;
	for (const std::string *part : { &where, &why }) {
		if (part->empty())
			continue;
		if (!text.empty())
			text += ": ";
		text += *part;
	}
	/* Replace control characters, because the text may have names from files. */
	return printable(text);
}

} /* namespace nvdla */
