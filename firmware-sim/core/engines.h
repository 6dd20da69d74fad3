/* SPDX-License-Identifier: MIT */
/*
 * Interface to the engines: functions that decode the registers of an operation and run it.
 */
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "core/conv_options.h"
#include "core/geometry.h"
#include "core/memory.h"
#include "core/operation.h"
#include "core/register_view.h"
#include "core/unit.h"
#include "core/workers.h"
#include "lut/lut_tables.h"

namespace nvdla::sim
{

class ConvEngine;

/**
 * \brief Registers and tables of an operation at its beginning
 *
 * Each view has the register group that its unit runs from. A read engine (SDP_RDMA) or PDP that
 * does not take part in the operation has no view: ask has() first.
 */
struct OperationInputs {
	const Geometry *geometry = &nvFull;
	std::array<RegisterView, unitCount> views;
	uint32_t units = 0; /**< bit n: unit n takes part */
	LutTables sdpLut;   /**< set if SDP takes part */
	LutTables cdpLut;   /**< set if CDP takes part */

	bool has(Unit unit) const { return units >> index(unit) & 1; }
	const RegisterView &operator[](Unit unit) const { return views[index(unit)]; }
};

/**
 * \brief Convolution pipeline, followed by SDP and, if it takes part, PDP
 *
 * One object per core, because a layer can reuse data that the previous layer left in the
 * convolution buffer.
 */
class ConvPipeline
{
public:
	/** \param workers must outlive the pipeline, as must \a geometry */
	ConvPipeline(Workers &workers, const ConvOptions &options, const Geometry &geometry);
	~ConvPipeline();

	/**
	 * \brief Carry out an operation
	 * \param sumsDone called when all units but CDMA are done, if CDMA still fetches;
	 *        run() then returns CDMA's result only
	 */
	OperationResult run(const OperationInputs &inputs, MemoryPort &port,
			    const std::function<void(OperationResult)> &sumsDone);

	/** \brief Return to the state after construction; allocates no memory */
	void reset();

	/** \return true if the operation will use several threads; any thread may call this */
	bool isShared(const OperationInputs &inputs) const;

private:
	std::unique_ptr<ConvEngine> engine_;
};

/** \brief Run SDP (followed by PDP if that takes part), PDP, CDP or RUBIK with input from memory */
OperationResult runOperation(Engine engine, const OperationInputs &inputs, MemoryPort &port,
			     Workers &workers);

/** \brief Add \a part, the result of one unit, to the result of a fused operation */
void merge(OperationResult &result, OperationResult &&part);

} /* namespace nvdla::sim */
