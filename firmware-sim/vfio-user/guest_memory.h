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
 * \brief The guest's memory by bus address; mapped memory, or accesses by messages to the client
 *
 * Any number of threads may call read() and write(). The thread that
 * serves the client may use them only for memory that came with a file
 * descriptor (see DmaChannel), so a device does its DMA in threads of its own.
 *
 * An access that is not fully mapped and permitted fails without effect. An access
 * by messages can also fail after a part of it was done, if the client
 * refuses the rest or leaves.
 */
class GuestMemory
{
public:
	/** \param timeout longest wait for the client's reply to a message */
	explicit GuestMemory(Log &log, std::chrono::milliseconds timeout = std::chrono::seconds(10))
		: channel_(log, timeout)
	{
	}

	bool read(uint64_t address, std::span<std::byte> out);
	bool write(uint64_t address, std::span<const std::byte> data);

	/**
	 * \brief While this object exists, accesses that wait for the client fail
	 *
	 * Used for a reset. The thread that carries out the reset also receives the client's
	 * replies, so an engine that waits for a reply would never end.
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

	/** \brief The parts of guest memory that the server manages */
	DmaMap &map() { return map_; }
	DmaChannel &channel() { return channel_; }

private:
	DmaMap map_;
	DmaChannel channel_;
};

} /* namespace nvdla::sim::vfiouser */
