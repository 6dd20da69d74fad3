/* SPDX-License-Identifier: MIT */
/*
 * Fuzz input for the core: its configuration and a sequence of register accesses.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace nvdla::fuzz
{

/**
 * \brief One access, eight bytes of the input
 *
 * The address is made of a unit and a word, so that a changed byte is still an
 * address at or near a register.
 */
struct Access {
	enum Kind : uint8_t {
		Write,
		Read,
		Wait, /**< until the core is idle, or its budget of memory accesses is used up */
		Reset,
	};

	uint8_t kind; /**< modulo 4 */
	uint8_t unit; /**< modulo 32: more than there are */
	uint16_t word;
	uint32_t value;
};

static_assert(sizeof(Access) == 8);

/** \brief The first byte of the input: index in sim::geometries(), modulo their number */
inline constexpr size_t kGeometryBytes = 1;

/** \return the configuration, the writes and the polls of a trace as fuzz input */
std::vector<uint8_t> encode(const sim::Trace &trace);

/**
 * \brief Play an input on a core of its own
 *
 * Bounded: no more than a few thousand accesses, and no more than a fixed
 * number of memory accesses by the engines is waited for; what still runs at
 * the end is abandoned by a reset.
 */
void playAccesses(std::span<const uint8_t> input);

} /* namespace nvdla::fuzz */
