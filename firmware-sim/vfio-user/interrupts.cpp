/* SPDX-License-Identifier: MIT */
#include "interrupts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/eventfd.h>

namespace nvdla::sim::vfiouser
{

namespace
{

/* Only eventfds are accepted: a write to another file could block, or store eight bytes as data. */
bool isEventfd(int fd)
{
	std::array<char, 64> target;
	const std::string path = fmt::format("/proc/self/fd/{}", fd);
	const ssize_t length = readlink(path.c_str(), target.data(), target.size());
	return length > 0 && std::string_view(target.data(), static_cast<size_t>(length)) ==
				     "anon_inode:[eventfd]";
}

/*
 * A write to a blocking eventfd waits while its counter is full. Checking the counter first does
 * not help, because others may fill it in between. The flag belongs to the open file, so the
 * client's reads no longer block, either.
 */
bool makeNonBlocking(int fd)
{
	const int flags = fcntl(fd, F_GETFL);
	return flags >= 0 && ((flags & O_NONBLOCK) || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
}

/* If the write fails, the counter is full, so the client has enough signals to read already. */
void signal(int fd)
{
	eventfd_write(fd, 1);
}

} /* namespace */

Interrupts::Interrupts(Log &log, uint32_t messages) : log_(log), pending_(messages)
{
	indexes_[wire::kIrqMsi].vectors.resize(messages);
	indexes_[wire::kIrqMsix].vectors.resize(messages);
	/* The device reports no errors, but clients that pass on errors expect this interrupt. */
	indexes_[wire::kIrqError].vectors.resize(1);
}

void Interrupts::raise(uint32_t number)
{
	const std::lock_guard lock(mutex_);
	if (number >= pending_.size()) {
		log_.error("the device raised message {} of {}", number, pending_.size());
		return;
	}
	pending_[number] = true;
	deliver(number);
}

bool Interrupts::pending(uint32_t number) const
{
	const std::lock_guard lock(mutex_);
	return number < pending_.size() && pending_[number];
}

void Interrupts::reset()
{
	const std::lock_guard lock(mutex_);
	std::fill(pending_.begin(), pending_.end(), false);
}

uint32_t Interrupts::count(uint32_t index) const
{
	return static_cast<uint32_t>(indexes_.at(index).vectors.size());
}

uint32_t Interrupts::flags(uint32_t index) const
{
	return count(index) ? wire::kIrqEventfd | wire::kIrqMaskable : 0;
}

int Interrupts::configure(const wire::SetIrqs &request, std::span<const std::byte> data,
			  std::vector<UniqueFd> fds)
{
	const uint32_t kind = request.flags & wire::kIrqDataMask;
	const uint32_t action = request.flags & wire::kIrqActionsMask;
	const uint32_t start = request.start;
	const uint32_t count = request.count;

	if (request.index >= indexes_.size() || !std::has_single_bit(kind) ||
	    !std::has_single_bit(action) ||
	    (request.flags & ~(wire::kIrqDataMask | wire::kIrqActionsMask)))
		return EINVAL;
	Index &index = indexes_[request.index];
	if (start > index.vectors.size() || count > index.vectors.size() - start)
		return EINVAL;
	if (data.size() != (kind == wire::kIrqDataBool ? count : 0))
		return EINVAL;
	if (kind == wire::kIrqDataEventfd) {
		if (action != wire::kIrqActionTrigger)
			return EINVAL;
		const std::lock_guard lock(mutex_);
		return assign(index, request.index, start, count, std::move(fds));
	}
	if (!fds.empty())
		return EINVAL;

	const std::lock_guard lock(mutex_);
	if (kind == wire::kIrqDataNone && action == wire::kIrqActionTrigger && count == 0) {
		disable(index);
		return 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (kind == wire::kIrqDataBool && data[i] == std::byte{ 0 })
			continue;
		if (action == wire::kIrqActionTrigger)
			trigger(index, start + i);
		else
			index.vectors[start + i].masked = action == wire::kIrqActionMask;
		if (action == wire::kIrqActionUnmask && carriesMessages(index))
			deliver(start + i);
	}
	return 0;
}

/* The client passes one eventfd for each interrupt, or none to remove all in the range. */
int Interrupts::assign(Index &index, uint32_t indexNumber, uint32_t start, uint32_t count,
		       std::vector<UniqueFd> fds)
{
	if (!fds.empty() && fds.size() != count)
		return EINVAL;
	if (!std::all_of(fds.begin(), fds.end(), [](const auto &fd) {
		    return isEventfd(fd.get()) && makeNonBlocking(fd.get());
	    }))
		return EINVAL;

	log_.debug("interrupt index {}: {} eventfds from number {} on", indexNumber, fds.size(),
		   start);
	if (count > 0)
		index.enabled = true;
	for (uint32_t i = 0; i < count; i++) {
		index.vectors[start + i].eventfd = fds.empty() ? UniqueFd() : std::move(fds[i]);
		if (carriesMessages(index))
			deliver(start + i);
	}
	return 0;
}

void Interrupts::disable(Index &index)
{
	for (Vector &vector : index.vectors)
		vector = {};
	index.enabled = false;
}

/* Handles a client's request to signal an interrupt as if the device had raised it. */
void Interrupts::trigger(Index &index, uint32_t number)
{
	if (carriesMessages(index)) {
		pending_[number] = true;
		deliver(number);
	} else if (index.vectors[number].eventfd.valid()) {
		signal(index.vectors[number].eventfd.get());
	}
}

void Interrupts::deliver(uint32_t number)
{
	if (!pending_[number])
		return;
	/* A guest enables only one of MSI and MSI-X, and prefers MSI-X. */
	Index &msix = indexes_[wire::kIrqMsix];
	Index &index = msix.enabled ? msix : indexes_[wire::kIrqMsi];
	const Vector &vector = index.vectors[number];
	if (!vector.eventfd.valid() || vector.masked)
		return;
	pending_[number] = false;
	signal(vector.eventfd.get());
}

bool Interrupts::carriesMessages(const Index &index) const
{
	return &index == &indexes_[wire::kIrqMsi] || &index == &indexes_[wire::kIrqMsix];
}

void Interrupts::disconnect()
{
	const std::lock_guard lock(mutex_);
	for (Index &index : indexes_)
		disable(index);
	std::fill(pending_.begin(), pending_.end(), false);
}

} /* namespace nvdla::sim::vfiouser */
