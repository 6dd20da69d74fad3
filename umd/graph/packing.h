/* SPDX-License-Identifier: MIT */
/* Packs surfaces into a memory, so that some of them share bytes. */
#pragma once

#include <vector>

#include "order.h"

namespace nvdla::assembly
{

/** \brief Indices of the first and last node that access a region; first > last: none does */
struct Lifetime {
	size_t first = SIZE_MAX;
	size_t last = 0;
};

/**
 * \brief The lifetimes of all regions except parts, which live as long as their wholes
 *
 * All operations of a chain of streams run at the same time: a region that one of them reads or
 * writes lives from the chain's beginning to its end.
 */
std::vector<Lifetime> lifetimes(const Plan &plan);

/**
 * \brief Packs surfaces into a memory
 *
 * Surfaces with disjoint lifetimes may share bytes. An operation that overwrites another surface's
 * bytes waits for that surface's users. So surfaces of branches that could run at the same time
 * share no bytes, unless that would take more memory.
 */
class Packing
{
public:
	/** \brief Alignment in bytes that weights need (NVDLA's in-memory format document, table
	 * "Requirements of alignment"); other data needs less */
	static constexpr uint64_t alignment = 256;

	/** \param[in] reuse false: no two surfaces share bytes */
	Packing(Plan &plan, bool reuse);

	/**
	 * \brief Give surfaces their offsets
	 * \param[in] members indices of the regions in the memory
	 * \param[in] forBranches surfaces of parallel branches share no bytes if the memory then
	 * has at most this size in bytes, even if sharing would make it smaller
	 * \return the size of the memory in bytes
	 */
	uint64_t pack(const std::vector<size_t> &members, uint64_t forBranches = 0);

private:
	enum class Sharing { None, InOrder, All };

	bool mayShare(size_t one, size_t other, Sharing sharing) const;
	bool areInOrder(size_t one, size_t other) const;
	uint64_t firstFit(const std::vector<size_t> &order, Sharing sharing);
	uint64_t smallest(const std::vector<size_t> &members, Sharing sharing);

	Plan &plan_;
	const bool reuse_;
	const Order order_;
	const std::vector<Lifetime> times_;
	std::vector<std::vector<size_t>> users_; /* first nodes of chains that access a region */
};

} /* namespace nvdla::assembly */
