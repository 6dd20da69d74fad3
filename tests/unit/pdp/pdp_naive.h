/* SPDX-License-Identifier: MIT */
/*
 * Pooling by the definition, for comparison: one window at a time, nothing
 * shared with the model. And cubes of random numbers to pool.
 */
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "core/memory.h"
#include "core/ram_memory.h"
#include "pdp/pdp_op.h"
#include "pdp/pdp_pooler.h"

namespace nvdla::test
{

/** \brief Of all random numbers of the tests */
inline constexpr uint32_t seed = 20261120;

/** \brief A cube of whole atoms, its elements as StreamRun has them */
struct Cube {
	uint32_t width;
	uint32_t height;
	uint32_t surfaces;
	uint32_t lanes;
	std::vector<int32_t> values; /**< by surface, line, column, lane */

	Cube(uint32_t w, uint32_t h, uint32_t s, uint32_t l)
		: width(w), height(h), surfaces(s), lanes(l), values(size_t{ w } * h * s * l)
	{
	}

	size_t index(uint32_t surface, uint32_t y, uint32_t x) const
	{
		return ((size_t{ surface } * height + y) * width + x) * lanes;
	}
	int32_t &at(uint32_t surface, uint32_t y, uint32_t x, uint32_t lane)
	{
		return values[index(surface, y, x) + lane];
	}
	int32_t at(uint32_t surface, uint32_t y, uint32_t x, uint32_t lane) const
	{
		return values[index(surface, y, x) + lane];
	}
};

/** \return the input cube of \a op, all lanes random; FP16: numbers of 2^-3 to 2^6 */
Cube randomInput(const sim::PdpOp &op, std::mt19937 &random);

/** \return what \a op has to make of \a in */
Cube poolByDefinition(const sim::PdpOp &op, const Cube &in);

/** \brief Both memories, and a cube in them at the strides of \a op */
class PdpMemory
{
public:
	static constexpr std::byte untouched{ 0x5a };
	static constexpr size_t size = 1 << 20; /**< of each memory */
	static constexpr size_t outputOffset = size / 2;
	static constexpr uint64_t dramBase = 0x1'0000'0000;
	static constexpr uint64_t cvsramBase = 0x5000'0000;

	explicit PdpMemory(const sim::PdpOp &op);

	sim::MemoryPort &port() { return port_; }

	void storeInput(const Cube &in);
	/** \return the output cube */
	Cube loadOutput();
	/** \return bytes beside the output cube that were written */
	size_t strayBytes();

private:
	sim::Memory &memory(sim::RamType ram);

	const sim::PdpOp &op_;
	sim::RamMemory dram_;
	sim::RamMemory cvsram_;
	sim::MemoryPort port_;
};

/** \brief The elements of the line that a pooler wrote last */
template<typename Element>
struct PooledLine final : sim::PdpOutput {
	std::span<std::byte> place(uint32_t, size_t bytes) override
	{
		elements.resize(bytes / sizeof(Element));
		return std::as_writable_bytes(std::span(elements));
	}
	void write(uint32_t, std::span<const std::byte>) override {}

	std::vector<Element> elements;
};

/** \return an operation of one element that leaves it as it is */
sim::PdpOp opOf(sim::Precision precision, sim::PoolingMethod method);

/**
 * \brief A random operation that the programming guide allows
 *
 * From memory, not split, precision and method as given.
 */
sim::PdpOp randomOp(sim::Precision precision, sim::PoolingMethod method, std::mt19937 &random);

/** \return a number from \a low to \a high */
inline int32_t pick(std::mt19937 &random, int32_t low, int32_t high)
{
	return std::uniform_int_distribution<int32_t>(low, high)(random);
}

/** \return value of FP16 bits that are a number */
double fp16Value(int32_t bits);

/** \return FP17 bits of \a value, which needs no rounding */
uint32_t fp17Bits(double value);

} /* namespace nvdla::test */
