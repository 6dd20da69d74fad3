/* SPDX-License-Identifier: MIT */
/*
 * Memory as the engines see it: bytes at 64-bit addresses, behind MCIF (system
 * memory) or CVIF (on-chip CVSRAM).
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "timing/traffic.h"

namespace nvdla::sim
{

/**
 * \brief An address space that engines read and write
 *
 * Several engine threads may access one object at the same time. An access that is not fully
 * inside mapped memory changes nothing and returns false.
 */
class Memory
{
public:
	virtual ~Memory() = default;

	/** \return false if not all of the range is readable; \a out is then unspecified */
	virtual bool read(uint64_t address, std::span<std::byte> out) = 0;

	/** \return false if not all of the range is writable; nothing was written */
	virtual bool write(uint64_t address, std::span<const std::byte> data) = 0;

	/** \brief Contiguous bytes, and the address of the first one */
	struct Region {
		uint64_t address = 0;
		std::span<std::byte> bytes;

		/** \return \a size bytes from an address on; empty if the region does not contain
		 * all of them */
		std::span<std::byte> at(uint64_t from, size_t size) const
		{
			if (from < address || from - address > bytes.size() ||
			    size > bytes.size() - (from - address))
				return {};
			return bytes.subspan(from - address, size);
		}
	};

	/**
	 * \brief A view of the bytes around an address, to read and write
	 * \return an empty region if a view could become invalid during operations; read() and
	 *	   write() may still work
	 */
	virtual Region region(uint64_t) { return {}; }
};

/** \return true if the ranges do not overlap */
inline bool areApart(std::span<const std::byte> a, std::span<const std::byte> b)
{
	return std::less_equal<>()(a.data() + a.size(), b.data()) ||
	       std::less_equal<>()(b.data() + b.size(), a.data());
}

/**
 * \brief One operation's port to both memories
 *
 * Counts the traffic and remembers failed accesses, so that engines need not handle them: a failed
 * read gives zeroes and a failed write is dropped. The operation ends with one guest error, which
 * names the lowest failed address: the error does not depend on the order in which threads share
 * the work.
 */
class MemoryPort
{
public:
	/** \param cancel becomes true if a reset abandons the operation; null: never abandoned */
	MemoryPort(Memory &dram, Memory &cvsram, const std::atomic<bool> *cancel = nullptr)
		: dram_(dram), cvsram_(cvsram), cancel_(cancel)
	{
	}

	void read(RamType type, uint64_t address, std::span<std::byte> out);
	void write(RamType type, uint64_t address, std::span<const std::byte> data);

	/**
	 * \brief read() without a copy, if the memory gives a view
	 * \param buffer gets the bytes if there is no view
	 * \return \a size bytes, valid until \a buffer or the memory changes
	 */
	std::span<const std::byte> view(RamType type, uint64_t address, size_t size,
					std::vector<std::byte> &buffer);

	/**
	 * \brief A view of memory for data that is passed to write() afterwards, to save a copy
	 * \return \a size bytes, which may be written in any order and more than once; empty if the
	 *	   memory has no view
	 */
	std::span<std::byte> place(RamType type, uint64_t address, size_t size)
	{
		return cancelled() ? std::span<std::byte>{} : find(type, address, size);
	}

	/** \return a view without counting its bytes as read; empty if there is none */
	std::span<const std::byte> look(RamType type, uint64_t address, size_t size)
	{
		return find(type, address, size);
	}
	/** \brief Count bytes as read that an engine used in the view of look() */
	void countRead(RamType type, size_t bytes)
	{
		traffic_[static_cast<size_t>(type)].readBytes += bytes;
	}

	/**
	 * \return true if the operation is abandoned; engines check this between lines and return
	 * early
	 *
	 * From then on, nothing is read or written, and the operation's result is ignored.
	 */
	bool cancelled() const { return cancel_ && cancel_->load(std::memory_order_relaxed); }

	/** \return another port to the same memories, for another thread */
	MemoryPort fork() const { return MemoryPort(dram_, cvsram_, cancel_); }
	/** \brief Add the traffic and the faults of \a other */
	void join(const MemoryPort &other);

	const Traffic &traffic(RamType type) const { return traffic_[static_cast<size_t>(type)]; }
	/** \brief Set the counted traffic back to \a traffic, an earlier value: the bytes since
	 * then belong to another operation */
	void countAs(RamType type, const Traffic &traffic)
	{
		traffic_[static_cast<size_t>(type)] = traffic;
	}

	bool faulted() const { return faulted_; }
	/** \return the lowest address of a failed access; valid if faulted() */
	uint64_t faultAddress() const { return faultAddress_; }
	/** \return the memory of faultAddress(); valid if faulted() */
	RamType faultType() const { return faultType_; }

private:
	Memory &select(RamType type) { return type == RamType::Mc ? dram_ : cvsram_; }
	/** \return a view of \a size bytes, empty if there is none */
	std::span<std::byte> find(RamType type, uint64_t address, size_t size);
	void fault(RamType type, uint64_t address);

	Memory &dram_;
	Memory &cvsram_;
	const std::atomic<bool> *cancel_;
	Traffic traffic_[2];
	Memory::Region near_[2]; /* the regions found last */
	bool faulted_ = false;
	RamType faultType_ = RamType::Mc;
	uint64_t faultAddress_ = 0;
};

/**
 * \brief A range of memory that an operation reads in several parts
 *
 * If the memory gives a view of the whole range, the view is looked up only once for all parts.
 */
class ReadRange
{
public:
	/** \param port must outlive this object */
	ReadRange(MemoryPort &port, RamType type, uint64_t address, uint64_t size)
		: port_(port), type_(type), address_(address), all_(port.look(type, address, size))
	{
	}

	/** \return a view of the whole range, not counted as read; empty if there is none */
	std::span<const std::byte> all() const { return all_; }
	/** \brief Count bytes as read that an engine used in the view of all() */
	void count(size_t bytes) { port_.countRead(type_, bytes); }

	/** \brief Copy the bytes from \a offset on */
	void read(uint64_t offset, std::span<std::byte> out);
	/** \return \a size bytes from \a offset on, in \a buffer if there is no view */
	std::span<const std::byte> view(uint64_t offset, size_t size,
					std::vector<std::byte> &buffer);

private:
	MemoryPort &port_;
	RamType type_;
	uint64_t address_;
	std::span<const std::byte> all_;
};

} /* namespace nvdla::sim */
