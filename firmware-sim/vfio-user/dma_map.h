/* SPDX-License-Identifier: MIT */
/*
 * The table of ranges of guest memory that the client gives the device access to.
 */
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backing.h"

namespace nvdla::sim::vfiouser
{

enum class Access {
	Read,
	Write,
};

/** \brief One range of guest memory as DMA_MAP describes it */
struct DmaRange {
	uint64_t address = 0; /**< first bus address (IOVA), page-aligned */
	uint64_t size = 0;    /**< bytes, a multiple of the page size */
	uint64_t offset = 0;  /**< offset of the first byte in the file, if any */
	bool readable = false;
	bool writable = false;
};

/**
 * \brief Guest memory by bus address
 *
 * The thread that serves the client calls map() and unmap(); any thread may call acquire().
 * A Lease keeps its memory mapped. unmap() waits for the
 * leases of the memory that it removes, so that the device no longer accesses memory that the
 * client gets back. A lease must therefore be short: its holder must not wait for a lock,
 * a message or another lease.
 */
class DmaMap
{
	struct Region {
		DmaRange range;
		std::shared_ptr<Backing> backing; /**< null: access only by messages */
		unsigned int users = 0;
	};

public:
	/** \brief The part of an access that lies in one range, which stays mapped; movable */
	class Lease
	{
	public:
		Lease(DmaMap &map, std::shared_ptr<Region> region, uint64_t address, size_t size)
			: map_(&map), region_(std::move(region)), address_(address), size_(size)
		{
		}
		Lease(Lease &&other) noexcept = default;
		Lease(const Lease &) = delete;
		Lease &operator=(const Lease &) = delete;
		~Lease() { release(); }

		uint64_t address() const { return address_; }
		size_t size() const { return size_; }
		/** \return true if the memory is mapped here; false: accessible only by messages */
		bool local() const { return region_->backing != nullptr; }

		bool read(std::span<std::byte> out) const;
		bool write(std::span<const std::byte> data) const;

		/** \brief Release the memory before the lease is destroyed */
		void release();

	private:
		DmaMap *map_;
		std::shared_ptr<Region> region_;
		uint64_t address_;
		size_t size_;
	};

	/**
	 * \brief Add a range
	 * \param fd file that holds the range's bytes; invalid: access by messages
	 * \return 0 or an errno value: EINVAL (bad address or size, or beyond the file's end),
	 *         EEXIST (overlaps a mapped range), EACCES (file not writable), ENOSPC (table full)
	 */
	int map(const DmaRange &range, UniqueFd fd);

	/**
	 * \brief Remove all mappings in a range, also parts of mappings
	 *
	 * Returns when no access to the removed memory is in progress any more. It is no error if
	 * nothing is mapped in the range: a client with a virtual IOMMU unmaps the whole
	 * address space.
	 *
	 * \return 0, or ENOSPC if a mapping would have to be split and the table is full; then
	 *         nothing is removed
	 */
	int unmap(uint64_t address, uint64_t size);
	/** \brief Remove all mappings, as unmap() does */
	void clear();

	/**
	 * \brief Find and hold the memory of an access
	 * \return leases that cover the access in rising order; none if a part of it is not
	 *         mapped or not permitted
	 */
	std::vector<Lease> acquire(uint64_t address, uint64_t size, Access access);

	/** \return number of mapped ranges */
	size_t size() const;

private:
	using Regions = std::map<uint64_t, std::shared_ptr<Region>>;

	tl::expected<std::shared_ptr<Backing>, int> backingFor(UniqueFd fd);
	void keepPart(const Region &region, uint64_t first, uint64_t last);

	mutable std::mutex mutex_;
	std::condition_variable idle_;
	Regions regions_; /**< mapped ranges by their first address */
	std::map<BackingKey, std::weak_ptr<Backing>> backings_;
};

} /* namespace nvdla::sim::vfiouser */
