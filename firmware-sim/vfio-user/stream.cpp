/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>

#include <fmt/core.h>

namespace nvdla::sim::vfiouser
{

Stream::Result Stream::receive(Message &message)
{
	if (headerFilled_ < sizeof(wire::Header)) {
		auto *raw = reinterpret_cast<std::byte *>(&incoming_.header);
		const Result result = readInto(raw, sizeof(wire::Header), headerFilled_);
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

	const Result result =
		readInto(incoming_.payload.data(), incoming_.payload.size(), payloadFilled_);
	if (result != Result::Message)
		return result;

	message = std::move(incoming_);
	incoming_ = {};
	headerFilled_ = 0;
	return Result::Message;
}

/* Read up to \a size bytes in all; never a byte of the message after this one. */
Stream::Result Stream::readInto(std::byte *data, size_t size, size_t &filled)
{
	while (filled < size) {
		/* Room for more than the agreed number, so that too many are seen as such. */
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

/* Own every descriptor first, so that none is lost whatever is wrong with the message. */
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
	if ((header.msg_flags & MSG_CTRUNC) || incoming_.fds.size() > wire::kMaxFds) {
		fail(fmt::format("a message came with more than {} file descriptors",
				 wire::kMaxFds));
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
