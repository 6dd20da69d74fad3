/* SPDX-License-Identifier: MIT */
/*
 * Order of operations that holds wherever their surfaces lie.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan.h"

namespace nvdla::assembly
{

/**
 * \brief The order of chains that follows from data and engines
 *
 * A chain waits for those whose surfaces it reads or overwrites, and for those that have its
 * engines before it; tasks follow each other. All others could run at the same time.
 */
class Order
{
public:
	/** \param[in] plan with chains and tasks; regions need no place yet */
	explicit Order(const Plan &plan);

	/** \return whether a chain is done before another one begins; both by their first node */
	bool isBefore(size_t chain, size_t other) const
	{
		if (chain >= other || task_[chain] != task_[other])
			return chain < other;
		const size_t bit = chain - first_[chain];
		return before_[other][bit / wordBits] >> bit % wordBits & 1;
	}

private:
	static constexpr size_t wordBits = 64;

	void add(size_t before, size_t chain);

	std::vector<size_t> task_;  /* task of each node */
	std::vector<size_t> first_; /* first node of the node's task */
	/* Predecessors of the first node of each chain: a bit for each chain of its task. */
	std::vector<std::vector<uint64_t>> before_;
};

} /* namespace nvdla::assembly */
