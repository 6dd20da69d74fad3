/* SPDX-License-Identifier: MIT */
/* Decides which operations can begin, from the state of all units. */
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "bdma/bdma_queue.h"
#include "core/engines.h"
#include "core/geometry.h"
#include "core/register_file.h"
#include "core/timing.h"
#include "core/unit.h"

namespace nvdla::sim
{

/** \brief A unit that takes part in an operation, and its register group */
struct UnitGroup {
	Unit unit;
	unsigned int group;
};

/** \brief An operation that has begun, with all its inputs */
struct Job {
	Engine engine;
	std::vector<UnitGroup> units; /**< empty for BDMA */
	OperationInputs inputs;	      /**< not used by BDMA */
	BdmaOp bdma = {};	      /**< the copy to make; BDMA only */
	unsigned int bdmaGroup = 0;
	bool recorded = false; /**< operationDone() of CoreConfig was called; CDMA still runs */
};

/**
 * \brief Registers of all units, and the rules by which operations begin and end
 *
 * An operation begins when all units that take part in it have a ready group:
 *
 * - the five units of the convolution pipeline together, with an SDP in flying mode;
 * - SDP in off-line mode, with SDP_RDMA;
 * - PDP in off-line mode, with PDP_RDMA; CDP with CDP_RDMA; RUBIK by itself;
 * - an SDP whose output goes to PDP also needs a PDP in flying mode;
 * - a flying SDP needs SDP_RDMA if an operand comes from memory; otherwise an enabled
 *   SDP_RDMA belongs to a later operation.
 *
 * Not thread-safe: the caller holds the core's lock.
 */
class Scheduler
{
public:
	/** \param geometry must outlive this object */
	explicit Scheduler(const Geometry &geometry);

	void reset();

	RegisterFile &file(Unit unit) { return files_[index(unit)]; }
	const RegisterFile &file(Unit unit) const { return files_[index(unit)]; }
	BdmaQueue &bdma() { return bdma_; }
	LutTables &lut(Unit unit) { return unit == Unit::Sdp ? sdpLut_ : cdpLut_; }

	/**
	 * \brief Launch a group of BDMA
	 * \return null, or the text of a guest error
	 */
	const char *launchBdma(unsigned int group);

	/** \return true if enabling \a unit can begin an operation of \a engine */
	static bool takesPart(Unit unit, Engine engine);

	/** \return bits of the interrupt status for group 0; the bits of group 1 are one higher */
	static uint32_t doneBits(Unit unit);

	/**
	 * \brief Begin an operation of \a engine
	 * \return the operation, or null if none can begin
	 */
	std::unique_ptr<Job> begin(Engine engine);

	/**
	 * \brief End an operation: latch its result registers and switch the consumer pointers of
	 * its units to the other register group
	 * \return the bits of the interrupt status to set
	 */
	uint32_t finish(const Job &job, const OperationResult &result,
			const OperationTiming &timing = {});

private:
	void skipIdleSdpRdma();
	std::unique_ptr<Job> beginBdma();
	std::unique_ptr<Job> beginConv();
	std::unique_ptr<Job> beginSdp();
	std::unique_ptr<Job> beginPdp();

	void addBdmaStall(unsigned int group, const OperationTiming &timing);
	bool ready(Unit unit) const { return file(unit).ready(); }
	uint32_t consumerField(Unit unit, uint32_t address, uint32_t mask) const;
	bool sdpFlies() const;
	bool pdpFlies() const;
	bool addSdpPartners(std::vector<Unit> &units) const;
	std::unique_ptr<Job> take(Engine engine, const std::vector<Unit> &units);

	const Geometry &geometry_;
	std::vector<RegisterFile> files_;
	BdmaQueue bdma_;
	LutTables sdpLut_;
	LutTables cdpLut_;
};

} /* namespace nvdla::sim */
