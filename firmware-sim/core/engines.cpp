/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

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

} /* namespace nvdla::sim */
