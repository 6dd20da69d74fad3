/* SPDX-License-Identifier: MIT */
/*
 * The registers of one unit as an operation sees them.
 */
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace nvdla::sim
{

/**
 * \brief Snapshot of one unit's registers for the group that an operation runs from
 *
 * Addresses are the absolute CSB byte addresses of the generated register
 * header (NVDLA_<UNIT>_<REGISTER>); single registers and those of the group
 * are looked up alike. A snapshot does not change while the operation runs.
 */
class RegisterView
{
public:
	RegisterView() = default;
	/** \param base first CSB byte address of the unit \param words its registers, one per word
	 */
	RegisterView(uint32_t base, std::vector<uint32_t> words)
		: base_(base), words_(std::move(words))
	{
	}

	/** \return the register's value, 0 outside the unit */
	uint32_t operator[](uint32_t address) const
	{
		const uint32_t index = (address - base_) / 4;
		return index < words_.size() ? words_[index] : 0;
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
	std::vector<uint32_t> words_;
};

} /* namespace nvdla::sim */
