/* SPDX-License-Identifier: MIT */
#include "core/guest_error.h"

#include <cstdio>
#include <utility>

namespace nvdla::sim
{

std::string hex(uint64_t value)
{
	char text[32];
	std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
	return text;
}

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
