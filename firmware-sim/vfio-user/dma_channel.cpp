/* SPDX-License-Identifier: MIT */
#include "dma_channel.h"

#include <algorithm>
#include <cstring>

#include <sys/eventfd.h>

namespace nvdla::sim::vfiouser
{

namespace
{

/* Most requests without a reply; must be below 2^16, the number of request ids. */
constexpr size_t kMaxWaiting = 1024;

} /* namespace */

DmaChannel::DmaChannel(Log &log, std::chrono::milliseconds timeout)
	: log_(log), timeout_(timeout), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
}

bool DmaChannel::read(uint64_t address, std::span<std::byte> out)
{
	while (!out.empty()) {
		const size_t part = std::min(out.size(), transferLimit());
		if (part == 0 || !readPart(address, out.first(part)))
			return false;
		address += part;
		out = out.subspan(part);
	}
	return true;
}

bool DmaChannel::write(uint64_t address, std::span<const std::byte> data)
{
	while (!data.empty()) {
		const size_t part = std::min(data.size(), transferLimit());
		if (part == 0 || !checkLayout(address) || !writePart(address, data.first(part)))
			return false;
		address += part;
		data = data.subspan(part);
	}
	return true;
}

/* Most data bytes of a message; 0 if no message can be sent now. */
size_t DmaChannel::transferLimit()
{
	const std::lock_guard lock(mutex_);
	if (std::this_thread::get_id() == socketThread_) {
		log_.error(
			"memory without a file descriptor was accessed by the thread that serves "
			"the client");
		return 0;
	}
	return open_ && !suspended_ && layout_ != Layout::Old ? maxTransfer_ : 0;
}

bool DmaChannel::readPart(uint64_t address, std::span<std::byte> out)
{
	Bytes payload;
	append(payload, wire::DmaAccess{ address, out.size() });
	Message reply;
	if (!exchange(wire::Command::DmaRead, payload, reply))
		return false;

	if (reply.payload.size() == sizeof(wire::DmaAccess) + out.size()) {
		std::memcpy(out.data(), reply.payload.data() + sizeof(wire::DmaAccess), out.size());
		const std::lock_guard lock(mutex_);
		layout_ = Layout::Specified;
		return true;
	}
	if (reply.payload.size() == sizeof(wire::DmaAccessOld) + out.size()) {
		log_.error("the client lays out DMA messages as QEMU 10.1 and 10.2 do, against the "
			   "specification; give the guest shared memory "
			   "(memory-backend-memfd, share=on) or use QEMU 11");
		const std::lock_guard lock(mutex_);
		layout_ = Layout::Old;
		return false;
	}
	log_.warning("the reply to DMA_READ of {} bytes at {:#x} has {} bytes", out.size(), address,
		     reply.payload.size());
	return false;
}

bool DmaChannel::writePart(uint64_t address, std::span<const std::byte> data)
{
	Bytes payload;
	payload.reserve(sizeof(wire::DmaAccess) + data.size());
	append(payload, wire::DmaAccess{ address, data.size() });
	payload.insert(payload.end(), data.begin(), data.end());
	Message reply;
	return exchange(wire::Command::DmaWrite, payload, reply);
}

/* Finds out the client's layout by a read: a write in the wrong layout would corrupt memory. */
bool DmaChannel::checkLayout(uint64_t address)
{
	{
		const std::lock_guard lock(mutex_);
		if (layout_ == Layout::Specified)
			return true;
	}
	std::byte probe;
	return readPart(address, { &probe, 1 });
}

bool DmaChannel::exchange(wire::Command command, const Bytes &payload, Message &reply)
{
	Request request;
	std::unique_lock lock(mutex_);
	if (!open_ || suspended_ || waiting_.size() >= kMaxWaiting)
		return false;

	while (waiting_.contains(nextId_))
		nextId_++;
	const uint16_t id = nextId_++;
	waiting_.emplace(id, &request);
	requests_.push_back(
		encode(id, static_cast<uint16_t>(command), wire::kTypeCommand, 0, payload));
	eventfd_write(wake_.get(), 1);

	if (!request.condition.wait_for(lock, timeout_, [&] { return request.done; })) {
		waiting_.erase(id);
		/* The request may not have been sent, if the client does not read its socket. */
		std::erase_if(requests_, [id](const Bytes &message) {
			return parse<wire::Header>(message)->id == id;
		});
		log_.warning("no reply to a DMA message within {} ms", timeout_.count());
		return false;
	}
	/* There is no reply if the channel was suspended or closed. */
	if (request.reply.header.size == 0)
		return false;
	if (request.reply.header.flags & wire::kError) {
		log_.warning("the client refused a DMA message: {}",
			     std::strerror(static_cast<int>(request.reply.header.error)));
		return false;
	}
	reply = std::move(request.reply);
	return true;
}

void DmaChannel::open(size_t maxTransfer)
{
	const std::lock_guard lock(mutex_);
	open_ = true;
	maxTransfer_ = maxTransfer;
	layout_ = Layout::Unknown;
	socketThread_ = std::this_thread::get_id();
}

void DmaChannel::close()
{
	const std::lock_guard lock(mutex_);
	open_ = false;
	socketThread_ = {};
	failAll();
}

void DmaChannel::suspend()
{
	const std::lock_guard lock(mutex_);
	suspended_++;
	failAll();
}

void DmaChannel::resume()
{
	const std::lock_guard lock(mutex_);
	suspended_--;
}

void DmaChannel::failAll()
{
	for (auto &[id, request] : waiting_) {
		request->done = true;
		request->condition.notify_one();
	}
	waiting_.clear();
	requests_.clear();
}

std::vector<Bytes> DmaChannel::takeRequests()
{
	const std::lock_guard lock(mutex_);
	eventfd_t count;
	eventfd_read(wake_.get(), &count);
	return std::exchange(requests_, {});
}

void DmaChannel::complete(Message reply)
{
	const std::lock_guard lock(mutex_);
	const auto it = waiting_.find(reply.header.id);
	if (it == waiting_.end()) {
		/* The request has timed out, or a reset has dropped it. */
		log_.debug("a reply to no request of ours (id {}) is ignored", +reply.header.id);
		return;
	}
	Request *request = it->second;
	waiting_.erase(it);
	request->reply = std::move(reply);
	request->done = true;
	/*
	 * Notify before the lock is released: the waiting thread has the request on its stack, and
	 * destroys it as soon as it gets the lock.
	 */
	request->condition.notify_one();
}

} /* namespace nvdla::sim::vfiouser */
