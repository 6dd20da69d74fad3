/* SPDX-License-Identifier: MIT */
/* The registers of one unit: CSB accesses, and the two groups. */
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry.h"
#include "core/register_table.h"
#include "core/register_view.h"
#include "core/unit.h"

namespace nvdla::sim
{

/**
 * \brief Registers of one unit, with two groups where the unit has them
 *
 * Registers whose name begins with D_ exist once per group. S_POINTER.PRODUCER selects
 * the group that the CSB reads and writes, S_POINTER.CONSUMER the one that the
 * unit runs from next. The guest sets D_OP_ENABLE of a group; the unit clears the bit when
 * the group's operation is done. While it is set, writes to the group are
 * ignored. Setting it clears the group's counters (nvdlav1 RTL).
 *
 * Not thread-safe: the caller holds the core's lock.
 */
class RegisterFile
{
public:
	/** \brief Outcome of a write */
	enum class Write {
		Done,	  /**< the writable bits are stored, if there are any */
		Enabled,  /**< D_OP_ENABLE was set: an operation may be ready */
		Locked,	  /**< ignored because the group is in use */
		Reserved, /**< ignored because there is no such register */
	};

	explicit RegisterFile(Unit unit, const Geometry &geometry = nvFull);

	/** \brief Set all registers to their values after reset */
	void reset();

	/** \return the readable bits of the register at CSB address \a address; 0 without register
	 */
	uint32_t read(uint32_t address) const;

	Write write(uint32_t address, uint32_t value);

	/** \return true if D_OP_ENABLE of the consumer's group is set, and the operation has not
	 * begun */
	bool ready() const { return grouped_ && enabled_[consumer_] && !running_; }

	unsigned int consumer() const { return consumer_; }

	/** \return a field of the consumer's group, still at its place in the register */
	uint32_t consumerField(uint32_t address, uint32_t mask) const
	{
		return words_[consumer_][(address - base_) / 4] & mask;
	}

	/** \return a copy of the registers that an operation of \a group uses */
	RegisterView view(unsigned int group) const;

	/** \brief Begin the operation of the consumer's group; ready() is false from then on */
	void begin() { running_ = true; }

	/** \brief End the consumer's operation: clear D_OP_ENABLE and switch the consumer to the
	 * other group */
	void finish();

	/** \brief Set a register from inside the unit, including bits that the CSB cannot write */
	void latch(unsigned int group, uint32_t address, uint32_t value);

private:
	static constexpr uint32_t absent = UINT32_MAX;

	/** \return index of the register at a CSB address, `absent` if there is none */
	uint32_t find(uint32_t address) const
	{
		const uint32_t word = (address - base_) / 4;
		return address % 4 == 0 && word < registers_.size() && registers_[word].name
			       ? word
			       : absent;
	}
	uint32_t &word(uint32_t word, unsigned int group)
	{
		return words_[registers_[word].shadowed ? group : 0][word];
	}

	void clearCounters();
	uint32_t status() const;
	uint32_t pointer() const;

	std::vector<RegisterInfo> registers_; /* by word from base_; no name: no register */
	uint32_t base_;
	uint32_t opEnable_ = absent; /* index of D_OP_ENABLE */
	bool grouped_ = false;
	std::vector<uint32_t> single_;		     /* indices of registers that exist once */
	std::vector<uint32_t> counters_;	     /* indices of registers that the unit sets */
	std::array<std::vector<uint32_t>, 2> words_; /* values by group; registers that exist
						      * once are in words_[0] */
	unsigned int producer_ = 0;
	unsigned int consumer_ = 0;
	std::array<bool, 2> enabled_ = {};
	bool running_ = false;
};

} /* namespace nvdla::sim */
