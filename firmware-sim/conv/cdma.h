/* SPDX-License-Identifier: MIT */
/*
 * Convolution DMA: fetches data and weights from memory into the convolution buffer.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conv/cbuf.h"
#include "conv/conv_op.h"
#include "conv/csc.h"
#include "core/control_data.h"
#include "core/memory.h"
#include "core/raw_vector.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief Bytes of an entry of WGS, the list of the sizes of compressed weight groups */
inline constexpr uint32_t kGroupSizeBytes = 4;

/** \brief NaNs and infinities among FP16 numbers that were fetched */
struct SpecialCount {
	uint32_t nan = 0;
	uint32_t inf = 0;

	/** \return true if there is a NaN or an infinity */
	static bool any(std::span<const std::byte> halves);
	/** \brief Count the NaNs and infinities; NaNs become 0 if \a flush */
	void pass(std::span<std::byte> halves, bool flush);

	void add(const SpecialCount &other)
	{
		nan += other.nan;
		inf += other.inf;
	}

	/**
	 * \brief Count \a bits if they are a NaN or an infinity
	 * \return the bits to buffer: 0 for a NaN if \a flush
	 */
	uint16_t pass(uint16_t bits, bool flush)
	{
		const uint16_t magnitude = bits & kMagnitude;

		if (magnitude == kInfinity)
			inf++;
		if (magnitude <= kInfinity)
			return bits;
		nan++;
		return flush ? 0 : bits;
	}

private:
	static constexpr uint16_t kMagnitude = 0x7fff;
	static constexpr uint16_t kInfinity = 0x7c00;
};

/**
 * \brief Brings an operation's cube into the buffer, line by line as room becomes free
 *
 * Here, line y means line y of every cube of the batch. op.guestError must be empty.
 */
class DataFetcher
{
public:
	/** \return a fetcher for the operation's mode; all arguments must outlive it */
	static std::unique_ptr<DataFetcher> create(const ConvOp &op, MemoryPort &memory,
						   Cbuf &cbuf);
	virtual ~DataFetcher() = default;

	/** \return the registers in which CDMA and CSC disagree, empty if none */
	virtual std::string check() const = 0;

	/**
	 * \brief Fetch the lines whose entries are free; none once the operation is abandoned
	 * \param workers threads that share the lines
	 */
	void fill(Workers &workers);
	/**
	 * \brief Instead of fill(): count the cube as fetched, but let CSC read it in memory
	 * \param sink tells whether the operation overwrites the cube
	 * \return the cube, or nothing if the cube has to be buffered
	 */
	std::optional<CubeInMemory> leave(const StreamSink &sink);
	/** \return true if all lines have been fetched; some may have been released since */
	bool done() const { return next_ == lines_; }
	/** \return FP16 special values among the fetched data */
	const SpecialCount &special() const { return special_; }

protected:
	/**
	 * \param lines lines of the buffered cube
	 * \param step lines are fetched in multiples of this number
	 */
	DataFetcher(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf, uint32_t lines, uint32_t step)
		: op_(op), memory_(memory), cbuf_(cbuf), lines_(lines), step_(step)
	{
	}

	/** \brief Fetches a line of the cube; it begins \a offset entries behind CDMA's pointer */
	using FetchLine = std::function<void(uint32_t line, uint32_t offset)>;

	/**
	 * \brief Create a thread's function to fetch lines, called for one line after the other
	 * \param memory the thread's port; outlives the function, as does \a special
	 * \param special counts NaNs and infinities of FP16
	 */
	virtual FetchLine newLines(MemoryPort &memory, SpecialCount &special) = 0;

	/** \return entries that a line of one cube takes */
	virtual uint32_t lineEntries() const = 0;

	/** \return the cube, if it can be read in place and buffering would not change its bytes */
	virtual std::optional<CubeInMemory> look() { return {}; }

	/** \return the bytes from \a offset entries behind CDMA's pointer to the end of the ring */
	std::span<std::byte> entries(uint32_t offset)
	{
		return cbuf_.from(cbuf_.data(), cbuf_.data().advance(cbuf_.data().write(), offset));
	}
	/** \return the first byte of entry \a offset behind CDMA's pointer */
	std::byte *entry(uint32_t offset) { return entries(offset).data(); }

	const ConvOp &op_;
	MemoryPort &memory_;
	Cbuf &cbuf_;

private:
	/** \return number of lines for which the buffer has room */
	uint32_t linesThatFit() const;
	/** \brief Fetch \a count lines. The first one begins at CDMA's pointer, each other \a step
	 * entries after its predecessor */
	void fetchLines(uint32_t count, uint32_t step, Workers &workers);

	SpecialCount special_;
	uint32_t lines_;
	uint32_t step_;
	uint32_t next_ = 0;
};

std::unique_ptr<DataFetcher> createImageFetcher(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf);

/**
 * \brief Weights or masks: CDMA fills their ring as entries become free, CSC reads them in order
 *
 * CSC reads at its pointer, even if CDMA has not written those entries.
 *
 * If the weights are larger than the ring, most copies would be wasted, as later weights overwrite
 * them. So if memory can be read in place and the ring is empty at first, take() returns spans
 * of memory. settle() then copies only the bytes that the hardware's buffer holds at the end.
 *
 * NaNs and infinities of FP16 are counted when they are fetched.
 */
class EntryStream
{
public:
	/**
	 * \param bytes bytes to fetch, a multiple of an entry
	 * \param special counter of NaNs and infinities of FP16, or null
	 */
	EntryStream(Cbuf &cbuf, EntryRing &ring, MemoryPort &memory, RamType ram, uint64_t address,
		    uint64_t bytes, SpecialCount *special = nullptr, bool flushNan = false);

	/** \brief Fetch as many bytes as the ring has room for */
	void fill();
	/** \return true if all bytes were fetched */
	bool done() const { return fetched_ == bytes_; }
	/** \return number of bytes fetched so far */
	uint64_t fetched() const { return fetched_; }
	/** \brief Load the next bytes, as CSC does */
	void read(std::span<std::byte> out);
	/**
	 * \brief Load bytes like read(), but copy them only if they are not contiguous
	 * \return the bytes; valid until the next fill() or change of \a copy
	 */
	std::span<const std::byte> take(size_t bytes, std::vector<std::byte> &copy);
	/** \return memory to prefetch: the bytes that take() will read next; may be empty */
	std::span<const std::byte> ahead() const
	{
		if (settled_)
			return {};
		return source_.all().subspan(taken_, bytes_ - taken_);
	}
	/** \return true if take() returns bytes of the buffer or of a copy, no longer of memory */
	bool settled() const { return settled_; }
	/** \brief Release the entries that were loaded since the last call */
	void release();
	/** \brief Copy the fetched bytes into the buffer; memory is not read by take() any more */
	void settle();

private:
	void fetch(std::span<std::byte> piece);
	/** \return contiguous whole entries from the next one on, at most \a count bytes */
	std::span<const std::byte> load(size_t count);
	/** \brief Count \a count entries as loaded by CSC */
	void loaded(uint32_t count);
	/** \brief Implements take() while the bytes are read in memory */
	std::span<const std::byte> takeUnsettled(size_t bytes);

	Cbuf &cbuf_;
	EntryRing &ring_;
	ReadRange source_;
	const uint64_t bytes_;
	uint64_t fetched_ = 0; /* bytes fetched so far */
	SpecialCount *special_;
	bool flushNan_;
	bool settled_;	       /* see settled() */
	const uint32_t first_; /* ring entry at which this stream begins */
	uint64_t taken_ = 0;   /* bytes taken until settle() */
	uint32_t entry_;       /* next entry that CSC loads */
	uint32_t loaded_ = 0;  /* entries loaded since release() */
	const size_t entryBytes_;
	std::array<std::byte, kEntryBytes> current_; /* entry loaded last */
	size_t used_;				     /* number of used bytes of current_ */
};

/**
 * \brief Reads weights group by group and unpacks them
 *
 * Holds only one group at a time, and no group is larger than the banks (programming guide,
 * "Limitation", General).
 */
class WeightReader : public WeightSource
{
public:
	/** \param kept true if the weights are in the buffer already: nothing is fetched */
	WeightReader(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf, bool kept = false);

	/** \return why the hardware would wait forever for weights, empty if it would not */
	std::string check() const;

	WeightGroup next() override;
	/** \brief Fetch as many bytes as the banks have room for */
	void fill();
	/** \return true if all weights were fetched and CSC has released them */
	bool released() const;
	/** \brief Copy the fetched bytes into the buffer, after CSC has read all its weights */
	void settle();
	/** \return true if all weights were fetched */
	bool done() const { return packed_.done() && mask_.done(); }

	/** \return FP16 special values among the fetched weights, padding included */
	const SpecialCount &special() const { return special_; }

private:
	std::string checkFetch() const;
	bool allArrives() const;
	/** \return why a compressed group never arrives, empty if all arrive; checked with a copy
	 * of the buffer before any result is written */
	std::string checkGroups() const;
	/**
	 * \brief Wait for CDMA to announce the next compressed group to CSC
	 * \throw NeverArrive
	 */
	void awaitGroup();
	/** \brief Load the next \a bytes of sparse elements, even if CDMA has not fetched them */
	void readSparse(size_t bytes, WeightGroup &group);
	/** \return the mask of the next \a elements, eight to a byte; bits behind them are 0 */
	ControlView readMask(size_t elements);

	const ConvOp &op_;
	MemoryPort &memory_;
	Cbuf &cbuf_;
	bool kept_;
	SpecialCount special_;
	EntryStream packed_;
	EntryStream mask_;
	std::vector<uint32_t> groupSizes_;
	uint32_t groups_ = 0;	     /* groups announced to CSC */
	uint32_t requiredBytes_ = 0; /* total size of these groups, modulo 2^32 as in hardware */
	uint32_t kernelsLeft_;
	std::vector<std::byte> bytes_;	   /* copy of a group that wraps around */
	RawVector<std::byte> present_;	   /* packed elements of a sparse group */
	RawVector<std::byte> expanded_;	   /* elements of a sparse group, zeroes included */
	ControlData masks_;		   /* mask of a sparse group */
	std::vector<std::byte> maskBytes_; /* copy of a mask that wraps around */
	uint32_t maskHeld_ = 0;		   /* mask bits read ahead, of the next group */
	size_t maskBitsHeld_ = 0;	   /* number of bits in maskHeld_ */
};

} /* namespace nvdla::sim */
