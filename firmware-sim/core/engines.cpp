/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

#include <string>
#include <utility>

namespace nvdla::sim
{

void merge(OperationResult &result, OperationResult &&part)
{
	result.updates.insert(result.updates.end(), part.updates.begin(), part.updates.end());
	result.work.merge(part.work);
	result.hangs |= part.hangs;
	if (result.guestError.empty())
		result.guestError = std::move(part.guestError);
}

OperationResult notModelled(const char *unit)
{
	OperationResult result;
	result.guestError = std::string(unit) + ": operations of this unit are not modelled";
	result.hangs = true;
	return result;
}

} /* namespace nvdla::sim */
