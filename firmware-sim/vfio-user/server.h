/* SPDX-License-Identifier: MIT */
/*
 * The vfio-user server: one PCI function for one client at a time.
 */
#pragma once

#include <array>
#include <chrono>
#include <memory>

#include <poll.h>

#include "dispatcher.h"
#include "listener.h"
#include "stream.h"

namespace nvdla::sim::vfiouser
{

/**
 * \brief Serves a device function to one client after another
 *
 * run() does all input and output of the socket in its own thread. A second client
 * is disconnected at once. When a client leaves, for whatever reason, its
 * memory is unmapped, its eventfds are closed and the function is reset, so that the next
 * client finds a fresh device. A temporary lack of resources on the host, such as
 * descriptors for one more client, does not end the server.
 */
class Server
{
public:
	/** \brief All arguments must outlive the server */
	Server(DeviceFunction &function, GuestMemory &memory, Interrupts &interrupts, Log &log,
	       const Offer &offer = {});

	/**
	 * \brief Serve until \a stopFd becomes readable
	 * \return true when stopped; false if the server cannot continue, which is logged
	 */
	bool run(Listener &listener, int stopFd);

private:
	/** \brief State that exists while a client is connected */
	struct Session {
		Session(UniqueFd socket, Dispatcher newDispatcher)
			: stream(std::move(socket)), dispatcher(std::move(newDispatcher))
		{
		}

		Stream stream;
		Dispatcher dispatcher;
		bool spoke = false; /**< the client has sent a message */
	};

	using Clock = std::chrono::steady_clock;

	/** \brief Descriptors that poll() waits for */
	enum {
		Stop,
		Listen,
		Client,
		Requests,
		Count,
	};
	using Polls = std::array<pollfd, Count>;

	Polls waitedFor(int stopFd, int listenFd) const;
	bool serve(const Polls &polls, bool held);
	void pause(const char *what, int error);
	bool accept(Listener &listener);
	bool receive();
	bool sendRequests();
	bool giveUp();
	void endSession();

	DeviceFunction &function_;
	GuestMemory &memory_;
	Interrupts &interrupts_;
	Log &log_;
	const Offer offer_;
	std::unique_ptr<Session> session_;
	Clock::time_point nextAccept_; /**< time until which no client is accepted */
	int shortage_ = 0;	       /**< errno value of the reported shortage; 0: none */
};

} /* namespace nvdla::sim::vfiouser */
