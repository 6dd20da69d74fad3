/* SPDX-License-Identifier: MIT */
/*
 * Guest memory as a device sees it.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "dma_channel.h"
#include "dma_map.h"
#include "log.h"

namespace nvdla::sim::vfiouser
{

/**
 * \brief The guest's memory by bus address, mapped or accessed by messages
 *
 * read() and write() may be called from any number of threads. The thread that
 * serves the client may use them only for memory that came with a file
 * descriptor (see DmaChannel), so a device does its DMA from threads of its own.
 *
 * An access that is not fully mapped and permitted fails without effect. One
 * that goes through messages can also fail in the middle, when the client
 * refuses a part or goes away.
 */
class GuestMemory
{
public:
	/** \param timeout how long an access waits for the client if it needs messages */
	explicit GuestMemory(Log &log, std::chrono::milliseconds timeout = std::chrono::seconds(10))
		: channel_(log, timeout)
	{
	}

	bool read(uint64_t address, std::span<std::byte> out);
	bool write(uint64_t address, std::span<const std::byte> data);

	/**
	 * \brief Fails accesses that wait for the client, as long as it exists
	 *
	 * For a reset: it is carried out by the thread that would have to take in the
	 * client's reply, so an engine that waits for one would never come to an end.
	 */
	class Suspension
	{
	public:
		explicit Suspension(DmaChannel &channel) : channel_(channel) { channel_.suspend(); }
		Suspension(const Suspension &) = delete;
		Suspension &operator=(const Suspension &) = delete;
		~Suspension() { channel_.resume(); }

	private:
		DmaChannel &channel_;
	};

	[[nodiscard]] Suspension suspendMessages() { return Suspension(channel_); }

	/** \brief For the server */
	DmaMap &map() { return map_; }
	DmaChannel &channel() { return channel_; }

private:
	DmaMap map_;
	DmaChannel channel_;
};

} /* namespace nvdla::sim::vfiouser */
