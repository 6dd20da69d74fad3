/* SPDX-License-Identifier: MIT */
/*
 * The result of assembling a graph: its operations and surfaces in the loadable.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nvdla/loadable.h>
#include <nvdla/strategy.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief An operation of the core, or a CPU step. An operation of the graph may become several of
 * these */
struct AssembledStep {
	/** \brief Name of the graph's operation, or of the constant that the step copies */
	std::string operation;
	std::string piece; /**< name of this step if the operation became several; else empty */
	uint16_t task = 0; /**< id of the task in the loadable */
	size_t index = 0;  /**< index of the step in its task, from 0 */
};

/** \brief Purpose of a range of memory */
enum class RangeKind : uint8_t { Constant, Intermediate, Input, Output };

/** \brief A surface or a constant in memory; parts of a surface are not listed separately */
struct AssembledRange {
	std::string name;
	RangeKind kind = RangeKind::Intermediate;
	MemoryDomain domain = MemoryDomain::System;
	uint16_t memory = 0; /**< id of the loadable's memory that has the range */
	uint64_t offset = 0; /**< bytes from the start of the memory */
	uint64_t size = 0;   /**< size in bytes */
	/** \brief First and last step that use the bytes: indices into Assembly::steps */
	size_t firstStep = 0;
	size_t lastStep = 0;
};

/** \brief A loadable, and the places of a graph's operations and surfaces in it */
struct Assembly {
	Loadable loadable;
	std::vector<AssembledStep> steps; /**< steps in the order of their submission */
	std::vector<AssembledRange> ranges;
	/** \brief Choices of the strategy; empty without AssembleOptions::strategy */
	std::vector<LayerChoice> choices;
};

} /* namespace nvdla */

#pragma GCC visibility pop
