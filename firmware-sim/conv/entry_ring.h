/* SPDX-License-Identifier: MIT */
/*
 * Pointers into one part of the convolution buffer.
 */
#pragma once

#include <cstdint>

namespace nvdla::sim
{

/**
 * \brief A ring of entries: CDMA appends at the end, CSC reads at the beginning
 *
 * CDMA and CSC each move their own pointer, by their own registers. Like the hardware, the class
 * does not compare the pointers. Counters are modulo the buffer's entries, and wrap if more entries
 * are released than were fetched. A move by more than the ring's size can leave the ring.
 */
class EntryRing
{
public:
	/** \param entries number of entries of the buffer, a power of two */
	explicit EntryRing(uint32_t entries) : mask_(entries - 1) {}

	/** \brief Make an empty ring of \a size entries that starts at entry \a base of the
	 * buffer */
	void reset(uint32_t base, uint32_t size)
	{
		*this = EntryRing(mask_ + 1);
		base_ = base;
		size_ = size;
	}

	uint32_t size() const { return size_; }
	/** \return mask of the bits of an entry counter */
	uint32_t mask() const { return mask_; }
	uint32_t write() const { return write_; }
	uint32_t read() const { return read_; }
	/** \return number of entries that were fetched and not yet released */
	uint32_t available() const { return available_; }

	/** \return entry \a offset behind \a pointer in the ring; wraps around at most once */
	uint32_t advance(uint32_t pointer, uint32_t offset) const
	{
		const uint32_t sum = pointer + (offset & mask_);
		return (sum >= size_ ? sum - size_ : sum) & mask_;
	}
	/** \return the buffer's index of entry \a entry of the ring */
	uint32_t place(uint32_t entry) const { return (base_ + entry) & mask_; }

	/** \brief Count \a count entries that CDMA wrote */
	void fetched(uint32_t count)
	{
		write_ = advance(write_, count);
		available_ = (available_ + count) & mask_;
	}
	/** \brief Count \a count entries that CSC released */
	void released(uint32_t count)
	{
		read_ = advance(read_, count);
		available_ = (available_ - count) & mask_;
	}

private:
	uint32_t mask_;
	uint32_t base_ = 0;
	uint32_t size_ = 0;
	uint32_t write_ = 0;
	uint32_t read_ = 0;
	uint32_t available_ = 0;
};

} /* namespace nvdla::sim */
