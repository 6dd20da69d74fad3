/* SPDX-License-Identifier: MIT */
/*
 * The steps from a graph to a loadable.
 */
#pragma once

#include <nvdla/graph.h>

#include "lowering.h"
#include "plan.h"

namespace nvdla::assembly
{

/**
 * \brief Assembles one graph
 *
 * Operations are lowered one by one, in their order. Then the operations are divided into tasks,
 * memory is allocated, and the loadable is written. For each task, the writer derives the edges
 * between operations and checks the driver's rules.
 */
class Assembler
{
public:
	Assembler(const Graph &graph, const AssembleOptions &options)
		: graph_(graph), options_(options)
	{
		symbols_.core = options.core;
	}

	/** \param[in] fixedFormats fraction bits of inputs and outputs, from fixedFormats() */
	Result<Assembly> run(const std::map<std::string, uint32_t> &fixedFormats);
	/** \brief Shapes and types of all surfaces, by name; constants are not packed */
	Result<std::map<std::string, Surface>> shapes();

private:
	Result<void> collectNames();
	Result<void> addInputs();
	Result<void> checkUses() const;
	Result<std::vector<ExplicitEdge>> findEdges() const;
	/** \brief Allocate memory with placeRegions(), which gets \a apart, and write the loadable
	 * without the constants' bytes */
	Result<Assembly> place(bool apart, const std::vector<ExplicitEdge> &edges);
	/** \return true if it takes more memory if surfaces of parallel branches share no bytes */
	bool takeMoreApart();
	/** \brief Place branches with and without shared memory, and return the faster result */
	Result<Assembly> placeBranches(const std::vector<ExplicitEdge> &edges);
	/** \brief Move the constants' bytes from the plan to a loadable that place() made */
	Result<Assembly> withConstants(Assembly assembly);
	/** \brief States of the named inputs or outputs, to which the application binds buffers */
	std::vector<const SurfaceState *> bound(const std::vector<std::string> &names) const;

	const Graph &graph_;
	const AssembleOptions &options_;
	Plan plan_;
	Symbols symbols_;
};

/** \brief Input of the loadable's writer */
struct Assembled {
	const CoreGeometry &core;
	const Plan &plan;
	std::vector<Memory> memories;
	std::vector<const SurfaceState *> inputs;
	std::vector<const SurfaceState *> outputs;
	std::vector<ExplicitEdge> edges;
};

/** \brief Derive each task's edges, check the driver's rules, write all but the constants' bytes */
Result<Loadable> writeLoadable(Assembled assembled);

} /* namespace nvdla::assembly */
