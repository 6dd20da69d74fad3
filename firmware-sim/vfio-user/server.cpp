/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>

#include <poll.h>

namespace nvdla::sim::vfiouser
{

namespace
{

/* A client that does not fetch its answers gets no more of them than this. */
constexpr size_t kMaxQueued = 4 * wire::kMaxMessage;

/* Messages taken in a row before the other descriptors get a look. */
constexpr unsigned int kMaxBatch = 64;

/* How long a message is looked for before the thread sleeps: a driver comes again sooner than that
 * while it has work, and waking who sleeps takes as long as some dozens of accesses.
 */
constexpr auto kPatience = std::chrono::microseconds(300);

/** poll(), which looks for a while before it sleeps; others that have work go first */
int pollPatiently(std::span<pollfd> polls)
{
	const auto end = std::chrono::steady_clock::now() + kPatience;

	while (std::chrono::steady_clock::now() < end) {
		if (const int count = poll(polls.data(), polls.size(), 0))
			return count;
		std::this_thread::yield();
	}
	return poll(polls.data(), polls.size(), -1);
}

} /* namespace */

Server::Server(DeviceFunction &function, GuestMemory &memory, Interrupts &interrupts, Log &log,
	       const Offer &offer)
	: function_(function), memory_(memory), interrupts_(interrupts), log_(log), offer_(offer)
{
}

bool Server::run(Listener &listener, int stopFd)
{
	enum {
		Stop,
		Listen,
		Client,
		Requests,
		Count,
	};

	for (;;) {
		std::array<pollfd, Count> polls = {};
		polls[Stop] = { stopFd, POLLIN, 0 };
		polls[Listen] = { listener.fd(), POLLIN, 0 };
		polls[Client].fd = -1;
		polls[Requests].fd = -1;
		bool held = false;
		if (session_) {
			const size_t queued = session_->stream.queuedBytes();
			held = queued < kMaxQueued && session_->stream.holdsMessage();
			polls[Client].fd = session_->stream.fd();
			polls[Client].events = static_cast<short>(
				(queued < kMaxQueued ? POLLIN : 0) | (queued ? POLLOUT : 0));
			polls[Requests] = { memory_.channel().wakeFd(), POLLIN, 0 };
		}
		const int count = held ? poll(polls.data(), polls.size(), 0) : pollPatiently(polls);
		if (count < 0) {
			if (errno == EINTR)
				continue;
			log_.error("waiting for clients failed: {}", std::strerror(errno));
			endSession();
			return false;
		}

		if (polls[Stop].revents) {
			endSession();
			return true;
		}
		bool alive = true;
		if (polls[Requests].revents)
			alive = sendRequests();
		if (alive && (polls[Client].revents & POLLOUT))
			alive = flush();
		if (alive && (held || (polls[Client].revents & (POLLIN | POLLHUP | POLLERR))))
			alive = receive();
		if (!alive)
			endSession();
		if (polls[Listen].revents && !accept(listener)) {
			endSession();
			return false;
		}
	}
}

bool Server::accept(Listener &listener)
{
	UniqueFd socket = listener.accept();
	if (!socket.valid()) {
		/* The client may be gone again; anything else would come back at once, forever. */
		if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)
			return true;
		log_.error("accepting a client failed: {}", std::strerror(errno));
		return false;
	}
	if (session_) {
		log_.warning("a second client is turned away; there is one already");
		return true;
	}
	session_ = std::make_unique<Session>(
		std::move(socket), Dispatcher(function_, memory_, interrupts_, log_, offer_));
	return true;
}

/* \return false if the session is over */
bool Server::receive()
{
	Stream &stream = session_->stream;
	for (unsigned int i = 0; i < kMaxBatch; i++) {
		Message message;
		switch (stream.receive(message)) {
		case Stream::Result::Again:
			return true;
		case Stream::Result::Closed:
			if (session_->spoke)
				log_.info("the client has left");
			return false;
		case Stream::Result::Failed:
			log_.warning("the connection is given up: {}", stream.failure());
			return false;
		case Stream::Result::Message:
			break;
		}
		if (!session_->spoke)
			log_.info("a client is connected");
		session_->spoke = true;

		auto reply = session_->dispatcher.handle(std::move(message));
		if (reply && !stream.send(std::move(*reply))) {
			log_.warning("the connection is given up: {}", stream.failure());
			return false;
		}
		if (session_->dispatcher.hangUp())
			return false;
		if (stream.queuedBytes() >= kMaxQueued)
			return true;
	}
	return true;
}

bool Server::sendRequests()
{
	for (Bytes &request : memory_.channel().takeRequests()) {
		if (!session_->stream.send(std::move(request))) {
			log_.warning("the connection is given up: {}", session_->stream.failure());
			return false;
		}
	}
	return true;
}

bool Server::flush()
{
	if (session_->stream.flush())
		return true;
	log_.warning("the connection is given up: {}", session_->stream.failure());
	return false;
}

void Server::endSession()
{
	if (!session_)
		return;
	/* First what engine threads may wait for, then what they may still touch. */
	memory_.channel().close();
	function_.reset();
	memory_.map().clear();
	interrupts_.disconnect();
	session_.reset();
}

} /* namespace nvdla::sim::vfiouser */
