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
 * Several engine threads may call an implementation at the same time. An access that is not fully
 * inside mapped memory has no effect and returns false; it never touches anything else.
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
	 * \return empty if a view may become invalid during operations; read() and write() may
	 *	   still work
	 */
	virtual Region region(uint64_t) { return {}; }
};

/** \return true if writing one of both changes no byte of the other */
inline bool areApart(std::span<const std::byte> a, std::span<const std::byte> b)
{
	return std::less_equal<>()(a.data() + a.size(), b.data()) ||
	       std::less_equal<>()(b.data() + b.size(), a.data());
}

/**
 * \brief One operation's port to both memories
 *
 * Counts the traffic and remembers whether an access missed, so that an engine reads and writes
 * without handling each failure: a failed read gives zeroes, a failed write is dropped, and the
 * operation ends with one guest error that names the lowest address, which does not depend on how
 * threads share the work.
 */
class MemoryPort
{
public:
	/** \param cancel set by a reset: the operation is abandoned; null: never
	 */
	MemoryPort(Memory &dram, Memory &cvsram, const std::atomic<bool> *cancel = nullptr)
		: dram_(dram), cvsram_(cvsram), cancel_(cancel)
	{
	}

	void read(RamType type, uint64_t address, std::span<std::byte> out);
	void write(RamType type, uint64_t address, std::span<const std::byte> data);

	/**
	 * \brief read() without a copy, if the memory has a view
	 * \param buffer gets the bytes if it has none
	 * \return \a size bytes, valid until \a buffer or the memory changes
	 */
	std::span<const std::byte> view(RamType type, uint64_t address, size_t size,
					std::vector<std::byte> &buffer);

	/**
	 * \brief A place in memory for data that is passed to write() afterwards, to save a copy
	 * \return \a size bytes, which may be written in any order and more than once; empty if the
	 *	   memory has no view
	 */
	std::span<std::byte> place(RamType type, uint64_t address, size_t size)
	{
		return cancelled() ? std::span<std::byte>{} : find(type, address, size);
	}

	/** \return the bytes as a view, empty if there is none; they do not count as read */
	std::span<const std::byte> look(RamType type, uint64_t address, size_t size)
	{
		return find(type, address, size);
	}
	/** \brief Count bytes of look() as read */
	void countRead(RamType type, size_t bytes)
	{
		traffic_[static_cast<size_t>(type)].readBytes += bytes;
	}

	/**
	 * \return true if the operation is abandoned; engines check this between lines and return
	 * early
	 *
	 * Once it is true, nothing is read or written any more, and the operation's result is
	 * ignored.
	 */
	bool cancelled() const { return cancel_ && cancel_->load(std::memory_order_relaxed); }

	/** \return another port to the same memories, for another thread */
	MemoryPort fork() const { return MemoryPort(dram_, cvsram_, cancel_); }
	/** \brief Add the traffic and the faults of \a other */
	void join(const MemoryPort &other);

	const Traffic &traffic(RamType type) const { return traffic_[static_cast<size_t>(type)]; }
	/** \brief Set the traffic back to \a traffic, an earlier value, because another operation
	 * counts the rest */
	void countAs(RamType type, const Traffic &traffic)
	{
		traffic_[static_cast<size_t>(type)] = traffic;
	}

	bool faulted() const { return faulted_; }
	/** \return the lowest address of an access that missed; valid if faulted() */
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
 * If the memory has a view of the whole range, it is looked up once instead of for each part.
 */
class ReadRange
{
public:
	/** \param port must outlive this object */
	ReadRange(MemoryPort &port, RamType type, uint64_t address, uint64_t size)
		: port_(port), type_(type), address_(address), all_(port.look(type, address, size))
	{
	}

	/** \return the whole range, empty if there is no view; it does not count as read */
	std::span<const std::byte> all() const { return all_; }
	/** \brief Count bytes of all() as read */
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
