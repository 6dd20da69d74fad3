/* SPDX-License-Identifier: MIT */
/*
 * What an engine reaches, from its registers alone: a second opinion that shares nothing with
 * kmd/engine but the names of registers. Addresses are those of wall_check()'s accesses.
 */
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <nvdla/hw/registers.h>

#include "wall.h"

namespace nvdla::test
{

/** \brief Bytes that an engine reads or writes from the address of an access on */
struct Reach {
	uint32_t access;
	uint64_t bytes;
	uint32_t memory; /**< 1: system memory, 0: on-chip memory */
	bool writes;
	uint64_t grain; /**< the hardware drops the bits of the address below this */
};

/** \brief Address of a register pair that names no memory */
constexpr uint32_t noAccess = ~uint32_t{ 0 };

/**
 * \brief Carries out register writes of one operation
 *
 * A register that was not written holds what another client left there: asking for it is an
 * error of the program, see hasAskedTooMuch().
 */
class WallOracle
{
public:
	explicit WallOracle(const nvdla_variant &variant) : variant_(variant) {}

	const std::vector<Reach> &reach(nvdla_op_type engine, const wall_verdict &verdict);
	bool hasAskedTooMuch() const { return askedTooMuch_; }

private:
	struct Slot {
		uint64_t operation = 0;
		uint32_t value = 0;
		bool isAddress = false;
	};
	struct Steps {
		uint64_t count;
		uint64_t stride;
	};

	uint32_t get(uint32_t reg, uint32_t mask = ~uint32_t{ 0 });
	bool isWritten(uint32_t reg) const { return slots_[reg / 4].operation == now_; }
	void add(uint32_t low, uint64_t unit, std::initializer_list<Steps> steps, uint32_t memory,
		 bool writes);
	uint64_t atoms(uint64_t channels, uint64_t bytes) const;

	void bdma();
	void conv();
	void convInput();
	void sdp();
	void sdpOperand(uint32_t step, uint64_t width, uint64_t height, uint64_t channels,
			uint32_t proc);
	void pdp();
	void cdp();
	void rubik();

	const nvdla_variant &variant_;
	std::vector<Slot> slots_ = std::vector<Slot>(NVDLA_NUM_UNITS * 1024);
	std::vector<Reach> reach_;
	uint64_t now_ = 0;
	bool askedTooMuch_ = false;
};

} /* namespace nvdla::test */
