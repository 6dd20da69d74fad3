/* SPDX-License-Identifier: MIT */
/*
 * Messages over a connected UNIX stream socket.
 */
#pragma once

#include <array>
#include <deque>
#include <string>

#include <sys/socket.h>

#include "message.h"
#include "unique_fd.h"

namespace nvdla::sim::vfiouser
{

/**
 * \brief Cuts the received byte stream into messages, and queues messages to send
 *
 * Never blocks. Used only by the thread that polls the socket.
 *
 * Register accesses come in bursts, so all that have arrived are read with one system call. Other
 * messages may carry file descriptors and are read one by one, without bytes of the next message.
 */
class Stream
{
public:
	enum class Result {
		Message, /**< a whole message was received */
		Again,	 /**< no whole message has arrived yet */
		Closed,	 /**< the peer closed the connection between two messages */
		Failed,	 /**< the connection is unusable; see failure() */
	};

	/** \param socket connected stream socket; blocking or not */
	explicit Stream(UniqueFd socket) : socket_(std::move(socket)) {}

	int fd() const { return socket_.get(); }

	/** \brief Read arrived bytes until \a message is complete */
	Result receive(Message &message);

	/** \return true if receive() has a message that was read from the socket already */
	bool holdsMessage() const { return aheadTaken_ < aheadFilled_; }

	/** \brief Send \a bytes; those that do not fit into the socket are queued */
	bool send(Bytes bytes);
	/**
	 * \brief Send more of the queued bytes
	 * \return false if the connection is lost
	 */
	bool flush();

	/** \return bytes that wait for the socket to become writable */
	size_t queuedBytes() const { return queuedBytes_; }

	/** \return the reason for Failed from receive(), or for false from send() or flush() */
	const std::string &failure() const { return failure_; }

private:
	/* Bytes to read ahead; a register access is mostly 36 bytes long. */
	static constexpr size_t kAhead = 4096;

	Result readAhead();
	size_t accessBytes(size_t size) const;
	Result receiveOne();
	Result readInto(std::byte *data, size_t size, size_t &filled);
	bool takeFds(msghdr &header);
	Result fail(std::string reason);

	UniqueFd socket_;
	std::array<std::byte, kAhead> ahead_; /**< whole messages that were read from
					       * the socket in advance */
	size_t aheadFilled_ = 0;
	size_t aheadTaken_ = 0;
	bool drained_ = false; /**< the last readAhead() emptied the socket */
	Message incoming_;
	size_t headerFilled_ = 0;
	size_t payloadFilled_ = 0;
	std::deque<Bytes> queue_;
	size_t sent_ = 0; /**< bytes of queue_'s first element that were sent */
	size_t queuedBytes_ = 0;
	std::string failure_;
};

} /* namespace nvdla::sim::vfiouser */
