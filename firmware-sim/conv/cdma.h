/* SPDX-License-Identifier: MIT */
/*
 * Convolution DMA: memory to the convolution buffer.
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conv/cbuf.h"
#include "conv/conv_op.h"
#include "core/memory.h"

namespace nvdla::sim
{

/** \brief NaNs and infinities among FP16 numbers that were fetched */
struct SpecialCount {
	uint32_t nan = 0;
	uint32_t inf = 0;

	/** \brief Count \a bits; \return what goes into the buffer: 0 for a NaN if \a flush */
	uint16_t pass(uint16_t bits, bool flush)
	{
		constexpr uint16_t kMagnitude = 0x7fff;
		constexpr uint16_t kInfinity = 0x7c00;
		const uint16_t magnitude = bits & kMagnitude;

		if (magnitude == kInfinity)
			inf++;
		if (magnitude <= kInfinity)
			return bits;
		nan++;
		return flush ? 0 : bits;
	}
};

/**
 * \brief Fetch the operation's cube behind the lines that are already buffered
 *
 * Precondition: op.guestError is empty.
 *
 * \return what makes the hardware wait forever (the lines do not fit the data
 *         banks), empty if the lines are buffered or the operation is abandoned
 */
std::string fetchData(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf, SpecialCount &special);

/** \brief fetchData() for pixels */
std::string fetchImage(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf, SpecialCount &special);

/**
 * \brief Reads weights group by group and unpacks them
 *
 * Only one group is in memory at a time, and no group is larger than the banks
 * hold; for the whole of it see programming guide, "Limitation", General.
 */
class WeightReader
{
public:
	WeightReader(const ConvOp &op, MemoryPort &memory);

	/** \return why the hardware would wait forever for weights, empty if it does not */
	std::string check() const;

	/** \brief Unpack the next kernel group into \a group, whose storage is reused */
	void next(WeightGroup &group);

	/** \brief Read what WEIGHT_BYTES has behind the last group, for the counters */
	void finish();

	/** \return bytes of weights, mask and group sizes that the operation fetches */
	uint64_t bytes() const;

	/** \return FP16 special values among the fetched weights, padding included */
	const SpecialCount &special() const { return special_; }

private:
	/** Sequential bytes of memory, read in larger pieces */
	class Stream
	{
	public:
		Stream(MemoryPort &memory, RamType ram, uint64_t address, uint64_t bytes)
			: memory_(memory), ram_(ram), address_(address), left_(bytes)
		{
		}
		/** \brief The next bytes; zeroes behind the end */
		void read(std::span<std::byte> out);
		uint64_t left() const { return left_ + (buffer_.size() - used_); }

	private:
		void refill();

		MemoryPort &memory_;
		RamType ram_;
		uint64_t address_;
		uint64_t left_; /* not read from memory yet */
		std::vector<std::byte> buffer_;
		size_t used_ = 0;
	};

	/** \brief Unpack the next elements as they are in memory */
	void read(std::span<int16_t> elements);
	bool maskBit();

	const ConvOp &op_;
	Stream packed_;
	Stream mask_;
	SpecialCount special_;
	uint32_t kernelsLeft_;
	std::vector<std::byte> bytes_;
	std::vector<int16_t> present_; /* elements of a sparse group */
	uint8_t maskByte_ = 0;
	unsigned maskBitsLeft_ = 0;
};

} /* namespace nvdla::sim */
