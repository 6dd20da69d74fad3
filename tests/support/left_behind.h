/* SPDX-License-Identifier: MIT */
/*
 * Checks that an operation leaves the same memory, registers and error behind, whatever the number
 * of threads.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/memory.h"
#include "core/operation.h"
#include "core/ram_memory.h"
#include "core/workers.h"
#include "element_memories.h"

namespace nvdla::sim::test
{

struct LeftBehind {
	LeftBehind(const OperationResult &result, const MemoryPort &port, std::string bytes)
		: memory(std::move(bytes)), error(result.guestError), hangs(result.hangs),
		  faulted(port.faulted()), faultAddress(port.faultAddress()),
		  mc(port.traffic(RamType::Mc)), cv(port.traffic(RamType::Cv))
	{
		for (const RegisterUpdate &update : result.updates)
			registers.emplace_back(update.address, update.value);
	}

	bool operator==(const LeftBehind &) const = default;

	std::string memory; /* contents of the memory; a string, because == then is one memcmp() */
	std::vector<std::pair<uint32_t, uint32_t>> registers;
	std::string error;
	bool hangs;
	bool faulted;
	uint64_t faultAddress;
	Traffic mc, cv;
};

/**
 * \brief Expect that an operation leaves the same behind on any number of threads
 * \param run carries out the operation, each time on the same memory contents
 * \return the state that the operation leaves with one thread
 */
inline LeftBehind expectSameOnAnyThreads(const std::function<LeftBehind(Workers &)> &run)
{
	constexpr int kRounds = 3;
	Workers one(1);
	const LeftBehind alone = run(one);

	for (const unsigned int threads : { 2U, 5U }) {
		Workers workers(threads);
		for (int round = 0; round < kRounds; round++) {
			const LeftBehind left = run(workers);
			EXPECT_TRUE(left == alone) << threads << " threads";
			EXPECT_EQ(left.faultAddress, alone.faultAddress);
			EXPECT_EQ(left.mc.readBytes, alone.mc.readBytes);
			EXPECT_EQ(left.mc.writeBytes, alone.mc.writeBytes);
			EXPECT_EQ(left.registers, alone.registers);
		}
	}
	return alone;
}

using SharedOperation = std::function<OperationResult(MemoryPort &, Workers &)>;

/** \return pseudo-random bytes, the same in each run */
inline std::span<const std::byte> someBytes(size_t size)
{
	constexpr uint32_t kSeed = 29;
	constexpr size_t kMost = 1 << 18;
	static const std::vector<uint32_t> numbers = [] {
		std::cout << "seed " << kSeed << '\n';
		std::mt19937 random(kSeed);
		std::vector<uint32_t> made(kMost);
		std::ranges::generate(made, std::ref(random));
		return made;
	}();

	EXPECT_LE(size, kMost * sizeof(uint32_t));
	return std::as_bytes(std::span(numbers)).first(size);
}

/** \brief expectSameOnAnyThreads() on a Dram of \a size bytes from address 0, full of someBytes()
 * \return the state that the operation leaves with one thread */
template<typename Dram>
LeftBehind expectSameOfNumbers(const SharedOperation &operation, size_t size)
{
	const std::span<const std::byte> bytes = someBytes(size);
	Dram dram(0, size);
	RamMemory cvsram(size, 32);

	return expectSameOnAnyThreads([&](Workers &workers) {
		MemoryPort port(dram, cvsram);
		std::string after(size, 0);

		dram.write(0, bytes);
		const OperationResult result = operation(port, workers);
		dram.read(0, std::as_writable_bytes(std::span(after)));
		return LeftBehind(result, port, std::move(after));
	});
}

/**
 * \brief expectSameOnAnyThreads() on memory full of someBytes(), once with direct access to its
 * bytes (RamMemory) and once without (HiddenMemory)
 * \param faults true: the operation is expected to access unmapped memory
 */
inline void expectSameOnAnyThreads(const SharedOperation &operation, size_t size, bool faults)
{
	for (const LeftBehind &left : { expectSameOfNumbers<RamMemory>(operation, size),
					expectSameOfNumbers<HiddenMemory>(operation, size) }) {
		EXPECT_EQ(left.faulted, faults);
		EXPECT_GT(left.mc.writeBytes, 0U);
	}
}

/** \brief One case of a test: a change of the operation, and the description of the change */
template<typename Op>
struct SharedCase {
	const char *what;
	void (*change)(Op &op);
	bool faults = false;
};

/**
 * \brief expectSameOnAnyThreads() for each of \a cases in each precision
 * \param make makes the operation that a case changes
 * \param run carries out the changed operation
 * \param size bytes of the memory
 */
template<typename Op>
void expectSameOnAnyThreads(
	std::span<const SharedCase<Op>> cases, const std::function<Op(Precision)> &make,
	const std::function<OperationResult(const Op &, MemoryPort &, Workers &)> &run, size_t size)
{
	for (const Precision precision : { Precision::Int8, Precision::Int16, Precision::Fp16 }) {
		for (const SharedCase<Op> &some : cases) {
			SCOPED_TRACE(testing::Message()
				     << some.what << ", precision " << static_cast<int>(precision));
			Op op = make(precision);
			some.change(op);
			expectSameOnAnyThreads(
				[&](MemoryPort &port, Workers &workers) {
					return run(op, port, workers);
				},
				size, some.faults);
		}
	}
}

} /* namespace nvdla::sim::test */
