/* SPDX-License-Identifier: MIT */
/*
 * Interrupts from the device to the client.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "log.h"
#include "unique_fd.h"
#include "wire.h"

namespace nvdla::sim::vfiouser
{

/**
 * \brief Message-signalled interrupts, delivered through the client's eventfds
 *
 * The device raises a message by its number. The message goes to MSI-X or MSI, for whichever
 * of the two the client has given eventfds. A message without an eventfd stays pending: the client
 * removes all eventfds while it reconfigures, and the guest may not have set up interrupts yet. The
 * next eventfd for the number delivers the message; several pending messages of a number are
 * delivered as one.
 */
class Interrupts
{
public:
	/** \param messages number of messages of the device, the same for MSI and MSI-X */
	Interrupts(Log &log, uint32_t messages);

	/** \brief Raise message \a number; any thread, never blocks */
	void raise(uint32_t number);

	/** \return true if message \a number is pending */
	bool pending(uint32_t number) const;

	/** \brief Forget pending messages, as a device reset does; eventfds stay */
	void reset();

	/* The server calls the following functions. */

	/** \return number of interrupts of an index (wire::kIrq...) */
	uint32_t count(uint32_t index) const;
	/** \return flags of an index for DEVICE_GET_IRQ_INFO */
	uint32_t flags(uint32_t index) const;
	/**
	 * \brief Carry out DEVICE_SET_IRQS
	 * \param data one byte per interrupt, if the request carries booleans; else empty
	 * \return 0 or an errno value
	 */
	int configure(const wire::SetIrqs &request, std::span<const std::byte> data,
		      std::vector<UniqueFd> fds);
	/** \brief The client has left: close its eventfds and forget pending messages */
	void disconnect();

private:
	struct Vector {
		UniqueFd eventfd;
		bool masked = false;
	};

	struct Index {
		std::vector<Vector> vectors;
		bool enabled = false; /**< the client has given eventfds and not removed all */
	};

	int assign(Index &index, uint32_t indexNumber, uint32_t start, uint32_t count,
		   std::vector<UniqueFd> fds);
	void disable(Index &index);
	void trigger(Index &index, uint32_t number);
	void deliver(uint32_t number);
	bool carriesMessages(const Index &index) const;

	Log &log_;
	mutable std::mutex mutex_;
	std::array<Index, wire::kIrqCount> indexes_;
	std::vector<bool> pending_; /**< by message number */
};

} /* namespace nvdla::sim::vfiouser */
