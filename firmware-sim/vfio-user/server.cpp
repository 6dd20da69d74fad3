/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <poll.h>

namespace nvdla::sim::vfiouser
{

namespace
{

/* Most bytes queued for a client that does not read its socket; its further requests wait. */
constexpr size_t kMaxQueued = 4 * wire::kMaxMessage;

/* At most this many messages are handled before other descriptors are polled. */
constexpr unsigned int kMaxBatch = 64;

/*
 * Time to poll for a message before sleeping. A busy driver sends its next message sooner than
 * that, and waking the thread would take as long as some dozens of register accesses.
 */
constexpr auto kPatience = std::chrono::microseconds(300);

/* Time to wait before repeating a system call that failed for lack of a resource. */
constexpr auto kPause = std::chrono::milliseconds(20);

/** \return true if accept() failed because of the listener, so it would always fail */
bool isFault(int error)
{
	return error == EBADF || error == ENOTSOCK || error == EINVAL || error == EOPNOTSUPP ||
	       error == EFAULT;
}

/** \return true if accept() failed because no client waits, or the client has left */
bool isNoClient(int error)
{
	return error == EAGAIN || error == EINTR || error == ECONNABORTED;
}

/**
 * \brief poll() that yields instead of sleeping in the first kPatience
 * \param limit longest sleep; none: until something happens
 */
int pollPatiently(std::span<pollfd> polls, std::optional<std::chrono::milliseconds> limit)
{
	const auto end = std::chrono::steady_clock::now() + kPatience;

	while (std::chrono::steady_clock::now() < end) {
		if (const int count = poll(polls.data(), polls.size(), 0))
			return count;
		std::this_thread::yield();
	}
	return poll(polls.data(), polls.size(), limit ? static_cast<int>(limit->count()) : -1);
}

} /* namespace */

Server::Server(DeviceFunction &function, GuestMemory &memory, Interrupts &interrupts, Log &log,
	       const Offer &offer)
	: function_(function), memory_(memory), interrupts_(interrupts), log_(log), offer_(offer)
{
}

bool Server::run(Listener &listener, int stopFd)
{
	if (memory_.channel().wakeFd() < 0) {
		log_.error("there is no eventfd for the device's requests; let the process open "
			   "more files (ulimit -n)");
		return false;
	}
	for (;;) {
		const bool paused = Clock::now() < nextAccept_;
		Polls polls = waitedFor(stopFd, paused ? -1 : listener.fd());
		const bool held =
			(polls[Client].events & POLLIN) && session_->stream.holdsMessage();
		const auto limit = paused ? std::optional(kPause) : std::nullopt;
		const int count =
			held ? poll(polls.data(), polls.size(), 0) : pollPatiently(polls, limit);
		if (count < 0) {
			if (errno == EINTR)
				continue;
			if (errno == ENOMEM || errno == EAGAIN) {
				pause("waiting for clients", errno);
				std::this_thread::sleep_for(kPause);
				continue;
			}
			log_.error("waiting for clients failed: {}", std::strerror(errno));
			endSession();
			return false;
		}

		if (polls[Stop].revents) {
			endSession();
			return true;
		}
		try {
			if (!serve(polls, held))
				endSession();
			if (polls[Listen].revents && !accept(listener)) {
				endSession();
				return false;
			}
		} catch (const std::bad_alloc &) {
			log_.warning("the connection is given up: there is no memory for it");
			endSession();
		}
	}
}

Server::Polls Server::waitedFor(int stopFd, int listenFd) const
{
	Polls polls = {
		{ { stopFd, POLLIN, 0 }, { listenFd, POLLIN, 0 }, { -1, 0, 0 }, { -1, 0, 0 } }
	};
	if (!session_)
		return polls;
	const size_t queued = session_->stream.queuedBytes();
	/* If too much is queued, the client gets no further replies or requests. */
	const bool more = queued < kMaxQueued;
	polls[Client] = { session_->stream.fd(),
			  static_cast<short>((more ? POLLIN : 0) | (queued ? POLLOUT : 0)), 0 };
	polls[Requests] = { more ? memory_.channel().wakeFd() : -1, POLLIN, 0 };
	return polls;
}

/* \return false if the session is over; \a held: the stream holds a message already */
bool Server::serve(const Polls &polls, bool held)
{
	if (polls[Requests].revents && !sendRequests())
		return false;
	if ((polls[Client].revents & POLLOUT) && !session_->stream.flush())
		return giveUp();
	return !(held || (polls[Client].revents & (POLLIN | POLLHUP | POLLERR))) || receive();
}

/* The host lacks a resource: report that once, and accept no clients for kPause. */
void Server::pause(const char *what, int error)
{
	nextAccept_ = Clock::now() + kPause;
	if (std::exchange(shortage_, error) != error)
		log_.warning("{} failed and is tried again: {}", what, std::strerror(error));
}

/* \return false if clients can never be accepted */
bool Server::accept(Listener &listener)
{
	UniqueFd socket = listener.accept();
	if (!socket.valid()) {
		const int error = errno;
		if (isFault(error)) {
			log_.error("accepting a client failed: {}", std::strerror(error));
			return false;
		}
		/*
		 * A client may still wait in the queue: without a pause accept() would fail again.
		 */
		if (!isNoClient(error))
			pause("accepting a client", error);
		return true;
	}
	shortage_ = 0;
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
			return giveUp();
		case Stream::Result::Message:
			break;
		}
		if (!session_->spoke)
			log_.info("a client is connected");
		session_->spoke = true;

		auto reply = session_->dispatcher.handle(std::move(message));
		if (reply && !stream.send(std::move(*reply)))
			return giveUp();
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
		if (!session_->stream.send(std::move(request)))
			return giveUp();
	}
	return true;
}

/* \return false: the session is over */
bool Server::giveUp()
{
	log_.warning("the connection is given up: {}", session_->stream.failure());
	return false;
}

void Server::endSession()
{
	if (!session_)
		return;
	/* Engine threads must stop waiting and stop their accesses before memory is unmapped. */
	memory_.channel().close();
	function_.reset();
	memory_.map().clear();
	interrupts_.disconnect();
	session_.reset();
}

} /* namespace nvdla::sim::vfiouser */
