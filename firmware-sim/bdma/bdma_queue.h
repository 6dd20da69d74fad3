/* SPDX-License-Identifier: MIT */
/* BDMA's queue of operations and groups, which it has instead of shadowed registers. */
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "bdma/bdma.h"

namespace nvdla::sim
{

/**
 * \brief Queue between the registers (CSB) and BDMA's copy engine
 *
 * A write to CFG_OP.EN queues the operation that the registers describe. A launch makes a group of
 * all operations queued since the last launch. Operations run in the order of the queue, and the
 * group's interrupt follows the last one. The oldest operation is in the load unit instead of a
 * slot, so the queue holds one operation more than there are slots (nvdlav1 RTL, and reference
 * vectors that read STATUS).
 *
 * Not thread-safe: the caller holds the core's lock.
 */
class BdmaQueue
{
public:
	explicit BdmaQueue(uint32_t slots) : slots_(slots) {}

	void reset();

	/** \return null, or the text of a guest error: the operation is dropped */
	const char *push(const BdmaOp &op);

	/**
	 * \brief Launches a group, on a write to CFG_LAUNCHx
	 *
	 * A group without operations stays busy for ever and raises no interrupt. Only one launch
	 * can wait for the running one; a third launch is dropped.
	 *
	 * \return null, or the text of a guest error
	 */
	const char *launch(unsigned int group);

	/** \return the oldest operation that is launched but does not run yet; null if there is
	 * none */
	const BdmaOp *next() const;

	/** \return group of the running operation, or else of next() */
	unsigned int group() const { return launches_.front().group; }

	/** \brief Marks the operation of next() as running */
	void begin() { running_ = true; }

	/**
	 * \brief Removes the running operation after its end
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
	std::deque<BdmaOp> operations_; /* oldest first; the running one, too */
	std::deque<Launch> launches_;	/* oldest first; only launches with operations */
	size_t launched_ = 0;		/* number of operations that belong to launches_ */
	std::array<bool, 2> busy_ = {};
	bool running_ = false;
};

} /* namespace nvdla::sim */
