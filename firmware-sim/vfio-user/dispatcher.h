/* SPDX-License-Identifier: MIT */
/*
 * Implementation of the protocol's commands.
 */
#pragma once

#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "device_function.h"
#include "guest_memory.h"
#include "interrupts.h"
#include "log.h"
#include "message.h"

namespace nvdla::sim::vfiouser
{

/** \brief Capabilities that the server offers to a client */
struct Offer {
	/**
	 * Lets the client combine posted writes in REGION_WRITE_MULTI. Off by default, because
	 * QEMU before 11.0 takes this offer for a request to queue all of its messages.
	 */
	bool writeMultiple = false;
};

/**
 * \brief Read the payload of a VERSION request
 * \return the most data bytes that the client accepts in one message, or an errno value
 */
tl::expected<uint32_t, int> readVersion(std::span<const std::byte> payload, Log &log);
/** \return the payload of the reply to VERSION */
Bytes versionReply(const Offer &offer);

/**
 * \brief Carries out one client's commands
 *
 * Works on messages, without sockets. Sizes, counts, indexes and descriptors of a message are
 * checked before use. An error is answered with an errno value: EINVAL for a malformed request,
 * ENOTSUP for commands that are not supported (migration, dirty page logging, later
 * protocol versions), or the error that a called
 * function returns.
 */
class Dispatcher
{
public:
	Dispatcher(DeviceFunction &function, GuestMemory &memory, Interrupts &interrupts, Log &log,
		   const Offer &offer);

	/**
	 * \brief Carry out a command, or handle a reply of the client
	 * \return the message to send back, if any
	 */
	std::optional<Bytes> handle(Message message);

	/** \return true if the connection must be closed once the last reply is sent */
	bool hangUp() const { return hangUp_; }

private:
	using Result = tl::expected<Bytes, int>; /**< reply payload or errno value */

	Result dispatch(Message &message);
	Result version(const Message &message);
	Result dmaMap(Message &message);
	Result dmaUnmap(const Message &message);
	Result deviceInfo(const Message &message);
	Result regionInfo(const Message &message);
	Result regionIoFds(const Message &message);
	Result irqInfo(const Message &message);
	Result setIrqs(Message &message);
	Result regionRead(const Message &message);
	Result regionWrite(const Message &message);
	Result regionWriteMulti(const Message &message);
	Result reset();
	int checkAccess(uint32_t region, uint64_t offset, uint64_t count, bool write) const;

	DeviceFunction &function_;
	GuestMemory &memory_;
	Interrupts &interrupts_;
	Log &log_;
	const Offer offer_;
	bool versionKnown_ = false;
	bool hangUp_ = false;
};

} /* namespace nvdla::sim::vfiouser */
