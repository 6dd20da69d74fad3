/* SPDX-License-Identifier: MIT */
/*
 * Numbers of a run of atoms that a line does not round for certain.
 *
 * They are few, anywhere in the run, and of any channels. One by one each would take longer than
 * the line takes for a hundred others; so they are noted, taken out with their operands, and go
 * through the stages together.
 */
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sdp/sdp_fast.h"
#include "sdp/sdp_op.h"

namespace nvdla::sim
{

/** \brief Where in a run the numbers are */
class SdpUncertain
{
public:
	/** \param count numbers of the run */
	explicit SdpUncertain(size_t count) : most_(std::min(count / kOneOf + kFew, kMost)) {}

	/** \brief Adds numbers, and says so when it is destroyed: a loop has it in registers */
	class Adder
	{
	public:
		explicit Adder(SdpUncertain &to)
			: to_(to), next_(&to.places_[to.count_]), end_(to.places_.data() + to.most_)
		{
		}
		~Adder() { to_.count_ = static_cast<size_t>(next_ - to_.places_.data()); }
		Adder(const Adder &) = delete;
		Adder &operator=(const Adder &) = delete;

		/**
		 * \brief Add those of some numbers from \a first on, up to 64, whose bits are set
		 * \return false if they are too many now: for all numbers together the stages take
		 *	   less
		 */
		bool add(size_t first, uint64_t bits)
		{
			/* Mostly there is none or one, which of them nobody knows before. */
			put(first, bits);
			next_ += bits != 0;
			for (bits &= bits - 1; bits && next_ < end_; bits &= bits - 1, next_++)
				put(first, bits);
			return next_ < end_;
		}

	private:
		void put(size_t first, uint64_t bits)
		{
			*next_ = static_cast<uint32_t>(first +
						       static_cast<size_t>(std::countr_zero(bits)));
		}

		SdpUncertain &to_;
		uint32_t *next_;
		const uint32_t *end_;
	};

	std::span<const uint32_t> places() const { return std::span(places_).first(count_); }

private:
	static constexpr size_t kOneOf = 16;
	static constexpr size_t kFew = 64; /* always worth it */
	static constexpr size_t kMost = 2048;

	std::array<uint32_t, kMost> places_; /* up to count_ */
	size_t count_ = 0;
	size_t most_;
};

/** \brief Some of those numbers beside each other, each with its operands */
class SdpPicked
{
public:
	static constexpr size_t kMost = 64; /* whole atoms */

	/**
	 * \param stages of the run, which must outlive this object
	 * \param lanes numbers of an atom, a power of two
	 */
	SdpPicked(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes);

	/**
	 * \brief Take the number at \a place of the run
	 * \param element its operand in memory, where a stage has those of each element as bytes
	 */
	void add(size_t place, int32_t number, int16_t element);

	/** \brief What stages and converter make of all that were added; none are left then */
	std::span<const int32_t> compute();

private:
	static constexpr size_t kMostStages = 3;
	static constexpr size_t kFew = 3;

	/* Of a stage, for each number. */
	struct Operands {
		int32_t alu[kMost];
		int32_t mul[kMost];
	};

	void fillAtoms();

	const SdpOp &op_;
	std::span<const SdpStageRun> stages_;
	size_t lanes_;
	size_t count_ = 0;
	int32_t numbers_[kMost];
	Operands operands_[kMostStages];
};

} /* namespace nvdla::sim */
