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
 * Never blocks. Belongs to the thread that polls the socket.
 *
 * Register accesses come in bursts, so all that have arrived are read from the socket at once. Any
 * other message may have file descriptors, so it is read without any byte of the next message.
 */
class Stream
{
public:
	enum class Result {
		Message, /**< a whole message was received */
		Again,	 /**< nothing more to read now */
		Closed,	 /**< the peer closed the connection between two messages */
		Failed,	 /**< the connection is of no more use; see failure() */
	};

	/** \param socket connected stream socket; blocking or not */
	explicit Stream(UniqueFd socket) : socket_(std::move(socket)) {}

	int fd() const { return socket_.get(); }

	/** \brief Read arrived bytes until \a message is complete */
	Result receive(Message &message);

	/** \return whether receive() has a message that the socket does not show any more */
	bool holdsMessage() const { return aheadTaken_ < aheadFilled_; }

	/** \brief Send \a bytes, or keep the rest if the socket is full */
	bool send(Bytes bytes);
	/**
	 * \brief Send more of the queued bytes
	 * \return false if the connection is lost
	 */
	bool flush();

	/** \return bytes that wait for the socket to become writable */
	size_t queuedBytes() const { return queuedBytes_; }

	/** \return why receive() said Failed or send() or flush() returned false */
	const std::string &failure() const { return failure_; }

private:
	/* Register accesses are 36 bytes long, mostly. */
	static constexpr size_t kAhead = 4096;

	Result readAhead();
	size_t accessBytes(size_t size) const;
	Result receiveOne();
	Result readInto(std::byte *data, size_t size, size_t &filled);
	bool takeFds(msghdr &header);
	Result fail(std::string reason);

	UniqueFd socket_;
	std::array<std::byte, kAhead> ahead_; /**< messages that were read ahead, all of them
					       * whole */
	size_t aheadFilled_ = 0;
	size_t aheadTaken_ = 0;
	bool drained_ = false; /**< readAhead() left nothing in the socket */
	Message incoming_;
	size_t headerFilled_ = 0;
	size_t payloadFilled_ = 0;
	std::deque<Bytes> queue_;
	size_t sent_ = 0; /**< bytes of queue_'s first element that are gone */
	size_t queuedBytes_ = 0;
	std::string failure_;
};

} /* namespace nvdla::sim::vfiouser */
