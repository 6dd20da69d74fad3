/* SPDX-License-Identifier: MIT */
/*
 * Access to guest memory by messages to the client.
 */
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "log.h"
#include "message.h"
#include "unique_fd.h"

namespace nvdla::sim::vfiouser
{

/**
 * \brief DMA_READ and DMA_WRITE: requests of engine threads, replies by the socket thread
 *
 * Ranges that the client maps without a file descriptor are only accessible this
 * way. read() and write() block until the client replies. The socket thread receives
 * the replies and would wait for itself in these functions, so they fail there. The client
 * replies only after it has got the answer to its own pending request.
 *
 * In QEMU 10.1 and 10.2 the layout of these messages violates the specification (a 32-bit
 * count), which would shift the data by four bytes. The first reply to a read shows the
 * layout. Such a client is refused, because it would get wrong data.
 */
class DmaChannel
{
public:
	/** \param timeout how long a request waits for the client's reply */
	DmaChannel(Log &log, std::chrono::milliseconds timeout);

	/** \brief Read guest memory through the client; any thread but the socket's */
	bool read(uint64_t address, std::span<std::byte> out);
	/** \brief Write guest memory through the client; any thread but the socket's */
	bool write(uint64_t address, std::span<const std::byte> data);

	/* The socket thread calls the following functions. */

	/**
	 * \brief A client has connected
	 * \param maxTransfer most data bytes that the client accepts in a message
	 */
	void open(size_t maxTransfer);
	/** \brief The client has left: fail waiting requests and all later ones */
	void close();
	/** \brief Fail waiting requests, and all later ones until resume() */
	void suspend();
	void resume();
	/** \return a descriptor that becomes readable when takeRequests() has messages */
	int wakeFd() const { return wake_.get(); }
	/** \return messages to be sent to the client, in order */
	std::vector<Bytes> takeRequests();
	/** \brief Pass a reply of the client to the waiting thread */
	void complete(Message reply);

private:
	enum class Layout {
		Unknown,
		Specified,
		Old,
	};

	struct Request {
		bool done = false;
		Message reply;
		std::condition_variable condition;
	};

	size_t transferLimit();
	bool readPart(uint64_t address, std::span<std::byte> out);
	bool writePart(uint64_t address, std::span<const std::byte> data);
	bool checkLayout(uint64_t address);
	bool exchange(wire::Command command, const Bytes &payload, Message &reply);
	void failAll();

	Log &log_;
	const std::chrono::milliseconds timeout_;
	UniqueFd wake_;
	std::mutex mutex_;
	std::thread::id socketThread_;
	bool open_ = false;
	unsigned int suspended_ = 0;
	size_t maxTransfer_ = 0;
	Layout layout_ = Layout::Unknown;
	uint16_t nextId_ = 0;
	std::map<uint16_t, Request *> waiting_;
	std::vector<Bytes> requests_;
};

} /* namespace nvdla::sim::vfiouser */
