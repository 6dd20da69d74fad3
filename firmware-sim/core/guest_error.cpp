/* SPDX-License-Identifier: MIT */
#include "core/guest_error.h"

#include <cstdio>
#include <utility>

#include "core/operation.h"

namespace nvdla::sim
{

std::string hex(uint64_t value)
{
	char text[32];
	std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
	return text;
}

void GuestErrors::addMade(GuestError error)
{
	if (seen_.size() >= maximum)
		return;
	const auto [entry, isNew] = seen_.emplace(error.unit, error.where, error.reason);
	if (!isNew)
		return;
	try {
		waiting_.push_back(std::move(error));
	} catch (...) {
		seen_.erase(entry);
		throw;
	}
}

void GuestErrors::addNoMemory(const char *unit, const char *where)
{
	add([&] { return GuestError{ unit, where, kNoHostMemory, {} }; });
}

std::vector<GuestError> GuestErrors::take()
{
	if (std::exchange(isLost_, false))
		addNoMemory("core", "diagnostics");
	return std::exchange(waiting_, {});
}

void GuestErrors::reset()
{
	seen_.clear();
}

} /* namespace nvdla::sim */
