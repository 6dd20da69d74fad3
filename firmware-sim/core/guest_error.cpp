/* SPDX-License-Identifier: MIT */
#include "core/guest_error.h"

#include <utility>

namespace nvdla::sim
{

void GuestErrors::add(GuestError error)
{
	if (seen_.size() < maximum && seen_.emplace(error.unit, error.where, error.reason).second)
		waiting_.push_back(std::move(error));
}

std::vector<GuestError> GuestErrors::take()
{
	return std::exchange(waiting_, {});
}

void GuestErrors::reset()
{
	seen_.clear();
}

} /* namespace nvdla::sim */
