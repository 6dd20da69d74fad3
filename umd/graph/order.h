/* SPDX-License-Identifier: MIT */
/*
 * The order of operations that data and engines force, independent of surfaces' addresses.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan.h"

namespace nvdla::assembly
{

/**
 * \brief The order that data and engines force on chains (operations linked by streams)
 *
 * A chain waits for earlier chains whose surfaces it reads or overwrites, and for earlier chains on
 * its engines. Tasks run one after the other. All other chains may run at the same time.
 */
class Order
{
public:
	/** \param[in] plan with chains and tasks; regions need no place yet */
	explicit Order(const Plan &plan);

	/** \return whether a chain ends before another one begins; first nodes name the chains */
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

	std::vector<size_t> task_;  /* index of each node's task */
	std::vector<size_t> first_; /* index of the first node of each node's task */
	/* Predecessors of a chain, by its first node; bit i: chain that begins with node i. */
	std::vector<std::vector<uint64_t>> before_;
};

} /* namespace nvdla::assembly */
