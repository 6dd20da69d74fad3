/* SPDX-License-Identifier: MIT */
/*
 * The vfio-user server: one PCI function for one client at a time.
 */
#pragma once

#include <memory>

#include "dispatcher.h"
#include "listener.h"
#include "stream.h"

namespace nvdla::sim::vfiouser
{

/**
 * \brief Serves a device function to one client after another
 *
 * run() does all the socket's input and output in its own thread. A second client
 * is turned away while there is one. When a client leaves, in whatever way, its
 * memory is let go, its eventfds are closed and the function is reset, so the next
 * one finds a fresh device.
 */
class Server
{
public:
	/** \brief Everything given must outlive the server */
	Server(DeviceFunction &function, GuestMemory &memory, Interrupts &interrupts, Log &log,
	       const Offer &offer = {});

	/**
	 * \brief Serve until \a stopFd becomes readable
	 * \return false if the server cannot go on (logged)
	 */
	bool run(Listener &listener, int stopFd);

private:
	/** \brief What exists as long as a client is there */
	struct Session {
		Session(UniqueFd socket, Dispatcher newDispatcher)
			: stream(std::move(socket)), dispatcher(std::move(newDispatcher))
		{
		}

		Stream stream;
		Dispatcher dispatcher;
		bool spoke = false; /**< a message was received */
	};

	bool accept(Listener &listener);
	bool receive();
	bool sendRequests();
	bool flush();
	void endSession();

	DeviceFunction &function_;
	GuestMemory &memory_;
	Interrupts &interrupts_;
	Log &log_;
	const Offer offer_;
	std::unique_ptr<Session> session_;
};

} /* namespace nvdla::sim::vfiouser */
