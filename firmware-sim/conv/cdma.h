/* SPDX-License-Identifier: MIT */
/*
 * Convolution DMA: memory to the convolution buffer.
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
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief Bytes of an entry of WGS */
inline constexpr uint32_t kGroupSizeBytes = 4;

/** \brief NaNs and infinities among FP16 numbers that were fetched */
struct SpecialCount {
	uint32_t nan = 0;
	uint32_t inf = 0;

	/** \return there is a NaN or an infinity */
	static bool any(std::span<const std::byte> halves);
	/** \brief Count numbers; NaNs become 0 if \a flush */
	void pass(std::span<std::byte> halves, bool flush);

	void add(const SpecialCount &other)
	{
		nan += other.nan;
		inf += other.inf;
	}

	/** \brief Count \a bits; \return the bits to buffer: 0 for a NaN if \a flush */
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
 * \brief Brings an operation's cube into the buffer, line by line as they find room
 *
 * One line here is that of all cubes of a batch. Precondition: op.guestError is empty.
 */
class DataFetcher
{
public:
	/** \brief Fetcher for the operation's mode; keeps references to all three */
	static std::unique_ptr<DataFetcher> create(const ConvOp &op, MemoryPort &memory,
						   Cbuf &cbuf);
	virtual ~DataFetcher() = default;

	/** \return the registers in which CDMA and CSC disagree, empty if none */
	virtual std::string check() const = 0;

	/**
	 * \brief Fetch the lines whose entries are free; none once the operation is abandoned
	 * \param workers share them
	 */
	void fill(Workers &workers);
	/**
	 * \brief Instead of fill(): count the cube as fetched, but let CSC read it in memory
	 * \param sink asked whether the operation overwrites the cube
	 * \return the cube, or nothing if it has to be buffered
	 */
	std::optional<CubeInMemory> leave(const StreamSink &sink);
	/** \brief All lines are in the buffer, or were */
	bool done() const { return next_ == lines_; }
	/** \return FP16 special values among the fetched data */
	const SpecialCount &special() const { return special_; }

protected:
	/** \param lines of the buffered cube \param step lines are fetched in multiples of it */
	DataFetcher(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf, uint32_t lines, uint32_t step)
		: op_(op), memory_(memory), cbuf_(cbuf), lines_(lines), step_(step)
	{
	}

	/** \brief Fetches line \a line of the cube to entry \a offset behind CDMA's pointer */
	using FetchLine = std::function<void(uint32_t line, uint32_t offset)>;

	/**
	 * \brief Create a thread's function to fetch lines, called for one line after the other
	 * \param memory the thread's port; outlives the function, as does \a special
	 * \param special counts FP16
	 */
	virtual FetchLine newLines(MemoryPort &memory, SpecialCount &special) = 0;

	/** \return entries that a line of one cube is written to */
	virtual uint32_t lineEntries() const = 0;

	/** \return the cube, if memory has a view of it and buffering would not change its bytes */
	virtual std::optional<CubeInMemory> look() { return {}; }

	/** \return the bytes from \a offset behind CDMA's pointer to where the ring wraps around */
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
	/** \return lines that there is room for */
	uint32_t linesThatFit() const;
	/** \brief Fetch \a count lines, each \a step entries behind the one before, from CDMA's
	 * pointer on */
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
 * CSC reads where its pointer is, whether or not CDMA has been there.
 *
 * Copying weights that are larger than the ring is mostly wasted: later weights overwrite them. If
 * memory has a view of the weights and the ring is empty at first, take() returns spans of memory,
 * and settle() copies into the buffer only the bytes that the hardware's would hold in the end.
 *
 * NaNs and infinities of FP16 are counted when they are fetched.
 */
class EntryStream
{
public:
	/** \param bytes to fetch, a multiple of an entry \param special counts FP16, or null */
	EntryStream(Cbuf &cbuf, EntryRing &ring, MemoryPort &memory, RamType ram, uint64_t address,
		    uint64_t bytes, SpecialCount *special = nullptr, bool flushNan = false);

	/** \brief Fetch what there is room for */
	void fill();
	/** \brief Everything was fetched */
	bool done() const { return fetched_ == bytes_; }
	/** \return bytes that there was room for */
	uint64_t fetched() const { return fetched_; }
	/** \brief The next bytes that CSC loads */
	void read(std::span<std::byte> out);
	/**
	 * \brief As read(), without a copy if the bytes are contiguous, else through \a copy
	 * \return the bytes; they stay valid until the next fill() and as long as \a copy
	 */
	std::span<const std::byte> take(size_t bytes, std::vector<std::byte> &copy);
	/** \return the memory that take() will read next, for prefetching; may be empty */
	std::span<const std::byte> ahead() const
	{
		if (settled_)
			return {};
		return source_.all().subspan(taken_, bytes_ - taken_);
	}
	/** \return take() returns bytes of the buffer or of a copy, no longer of memory */
	bool settled() const { return settled_; }
	/** \brief Release the entries that were loaded since the last time */
	void release();
	/** \brief Copy the fetched bytes into the buffer; memory is not read by take() any more */
	void settle();

private:
	void fetch(std::span<std::byte> piece);
	/** \return the bytes of entries from the next one on, \a count at most */
	std::span<const std::byte> load(size_t count);
	/** \brief CSC has loaded \a count entries */
	void loaded(uint32_t count);
	/** \return take() while the bytes are read in memory */
	std::span<const std::byte> takeUnsettled(size_t bytes);

	Cbuf &cbuf_;
	EntryRing &ring_;
	ReadRange source_;
	const uint64_t bytes_;
	uint64_t fetched_ = 0; /* bytes */
	SpecialCount *special_;
	bool flushNan_;
	bool settled_;	       /* see settled() */
	const uint32_t first_; /* entry that CDMA wrote first */
	uint64_t taken_ = 0;   /* bytes, until settle() */
	uint32_t entry_;       /* the next one that CSC loads */
	uint32_t loaded_ = 0;  /* entries since release() */
	const size_t entryBytes_;
	std::array<std::byte, kEntryBytes> current_; /* the entry loaded last */
	size_t used_;				     /* of its bytes */
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
	/** \param kept the weights are in the buffer already: nothing is fetched */
	WeightReader(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf, bool kept = false);

	/** \return why the hardware would wait forever for weights, empty if it does not */
	std::string check() const;

	WeightGroup next() override;
	/** \brief Fetch what there is room for */
	void fill();
	/** \return everything was fetched, and CSC has released it */
	bool released() const;
	/** \brief CSC has read all its weights: copy the fetched bytes into the buffer */
	void settle();
	/** \brief Everything was fetched */
	bool done() const { return packed_.done() && mask_.done(); }

	/** \return FP16 special values among the fetched weights, padding included */
	const SpecialCount &special() const { return special_; }

private:
	std::string checkFetch() const;
	bool allArrives() const;
	/** \brief Read compressed groups into a copy of the buffer, before any result is written */
	std::string checkGroups() const;
	/** \brief CDMA tells CSC of the next compressed group \throw NeverArrive */
	void awaitGroup();
	/** \brief The next \a bytes of sparse elements, even if CDMA has not fetched them */
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
	uint32_t groups_ = 0;	     /* that CDMA has announced to CSC */
	uint32_t requiredBytes_ = 0; /* sum of their sizes, modulo 2^32 as in the hardware */
	uint32_t kernelsLeft_;
	std::vector<std::byte> bytes_;	   /* of a group that is not contiguous in the buffer */
	std::vector<std::byte> present_;   /* likewise, the packed elements of a sparse group */
	ControlData masks_;		   /* of a sparse group, from its first element on */
	std::vector<std::byte> maskBytes_; /* of a mask that is not contiguous in the buffer */
	uint32_t maskHeld_ = 0;		   /* bits that were read and belong to the next group */
	size_t maskBitsHeld_ = 0;
};

} /* namespace nvdla::sim */
