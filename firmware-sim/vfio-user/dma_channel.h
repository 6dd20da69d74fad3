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
 * Ranges that the client maps without a file descriptor can be reached only this
 * way. read() and write() block until the client replies. The socket thread receives
 * the replies and would deadlock in these functions, so calls from it fail. The client
 * replies only after its own pending request has been answered.
 *
 * QEMU 10.1 and 10.2 lay out these messages against the specification (a 32-bit
 * count): data would be shifted by four bytes. The first reply to a read shows the
 * layout; such a client is refused rather than served wrong data.
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
	 * \brief A client is there
	 * \param maxTransfer most data bytes in a message for it
	 */
	void open(size_t maxTransfer);
	/** \brief The client is gone: fail waiting and all later requests */
	void close();
	/** \brief Fail waiting requests, and all later ones until resume() */
	void suspend();
	void resume();
	/** \brief Becomes readable when takeRequests() has something to return */
	int wakeFd() const { return wake_.get(); }
	/** \return messages to be sent to the client, in order */
	std::vector<Bytes> takeRequests();
	/** \brief Hand in a reply of the client's */
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
