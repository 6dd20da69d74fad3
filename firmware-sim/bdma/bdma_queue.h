/* SPDX-License-Identifier: MIT */
/* BDMA's operation slots and groups, which replace shadowed registers. */
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "bdma/bdma.h"

namespace nvdla::sim
{

/**
 * \brief Queue between the CSB and BDMA's copy engine
 *
 * CFG_OP.EN queues the operation that the registers describe. A launch makes a group of all
 * operations queued since the last launch; operations run in the order they were queued, and the
 * group's interrupt follows the last one. The oldest operation waits in the load unit, not in a
 * slot, so one operation more than there are slots can be queued (nvdlav1 RTL, and the vectors on
 * STATUS).
 *
 * Not synchronised: the core's lock covers it.
 */
class BdmaQueue
{
public:
	explicit BdmaQueue(uint32_t slots) : slots_(slots) {}

	void reset();

	/** \return null, or the guest's error, with which the operation is dropped */
	const char *push(const BdmaOp &op);

	/**
	 * \brief Launches a group, as a write to CFG_LAUNCHx does
	 *
	 * A group without operations stays busy for ever and raises no interrupt. One launch can
	 * wait behind the running one; a third is dropped.
	 *
	 * \return null, or the guest's error
	 */
	const char *launch(unsigned int group);

	/** \return the oldest operation that is launched and not running yet; null if there is
	 * none */
	const BdmaOp *next() const;

	/** \return group of the running operation or of the one that next() returns */
	unsigned int group() const { return launches_.front().group; }

	/** \brief Marks the operation of next() as running */
	void begin() { running_ = true; }

	/**
	 * \brief Removes the running operation, which is done
	 * \return its group if it was the last operation of that group
	 */
	std::optional<unsigned int> finish();

	/** \return value of STATUS */
	uint32_t status() const;

private:
	struct Launch {
		unsigned int group;
		size_t operations;
	};

	static constexpr size_t maximumLaunches = 2;

	uint32_t slots_;
	std::deque<BdmaOp> operations_; /* oldest first, with the running one */
	std::deque<Launch> launches_;	/* oldest first; without empty ones */
	size_t launched_ = 0;		/* number of operations that belong to launches_ */
	std::array<bool, 2> busy_ = {};
	bool running_ = false;
};

} /* namespace nvdla::sim */
