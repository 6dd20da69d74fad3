/* SPDX-License-Identifier: MIT */
/* The two memories of the engines, and the bytes moved to and from them. */
#pragma once

#include <cstdint>

namespace nvdla::sim
{

/** \brief RAM type of a register field named *_RAM_TYPE; values as in the registers */
enum class RamType : uint8_t {
	Cv = 0, /**< on-chip memory, behind CVIF */
	Mc = 1, /**< system memory, behind MCIF */
};

/** \brief Bytes moved by one operation to and from one memory */
struct Traffic {
	uint64_t readBytes = 0;
	uint64_t writeBytes = 0;

	uint64_t total() const { return readBytes + writeBytes; }
	Traffic &operator+=(const Traffic &other)
	{
		readBytes += other.readBytes;
		writeBytes += other.writeBytes;
		return *this;
	}
	bool operator==(const Traffic &) const = default;
};

/** \brief Bytes moved by one operation */
struct MemoryTraffic {
	Traffic mc;
	Traffic cv;

	Traffic &of(RamType type) { return type == RamType::Mc ? mc : cv; }
	const Traffic &of(RamType type) const { return type == RamType::Mc ? mc : cv; }
	MemoryTraffic &operator+=(const MemoryTraffic &other)
	{
		mc += other.mc;
		cv += other.cv;
		return *this;
	}
	bool operator==(const MemoryTraffic &) const = default;
};

} /* namespace nvdla::sim */
