/* SPDX-License-Identifier: MIT */
/*
 * The registers of one unit as an operation sees them.
 */
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nvdla::sim
{

/**
 * \brief Snapshot of one unit's registers for the group that an operation runs from
 *
 * Addresses are CSB byte addresses as in the generated register header
 * (NVDLA_<UNIT>_<REGISTER>), for single registers and for those of the group
 * alike. A snapshot does not change while the operation runs.
 */
class RegisterView
{
public:
	/** Largest number of registers of a unit */
	static constexpr size_t kMostWords = 64;

	RegisterView() {} /* every register reads as zero */
	/**
	 * \param base first CSB byte address of the unit
	 * \param words its registers, one per word; at most kMostWords are used
	 */
	RegisterView(uint32_t base, std::span<const uint32_t> words)
		: base_(base), count_(std::min(words.size(), kMostWords))
	{
		std::ranges::copy(words.first(count_), words_.begin());
	}

	/** \brief Set a register; \a word is its index from the unit's base */
	void set(uint32_t word, uint32_t value) { words_[word] = value; }

	/** \return the register's value, 0 outside the unit */
	uint32_t operator[](uint32_t address) const
	{
		const uint32_t index = (address - base_) / 4;
		return index < count_ ? words_[index] : 0;
	}

	/** \return the field selected by \a mask, shifted down to bit 0 */
	uint32_t field(uint32_t address, uint32_t mask) const
	{
		return ((*this)[address] & mask) >> std::countr_zero(mask);
	}

	bool flag(uint32_t address, uint32_t mask) const { return ((*this)[address] & mask) != 0; }

	/** \return a signed field, sign-extended from its top bit */
	int32_t signedField(uint32_t address, uint32_t mask) const
	{
		const int width = std::popcount(mask);
		return static_cast<int32_t>(field(address, mask) << (32 - width)) >> (32 - width);
	}

	/** \return the address held by a pair of _HIGH and _LOW registers */
	uint64_t address64(uint32_t high, uint32_t low) const
	{
		return static_cast<uint64_t>((*this)[high]) << 32 | (*this)[low];
	}

private:
	uint32_t base_ = 0;
	size_t count_ = 0;
	/* An array inside the object: an allocation for each unit would delay short operations. */
	std::array<uint32_t, kMostWords> words_;
};

} /* namespace nvdla::sim */
