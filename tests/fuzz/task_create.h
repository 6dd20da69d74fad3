/* SPDX-License-Identifier: MIT */
/*
 * Fuzz input for the engine: a task graph with some of its bytes changed.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nvdla::fuzz
{

/**
 * \brief One change, six bytes of the input
 *
 * The first byte of an input, modulo the number of templates, says which valid
 * graph the changes are made to.
 */
struct Patch {
	uint8_t array;	/**< modulo 5: graph, operations, surfaces, look-up tables, extents */
	uint8_t kind;	/**< modulo 3: set, add, flip bits */
	uint16_t place; /**< byte of the array, modulo its size */
	uint16_t value;
};

static_assert(sizeof(Patch) == 6);

constexpr size_t maximumPatches = 64;

/**
 * \brief Build a graph, have it checked, and run it if it was accepted
 *
 * Aborts the process if an accepted graph has a register point outside the
 * memory that it was given, or does not come to its end.
 *
 * \return whether it was accepted
 */
bool createTask(std::span<const uint8_t> input);

} /* namespace nvdla::fuzz */
