/* SPDX-License-Identifier: MIT */
/* Convolution buffer: the bytes that CDMA fetched for CSC, and the pointers to them. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/conv_op.h"
#include "conv/entry_ring.h"
#include "core/aligned.h"

namespace nvdla::sim
{

/** \brief Size of nv_full's buffer, the largest of all cores: 16 banks of 256 entries of 128
 * bytes */
inline constexpr uint32_t kBanks = 16;
inline constexpr uint32_t kBankEntries = 256;
inline constexpr uint32_t kEntryBytes = 128;
inline constexpr uint32_t kBankBytes = kBankEntries * kEntryBytes;

/** \return entries that a line of \a width columns of \a channels takes */
uint32_t entriesPerSlice(ConvMode mode, Precision precision, uint32_t width, uint32_t channels,
			 const Geometry &geometry = nvFull);

/**
 * \brief Layout of the atoms of a buffered line of a feature cube, in direct mode
 *
 * An entry has room for P atoms (four on nv_full). P surfaces share one entry per column. If one
 * to three surfaces remain, an entry holds four, two or one of their columns.
 */
class LineLayout
{
public:
	static constexpr uint32_t kMostAtomsPerEntry = kEntryBytes / atomBytes;

	LineLayout(uint32_t width, uint32_t surfaces, const Geometry &geometry)
		: width_(width), perEntry_(geometry.entryBytes / geometry.atomBytes),
		  whole_(surfaces / perEntry_), rest_(surfaces % perEntry_)
	{
	}

	/** \return atoms in an entry */
	uint32_t perEntry() const { return perEntry_; }

	/** \return atoms that a column takes in the entries of \a surface, unused ones included */
	uint32_t atoms(uint32_t surface) const
	{
		return surface / perEntry_ < whole_ || rest_ == 3 ? perEntry_ : rest_;
	}
	/** \return the index in the line of \a surface's atom at column \a x */
	uint32_t atom(uint32_t surface, uint32_t x) const
	{
		return surface / perEntry_ * perEntry_ * width_ + x * atoms(surface) +
		       surface % perEntry_;
	}
	/** \return the first entry of a line with unused atoms, or \a end if there is none */
	uint32_t firstPadded(uint32_t end) const;

private:
	uint32_t width_;
	uint32_t perEntry_;
	uint32_t whole_; /* number of whole groups of perEntry_ surfaces */
	uint32_t rest_;	 /* number of remaining surfaces */
};

/** \brief Data that an operation need not fetch, because an earlier operation kept them */
struct Kept {
	bool data = false;
	bool weights = false;
};

/**
 * \brief The buffer and its pointers, from one operation to the next
 *
 * The first banks hold data, the next ones weights, and the last one the masks of sparse weights.
 * As on hardware, begin() compares only some values with those of the last operation: if the
 * geometry differs from that of the fetched cube, an operation reads other bytes than meant.
 */
class Cbuf
{
public:
	/** \param geometry must outlive this object */
	explicit Cbuf(const Geometry &geometry = nvFull);

	/** \brief Resets the buffer: all bytes zero, all pointers at the beginning; allocates
	 * nothing */
	void clear();

	/**
	 * \brief Begin an operation
	 *
	 * A changed number of data banks clears the pointers of data and of weights; a changed
	 * number of weight banks clears those of weights. Else data and weights that the previous
	 * operation kept are released, unless \a op reuses them (data: in the same mode).
	 */
	Kept begin(const ConvOp &op);
	/** \brief End an operation: release lines, and remember which data and weights are kept */
	void end(const ConvOp &op);

	/** \brief Lines that CDMA has fetched and CSC has not released */
	uint32_t slices() const { return slices_; }
	/** \brief Count further lines that CDMA fetched, each of \a entries entries */
	void addSlices(uint32_t count, uint32_t entries);
	/** \brief Kernels that CDMA has fetched and CSC has not released */
	uint32_t kernels() const { return kernels_; }
	void addKernels(uint32_t count) { kernels_ = (kernels_ + count) & kKernelMask; }
	void releaseKernels(uint32_t count) { kernels_ = (kernels_ - count) & kKernelMask; }

	const Geometry &geometry() const { return geometry_; }
	EntryRing &data() { return data_; }
	const EntryRing &data() const { return data_; }
	EntryRing &weights() { return weights_; }
	EntryRing &masks() { return masks_; }
	/**
	 * \return the bytes from entry \a entry of \a ring to the end of the ring or of the
	 *         buffer
	 */
	std::span<std::byte> from(const EntryRing &ring, uint32_t entry);
	std::span<const std::byte> from(const EntryRing &ring, uint32_t entry) const;
	/** \brief Store \a bytes, whole entries, \a offset entries after \a entry of \a ring */
	void put(std::span<const std::byte> bytes, const EntryRing &ring, uint32_t entry,
		 uint32_t offset = 0);

private:
	static constexpr uint32_t kKernelMask = 0x7fff; /* CSC's counter has 15 bits */

	/** Values of the last operation that begin() compares with those of the next one */
	struct Last {
		uint32_t dataBanks;
		uint32_t weightBanks;
		ConvMode mode = ConvMode::Direct;
		bool keepData = false;
		bool keepWeights = false;
		uint32_t slices = 0; /* these and the counts below: released unless reused */
		uint32_t dataEntries = 0;
		uint32_t kernels = 0;
		uint32_t weightEntries = 0;
		uint32_t maskEntries = 0;
	};

	/** \return the state after reset: its bank numbers differ from those of any operation */
	Last nothing() const { return { geometry_.banks, geometry_.banks }; }
	/** \return mask of CSC's line counter, which is as wide as an entry counter */
	uint32_t sliceMask() const { return data_.mask(); }

	const Geometry &geometry_;
	/* One host cache line longer than the buffer, so that whole cache lines can be read from
	 * any entry. */
	LineVector bytes_;
	EntryRing data_;
	EntryRing weights_;
	EntryRing masks_;
	uint32_t slices_ = 0;
	uint32_t kernels_ = 0;
	Last last_;
};

} /* namespace nvdla::sim */
