/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

#include <string>

namespace nvdla::sim
{

OperationResult notModelled(const char *unit)
{
	OperationResult result;
	result.guestError = std::string(unit) + ": operations of this unit are not modelled";
	result.hangs = true;
	return result;
}

} /* namespace nvdla::sim */
