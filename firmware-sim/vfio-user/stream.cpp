/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

#include <fmt/core.h>

namespace nvdla::sim::vfiouser
{

namespace
{

bool isRegisterAccess(const wire::Header &header)
{
	const auto command = static_cast<wire::Command>(header.command);
	return headerValid(header) && (header.flags & wire::kTypeMask) == wire::kTypeCommand &&
	       (command == wire::Command::RegionRead || command == wire::Command::RegionWrite);
}

} /* namespace */

Stream::Result Stream::receive(Message &message)
{
	if (!holdsMessage() && headerFilled_ == 0) {
		const Result result = readAhead();
		if (result != Result::Message)
			return result;
	}
	const Result result = receiveOne();
	if (result == Result::Message) {
		message = std::move(incoming_);
		incoming_ = {};
		headerFilled_ = 0;
	}
	return result;
}

/* Reads whole register accesses from the socket; all other bytes stay there. */
Stream::Result Stream::readAhead()
{
	if (std::exchange(drained_, false))
		return Result::Again;

	const ssize_t count =
		recv(socket_.get(), ahead_.data(), ahead_.size(), MSG_PEEK | MSG_DONTWAIT);
	if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return Result::Again;
	/* Ignores errors and the end of the connection: the next read reports them. */
	const size_t there = count > 0 ? static_cast<size_t>(count) : 0;
	const size_t size = accessBytes(there);
	aheadTaken_ = aheadFilled_ = 0;
	if (size == 0)
		return Result::Message;
	drained_ = size == there && there < ahead_.size();
	return readInto(ahead_.data(), size, aheadFilled_);
}

/* Returns the length of the whole register accesses among the first \a size bytes of ahead_. */
size_t Stream::accessBytes(size_t size) const
{
	size_t at = 0;

	while (size - at >= sizeof(wire::Header)) {
		const auto header = *parse<wire::Header>(std::span(ahead_).subspan(at, size - at));
		if (!isRegisterAccess(header) || header.size > size - at)
			break;
		at += header.size;
	}
	return at;
}

/* Fills incoming_ from bytes that were read ahead, or from the socket. */
Stream::Result Stream::receiveOne()
{
	const auto read = [this](std::byte *data, size_t size, size_t &filled) {
		if (!holdsMessage())
			return readInto(data, size, filled);
		std::memcpy(data, &ahead_[aheadTaken_], size);
		aheadTaken_ += size;
		filled = size;
		return Result::Message;
	};

	if (headerFilled_ < sizeof(wire::Header)) {
		auto *raw = reinterpret_cast<std::byte *>(&incoming_.header);
		const Result result = read(raw, sizeof(wire::Header), headerFilled_);
		if (result != Result::Message)
			return result;
		if (!headerValid(incoming_.header))
			return fail(
				fmt::format("bad message header (command {}, size {}, flags {:#x})",
					    +incoming_.header.command, +incoming_.header.size,
					    +incoming_.header.flags));
		incoming_.payload.resize(incoming_.header.size - sizeof(wire::Header));
		payloadFilled_ = 0;
	}
	return incoming_.payload.empty()
		       ? Result::Message
		       : read(incoming_.payload.data(), incoming_.payload.size(), payloadFilled_);
}

/* Reads up to \a size bytes in all, and no byte of the next message. */
Stream::Result Stream::readInto(std::byte *data, size_t size, size_t &filled)
{
	while (filled < size) {
		/* Room for more descriptors than allowed, so that too many can be recognised. */
		alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 2 * wire::kMaxFds)>
			control;
		iovec vector = { data + filled, size - filled };
		msghdr header = {};
		header.msg_iov = &vector;
		header.msg_iovlen = 1;
		header.msg_control = control.data();
		header.msg_controllen = control.size();

		const ssize_t count =
			recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (count < 0) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN || errno == EWOULDBLOCK)
				return Result::Again;
			return fail(fmt::format("receiving failed: {}", std::strerror(errno)));
		}
		if (!takeFds(header))
			return Result::Failed;
		if (count == 0) {
			if (headerFilled_ == 0)
				return Result::Closed;
			return fail("the client closed the connection inside a message");
		}
		filled += static_cast<size_t>(count);
	}
	return Result::Message;
}

/* Owns all descriptors before it checks the message, so that none leaks. */
bool Stream::takeFds(msghdr &header)
{
	for (cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;
			std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			incoming_.fds.emplace_back(fd);
		}
	}
	if (incoming_.fds.size() > wire::kMaxFds) {
		fail(fmt::format("a message came with more than {} file descriptors",
				 wire::kMaxFds));
		return false;
	}
	/* The buffer is large enough, so descriptors are lost only at the limit of open files. */
	if (header.msg_flags & MSG_CTRUNC) {
		fail("file descriptors of a message are lost; let the process open more files "
		     "(ulimit -n)");
		return false;
	}
	return true;
}

bool Stream::send(Bytes bytes)
{
	queuedBytes_ += bytes.size();
	queue_.push_back(std::move(bytes));
	return flush();
}

bool Stream::flush()
{
	while (!queue_.empty()) {
		const Bytes &front = queue_.front();
		const ssize_t count = ::send(socket_.get(), front.data() + sent_,
					     front.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (count < 0) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN || errno == EWOULDBLOCK)
				return true;
			fail(fmt::format("sending failed: {}", std::strerror(errno)));
			return false;
		}
		sent_ += static_cast<size_t>(count);
		queuedBytes_ -= static_cast<size_t>(count);
		if (sent_ == front.size()) {
			queue_.pop_front();
			sent_ = 0;
		}
	}
	return true;
}

Stream::Result Stream::fail(std::string reason)
{
	failure_ = std::move(reason);
	return Result::Failed;
}

} /* namespace nvdla::sim::vfiouser */
