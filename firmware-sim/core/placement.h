/* SPDX-License-Identifier: MIT */
/*
 * The memory that a cube occupies, and whether two cubes overlap.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "timing/traffic.h"

namespace nvdla::sim
{

/** \brief A number of items, and the bytes from one to the next */
struct Steps {
	uint64_t count = 1;
	uint64_t stride = 0; /**< 0 for a single item */

	Steps() = default;
	Steps(uint64_t n, uint64_t bytes) : count(n), stride(n > 1 ? bytes : 0) {}
	bool operator==(const Steps &) const = default;
};

/** \brief Bytes of memory that a cube occupies */
struct Placement {
	RamType ram = RamType::Mc;
	uint64_t address = 0;
	uint64_t lineBytes = 0;
	Steps lines;
	Steps surfaces;
	Steps batches = {};

	/** \return true if both occupy the same bytes, line for line */
	bool operator==(const Placement &) const = default;

	/** \return distance from the first byte to the end */
	uint64_t size() const
	{
		uint64_t bytes = lineBytes;

		for (const Steps &steps : { lines, surfaces, batches })
			bytes += (steps.count - 1) * steps.stride;
		return bytes;
	}

	/** \return true if the two placements do not overlap */
	bool isApart(const Placement &other) const
	{
		/* Addresses may wrap around. */
		const uint64_t ahead = other.address - address;
		const uint64_t behind = address - other.address;

		return ram != other.ram || (ahead >= size() && behind >= other.size());
	}

	/**
	 * \return true if \a written does not overlap this placement, or equals it
	 */
	bool isUsableBy(const Placement &written) const
	{
		return *this == written || isApart(written);
	}

	/** \return true if no two lines overlap */
	bool hasLinesApart() const
	{
		std::array<Steps, 3> steps = { lines, surfaces, batches };
		uint64_t inner = lineBytes;

		std::ranges::sort(steps, {}, &Steps::stride);
		for (const Steps &step : steps) {
			if (step.count > 1 && step.stride < inner)
				return false;
			inner += (step.count - 1) * step.stride;
		}
		return true;
	}
};

} /* namespace nvdla::sim */
