/* SPDX-License-Identifier: MIT */
#include "dispatcher.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nvdla::sim::vfiouser
{

namespace
{

template<typename T>
Bytes toBytes(const T &value)
{
	Bytes bytes;
	append(bytes, value);
	return bytes;
}

/* Returns a request structure; nothing if argsz or the payload is too small for all of it. */
template<typename T>
std::optional<T> parseSized(const Message &message)
{
	const auto value = parse<T>(message.payload);
	if (!value || value->argsz < sizeof(T))
		return std::nullopt;
	return value;
}

/* \return the reply to a request, given the result of a function: an errno value, or 0. */
tl::expected<Bytes, int> replyOf(int error, Bytes payload = {})
{
	if (error)
		return tl::unexpected(error);
	return payload;
}

bool takesFds(wire::Command command)
{
	return command == wire::Command::DmaMap || command == wire::Command::DeviceSetIrqs;
}

} /* namespace */

Dispatcher::Dispatcher(DeviceFunction &function, GuestMemory &memory, Interrupts &interrupts,
		       Log &log, const Offer &offer)
	: function_(function), memory_(memory), interrupts_(interrupts), log_(log), offer_(offer)
{
}

std::optional<Bytes> Dispatcher::handle(Message message)
{
	const wire::Header header = message.header;
	if ((header.flags & wire::kTypeMask) == wire::kTypeReply) {
		memory_.channel().complete(std::move(message));
		return std::nullopt;
	}

	log_.trace("command {} id {} with {} bytes, {} descriptors", +header.command, +header.id,
		   message.payload.size(), message.fds.size());
	const Result result = dispatch(message);
	if (!result)
		log_.warning("command {} ({} bytes) refused: {}", +header.command, +header.size,
			     std::strerror(result.error()));
	if (header.flags & wire::kNoReply)
		return std::nullopt;
	if (!result)
		return encode(header.id, header.command, wire::kTypeReply | wire::kError,
			      static_cast<uint32_t>(result.error()), {});
	return encode(header.id, header.command, wire::kTypeReply, 0, *result);
}

Dispatcher::Result Dispatcher::dispatch(Message &message)
{
	const wire::Command command = message.command();
	if (!message.fds.empty() && !takesFds(command))
		return tl::unexpected(EINVAL);
	if (!versionKnown_ && command != wire::Command::Version) {
		/* A client whose first message is not VERSION does not speak this protocol. */
		hangUp_ = true;
		return tl::unexpected(EPROTO);
	}

	switch (command) {
	case wire::Command::Version:
		return version(message);
	case wire::Command::DmaMap:
		return dmaMap(message);
	case wire::Command::DmaUnmap:
		return dmaUnmap(message);
	case wire::Command::DeviceGetInfo:
		return deviceInfo(message);
	case wire::Command::DeviceGetRegionInfo:
		return regionInfo(message);
	case wire::Command::DeviceGetRegionIoFds:
		return regionIoFds(message);
	case wire::Command::DeviceGetIrqInfo:
		return irqInfo(message);
	case wire::Command::DeviceSetIrqs:
		return setIrqs(message);
	case wire::Command::RegionRead:
		return regionRead(message);
	case wire::Command::RegionWrite:
		return regionWrite(message);
	case wire::Command::RegionWriteMulti:
		return regionWriteMulti(message);
	case wire::Command::DeviceReset:
		return reset();
	case wire::Command::DmaRead:
	case wire::Command::DmaWrite:
		/* Only the server sends these commands. */
		return tl::unexpected(EINVAL);
	case wire::Command::DirtyPages:
		break;
	}
	return tl::unexpected(ENOTSUP);
}

Dispatcher::Result Dispatcher::version(const Message &message)
{
	if (versionKnown_)
		return tl::unexpected(EINVAL);
	const auto maxTransfer = readVersion(message.payload, log_);
	if (!maxTransfer) {
		hangUp_ = true;
		return tl::unexpected(maxTransfer.error());
	}
	versionKnown_ = true;
	memory_.channel().open(*maxTransfer);
	return versionReply(offer_);
}

Dispatcher::Result Dispatcher::dmaMap(Message &message)
{
	const auto request = parseSized<wire::DmaMap>(message);
	constexpr uint32_t access = wire::kDmaMapRead | wire::kDmaMapWrite;
	if (!request || message.fds.size() > 1 || !(request->flags & access) ||
	    (request->flags & ~(access | wire::kDmaMapHints)))
		return tl::unexpected(EINVAL);

	const DmaRange range = {
		.address = request->address,
		.size = request->size,
		.offset = request->offset,
		.readable = (request->flags & wire::kDmaMapRead) != 0,
		.writable = (request->flags & wire::kDmaMapWrite) != 0,
	};
	log_.debug("map {:#x} bytes at {:#x}{}{}{}", range.size, range.address,
		   range.readable ? " r" : "", range.writable ? " w" : "",
		   message.fds.empty() ? " without a descriptor" : "");
	return replyOf(memory_.map().map(
		range, message.fds.empty() ? UniqueFd() : std::move(message.fds.front())));
}

Dispatcher::Result Dispatcher::dmaUnmap(const Message &message)
{
	const auto request = parseSized<wire::DmaUnmap>(message);
	if (!request || (request->flags & ~wire::kDmaUnmapAll))
		return tl::unexpected(EINVAL);

	if (request->flags & wire::kDmaUnmapAll) {
		if (request->address != 0 || request->size != 0)
			return tl::unexpected(EINVAL);
		log_.debug("unmap all");
		memory_.map().clear();
		return toBytes(*request);
	}
	log_.debug("unmap {:#x} bytes at {:#x}", +request->size, +request->address);
	return replyOf(memory_.map().unmap(request->address, request->size), toBytes(*request));
}

Dispatcher::Result Dispatcher::deviceInfo(const Message &message)
{
	if (!parseSized<wire::DeviceInfo>(message))
		return tl::unexpected(EINVAL);
	return toBytes(wire::DeviceInfo{ sizeof(wire::DeviceInfo),
					 wire::kDeviceReset | wire::kDevicePci, wire::kRegionCount,
					 wire::kIrqCount });
}

Dispatcher::Result Dispatcher::regionInfo(const Message &message)
{
	const auto request = parseSized<wire::RegionInfo>(message);
	if (!request || request->index >= wire::kRegionCount)
		return tl::unexpected(EINVAL);

	const Region region = function_.region(request->index);
	wire::RegionInfo reply = {};
	reply.argsz = sizeof(reply);
	reply.index = request->index;
	reply.size = region.size;
	/* If any region were mappable, QEMU would wait for the reply to every write. */
	reply.flags = (region.readable ? wire::kRegionRead : 0) |
		      (region.writable ? wire::kRegionWrite : 0);
	return toBytes(reply);
}

Dispatcher::Result Dispatcher::regionIoFds(const Message &message)
{
	const auto request = parseSized<wire::IndexInfo>(message);
	if (!request || request->index >= wire::kRegionCount || request->flags != 0)
		return tl::unexpected(EINVAL);
	return toBytes(wire::IndexInfo{ sizeof(wire::IndexInfo), 0, request->index, 0 });
}

Dispatcher::Result Dispatcher::irqInfo(const Message &message)
{
	const auto request = parseSized<wire::IndexInfo>(message);
	if (!request || request->index >= wire::kIrqCount)
		return tl::unexpected(EINVAL);
	return toBytes(wire::IndexInfo{ sizeof(wire::IndexInfo), interrupts_.flags(request->index),
					request->index, interrupts_.count(request->index) });
}

Dispatcher::Result Dispatcher::setIrqs(Message &message)
{
	const auto request = parseSized<wire::SetIrqs>(message);
	if (!request)
		return tl::unexpected(EINVAL);
	const auto data =
		std::span<const std::byte>(message.payload).subspan(sizeof(wire::SetIrqs));
	return replyOf(interrupts_.configure(*request, data, std::move(message.fds)));
}

int Dispatcher::checkAccess(uint32_t index, uint64_t offset, uint64_t count, bool write) const
{
	if (index >= wire::kRegionCount || count == 0 || count > wire::kMaxTransfer)
		return EINVAL;
	const Region region = function_.region(index);
	if (!(write ? region.writable : region.readable))
		return EINVAL;
	if (offset > region.size || count > region.size - offset)
		return EINVAL;
	return 0;
}

Dispatcher::Result Dispatcher::regionRead(const Message &message)
{
	const auto request = parse<wire::RegionAccess>(message.payload);
	if (!request || message.payload.size() != sizeof(wire::RegionAccess))
		return tl::unexpected(EINVAL);
	int error = checkAccess(request->region, request->offset, request->count, false);
	if (error)
		return tl::unexpected(error);

	Bytes reply = toBytes(*request);
	reply.resize(sizeof(wire::RegionAccess) + request->count);
	error = function_.regionRead(request->region, request->offset,
				     std::span(reply).subspan(sizeof(wire::RegionAccess)));
	return replyOf(error, std::move(reply));
}

Dispatcher::Result Dispatcher::regionWrite(const Message &message)
{
	const auto request = parse<wire::RegionAccess>(message.payload);
	if (!request || message.payload.size() - sizeof(wire::RegionAccess) != request->count)
		return tl::unexpected(EINVAL);
	if (const int error = checkAccess(request->region, request->offset, request->count, true))
		return tl::unexpected(error);

	const auto data =
		std::span<const std::byte>(message.payload).subspan(sizeof(wire::RegionAccess));
	return replyOf(function_.regionWrite(request->region, request->offset, data),
		       toBytes(*request));
}

/* Checks all entries before it carries out the first one. */
Dispatcher::Result Dispatcher::regionWriteMulti(const Message &message)
{
	const auto request = parse<wire::RegionWriteMulti>(message.payload);
	if (!request || request->count == 0 || request->count > wire::kMaxWriteMulti ||
	    message.payload.size() != sizeof(wire::RegionWriteMulti) +
					      request->count * sizeof(wire::RegionWriteEntry))
		return tl::unexpected(EINVAL);

	std::vector<wire::RegionWriteEntry> entries(request->count);
	std::memcpy(entries.data(), message.payload.data() + sizeof(wire::RegionWriteMulti),
		    entries.size() * sizeof(wire::RegionWriteEntry));
	for (const wire::RegionWriteEntry &entry : entries) {
		if (entry.count > sizeof(entry.data) ||
		    checkAccess(entry.region, entry.offset, entry.count, true))
			return tl::unexpected(EINVAL);
	}
	for (const wire::RegionWriteEntry &entry : entries) {
		const int error = function_.regionWrite(entry.region, entry.offset,
							std::span(entry.data).first(entry.count));
		if (error)
			return tl::unexpected(error);
	}
	return toBytes(*request);
}

Dispatcher::Result Dispatcher::reset()
{
	log_.debug("device reset");
	const GuestMemory::Suspension suspension = memory_.suspendMessages();
	function_.reset();
	interrupts_.reset();
	return Bytes();
}

} /* namespace nvdla::sim::vfiouser */
