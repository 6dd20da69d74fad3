/* SPDX-License-Identifier: MIT */
/*
 * Messages over a connected UNIX stream socket.
 */
#pragma once

#include <deque>
#include <string>

#include <sys/socket.h>

#include "message.h"
#include "unique_fd.h"

namespace nvdla::sim::vfiouser
{

/**
 * \brief Cuts the byte stream into messages and queues what goes the other way
 *
 * Never blocks. Belongs to the thread that polls the socket.
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

	/** \brief Read what has arrived until \a message is complete */
	Result receive(Message &message);

	/** \brief Send \a bytes, or keep what does not fit into the socket now */
	bool send(Bytes bytes);
	/** \brief Send more of what is queued \return false if the connection is lost */
	bool flush();

	/** \return bytes that wait for the socket to become writable */
	size_t queuedBytes() const { return queuedBytes_; }

	/** \return why receive() said Failed or send() or flush() returned false */
	const std::string &failure() const { return failure_; }

private:
	Result readInto(std::byte *data, size_t size, size_t &filled);
	bool takeFds(msghdr &header);
	Result fail(std::string reason);

	UniqueFd socket_;
	Message incoming_;
	size_t headerFilled_ = 0;
	size_t payloadFilled_ = 0;
	std::deque<Bytes> queue_;
	size_t sent_ = 0; /**< bytes of queue_'s first element that are gone */
	size_t queuedBytes_ = 0;
	std::string failure_;
};

} /* namespace nvdla::sim::vfiouser */
