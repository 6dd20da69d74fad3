/* SPDX-License-Identifier: MIT */
#include "core/scheduler.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <span>

#include <nvdla/hw/registers.h>

#include "core/register_table.h"

namespace nvdla::sim
{

namespace
{

/* Registers of a stage of SDP; their fields are the same as X1's. */
constexpr struct {
	uint32_t config;
	uint32_t alu;
	uint32_t mul;
} sdpStages[] = {
	{ NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_ALU_CFG, NVDLA_SDP_D_DP_BS_MUL_CFG },
	{ NVDLA_SDP_D_DP_BN_CFG, NVDLA_SDP_D_DP_BN_ALU_CFG, NVDLA_SDP_D_DP_BN_MUL_CFG },
	{ NVDLA_SDP_D_DP_EW_CFG, NVDLA_SDP_D_DP_EW_ALU_CFG, NVDLA_SDP_D_DP_EW_MUL_CFG },
};

/* \return true if the registers say that an operand of a stage comes from memory */
bool readsOperands(const RegisterFile &sdp, bool hasY)
{
	constexpr uint32_t bypass = NVDLA_SDP_D_DP_BS_CFG__BS_BYPASS;
	constexpr uint32_t noAlu = bypass | NVDLA_SDP_D_DP_BS_CFG__BS_ALU_BYPASS;
	constexpr uint32_t noMul = bypass | NVDLA_SDP_D_DP_BS_CFG__BS_MUL_BYPASS;
	const auto stages = std::span(sdpStages).first(std::size(sdpStages) - !hasY);

	return std::ranges::any_of(stages, [&sdp](const auto &stage) {
		return (!sdp.consumerField(stage.config, noAlu) &&
			sdp.consumerField(stage.alu, NVDLA_SDP_D_DP_BS_ALU_CFG__BS_ALU_SRC)) ||
		       (!sdp.consumerField(stage.config, noMul) &&
			sdp.consumerField(stage.mul, NVDLA_SDP_D_DP_BS_MUL_CFG__BS_MUL_SRC));
	});
}

constexpr uint32_t bitsOf(std::initializer_list<Unit> units)
{
	uint32_t bits = 0;

	for (const Unit unit : units)
		bits |= 1U << index(unit);
	return bits;
}

/* Units that an operation of each engine can use; bit n: unit n. */
constexpr std::array<uint32_t, engineCount> unitsOfEngines = {
	bitsOf({ Unit::Bdma }),
	bitsOf({ Unit::Cdma, Unit::Csc, Unit::CmacA, Unit::CmacB, Unit::Cacc, Unit::SdpRdma,
		 Unit::Sdp, Unit::Pdp }),
	bitsOf({ Unit::SdpRdma, Unit::Sdp, Unit::Pdp }),
	bitsOf({ Unit::PdpRdma, Unit::Pdp }),
	bitsOf({ Unit::CdpRdma, Unit::Cdp }),
	bitsOf({ Unit::Rbk }),
};

/*
 * Units of a convolution in the order in which their readiness is checked. Drivers enable CDMA
 * last, so checking CDMA first usually settles that the operation must wait.
 */
constexpr Unit convUnits[] = { Unit::Cdma,  Unit::Csc,	Unit::CmacA,
			       Unit::CmacB, Unit::Cacc, Unit::Sdp };

/* Registers with the stall cycles of BDMA's two groups. */
constexpr struct {
	uint32_t reads;
	uint32_t writes;
} kBdmaStalls[] = {
	{ NVDLA_BDMA_STATUS_GRP0_READ_STALL, NVDLA_BDMA_STATUS_GRP0_WRITE_STALL },
	{ NVDLA_BDMA_STATUS_GRP1_READ_STALL, NVDLA_BDMA_STATUS_GRP1_WRITE_STALL },
};

} /* namespace */

Scheduler::Scheduler(const Geometry &geometry) : geometry_(geometry), bdma_(geometry.bdmaSlots)
{
	for (size_t unit = 0; unit < unitCount; unit++)
		files_.emplace_back(static_cast<Unit>(unit), geometry);
	reset();
}

void Scheduler::reset()
{
	for (RegisterFile &file : files_)
		file.reset();
	/* The hardware takes a few cycles after reset to clear the convolution buffer; the model's
	 * is clear immediately. */
	file(Unit::Cdma)
		.latch(0, NVDLA_CDMA_S_CBUF_FLUSH_STATUS,
		       NVDLA_CDMA_S_CBUF_FLUSH_STATUS__FLUSH_DONE);
	bdma_.reset();
	sdpLut_ = {};
	cdpLut_ = {};
}

uint32_t Scheduler::doneBits(Unit unit)
{
	switch (unit) {
	case Unit::Sdp:
		return NVDLA_GLB_S_INTR_STATUS__SDP_DONE_STATUS0;
	case Unit::Cdp:
		return NVDLA_GLB_S_INTR_STATUS__CDP_DONE_STATUS0;
	case Unit::Pdp:
		return NVDLA_GLB_S_INTR_STATUS__PDP_DONE_STATUS0;
	case Unit::Bdma:
		return NVDLA_GLB_S_INTR_STATUS__BDMA_DONE_STATUS0;
	case Unit::Rbk:
		return NVDLA_GLB_S_INTR_STATUS__RUBIK_DONE_STATUS0;
	case Unit::Cdma:
		return NVDLA_GLB_S_INTR_STATUS__CDMA_DAT_DONE_STATUS0 |
		       NVDLA_GLB_S_INTR_STATUS__CDMA_WT_DONE_STATUS0;
	case Unit::Cacc:
		return NVDLA_GLB_S_INTR_STATUS__CACC_DONE_STATUS0;
	default:
		return 0;
	}
}

bool Scheduler::takesPart(Unit unit, Engine engine)
{
	return unitsOfEngines[index(engine)] >> index(unit) & 1;
}

std::unique_ptr<Job> Scheduler::begin(Engine engine)
{
	switch (engine) {
	case Engine::Bdma:
		return beginBdma();
	case Engine::Conv:
		skipIdleSdpRdma();
		return beginConv();
	case Engine::Sdp:
		skipIdleSdpRdma();
		return beginSdp();
	case Engine::Pdp:
		return beginPdp();
	case Engine::Cdp:
		if (ready(Unit::Cdp) && ready(Unit::CdpRdma))
			return take(Engine::Cdp, { Unit::Cdp, Unit::CdpRdma });
		break;
	case Engine::Rubik:
		if (ready(Unit::Rbk))
			return take(Engine::Rubik, { Unit::Rbk });
		break;
	}
	return nullptr;
}

/* An enabled SDP_RDMA of a flying SDP without operands to read is done at once. */
void Scheduler::skipIdleSdpRdma()
{
	constexpr struct {
		uint32_t address;
		uint32_t mask;
	} disables[] = {
		{ NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG,
		  NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__FLYING_MODE },
		{ NVDLA_SDP_RDMA_D_BRDMA_CFG, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DISABLE },
		{ NVDLA_SDP_RDMA_D_NRDMA_CFG, NVDLA_SDP_RDMA_D_NRDMA_CFG__NRDMA_DISABLE },
		{ NVDLA_SDP_RDMA_D_ERDMA_CFG, NVDLA_SDP_RDMA_D_ERDMA_CFG__ERDMA_DISABLE },
	};
	const auto readers = std::span(disables).first(std::size(disables) - !geometry_.hasY);
	while (ready(Unit::SdpRdma) && std::ranges::all_of(readers, [this](const auto &disable) {
		       return consumerField(Unit::SdpRdma, disable.address, disable.mask) != 0;
	       }))
		file(Unit::SdpRdma).finish();
}

std::unique_ptr<Job> Scheduler::beginBdma()
{
	const BdmaOp *op = bdma_.next();
	if (!op)
		return nullptr;
	auto job = std::make_unique<Job>(Job{ .engine = Engine::Bdma });
	bdma_.begin();
	job->bdma = *op;
	job->bdmaGroup = bdma_.group();
	return job;
}

std::unique_ptr<Job> Scheduler::beginConv()
{
	if (!std::ranges::all_of(convUnits, [this](Unit unit) { return ready(unit); }) ||
	    !sdpFlies())
		return nullptr;
	std::vector<Unit> units(std::begin(convUnits), std::end(convUnits));
	return addSdpPartners(units) ? take(Engine::Conv, units) : nullptr;
}

std::unique_ptr<Job> Scheduler::beginSdp()
{
	/* Checked before anything is allocated, because memory may be short. */
	if (!ready(Unit::Sdp) || sdpFlies())
		return nullptr;
	std::vector<Unit> units = { Unit::Sdp };
	return addSdpPartners(units) ? take(Engine::Sdp, units) : nullptr;
}

/* \return true if the ready SDP operation takes a convolution's output */
bool Scheduler::sdpFlies() const
{
	return consumerField(Unit::Sdp, NVDLA_SDP_D_FEATURE_MODE_CFG,
			     NVDLA_SDP_D_FEATURE_MODE_CFG__FLYING_MODE) ==
	       NVDLA_SDP_D_FEATURE_MODE_CFG__FLYING_MODE__ON;
}

/* \return true if the ready PDP operation is on the fly after SDP */
bool Scheduler::pdpFlies() const
{
	return consumerField(Unit::Pdp, NVDLA_PDP_D_OPERATION_MODE_CFG,
			     NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE) ==
	       NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE__ON_FLYING;
}

/* Adds SDP_RDMA and PDP if the ready SDP operation needs them; \return false if one is not
 * ready. */
bool Scheduler::addSdpPartners(std::vector<Unit> &units) const
{
	if (!sdpFlies() || readsOperands(file(Unit::Sdp), geometry_.hasY)) {
		if (!ready(Unit::SdpRdma))
			return false;
		units.push_back(Unit::SdpRdma);
	}

	if (consumerField(Unit::Sdp, NVDLA_SDP_D_FEATURE_MODE_CFG,
			  NVDLA_SDP_D_FEATURE_MODE_CFG__OUTPUT_DST) ==
	    NVDLA_SDP_D_FEATURE_MODE_CFG__OUTPUT_DST__MEM)
		return true;
	if (!ready(Unit::Pdp) || !pdpFlies())
		return false;
	units.push_back(Unit::Pdp);
	return true;
}

std::unique_ptr<Job> Scheduler::beginPdp()
{
	if (!ready(Unit::Pdp) || !ready(Unit::PdpRdma) || pdpFlies())
		return nullptr;
	return take(Engine::Pdp, { Unit::Pdp, Unit::PdpRdma });
}

uint32_t Scheduler::consumerField(Unit unit, uint32_t address, uint32_t mask) const
{
	return file(unit).consumerField(address, mask) >> std::countr_zero(mask);
}

std::unique_ptr<Job> Scheduler::take(Engine engine, const std::vector<Unit> &units)
{
	auto job = std::make_unique<Job>(Job{ .engine = engine });
	job->inputs.geometry = &geometry_;
	job->units.reserve(units.size());
	for (Unit unit : units) {
		const unsigned int group = file(unit).consumer();
		job->units.push_back({ unit, group });
		job->inputs.units |= 1U << index(unit);
		job->inputs.views[index(unit)] = file(unit).view(group);
		file(unit).begin();
	}
	if (job->inputs.has(Unit::Sdp))
		job->inputs.sdpLut = sdpLut_;
	if (job->inputs.has(Unit::Cdp))
		job->inputs.cdpLut = cdpLut_;
	return job;
}

/* Adds to BDMA's stall counters, which sum all operations of a group since its launch. */
void Scheduler::addBdmaStall(unsigned int group, const OperationTiming &timing)
{
	RegisterFile &bdma = file(Unit::Bdma);
	if (!(bdma.read(NVDLA_BDMA_CFG_STATUS) & NVDLA_BDMA_CFG_STATUS__STALL_COUNT_EN))
		return;
	const auto [reads, writes] = kBdmaStalls[group];
	bdma.latch(0, reads, registerValue(bdma.read(reads) + timing.readStall));
	bdma.latch(0, writes, registerValue(bdma.read(writes) + timing.writeStall));
}

const char *Scheduler::launchBdma(unsigned int group)
{
	const char *error = bdma_.launch(group);
	if (error)
		return error;
	file(Unit::Bdma).latch(0, kBdmaStalls[group].reads, 0);
	file(Unit::Bdma).latch(0, kBdmaStalls[group].writes, 0);
	return nullptr;
}

uint32_t Scheduler::finish(const Job &job, const OperationResult &result,
			   const OperationTiming &timing)
{
	if (job.engine == Engine::Bdma) {
		addBdmaStall(job.bdmaGroup, timing);
		const auto group = bdma_.finish();
		return group ? doneBits(Unit::Bdma) << *group : 0;
	}

	for (const RegisterUpdate &update : result.updates) {
		const auto use =
			std::ranges::find(job.units, update.address / NVDLA_UNIT_SIZE,
					  [](const UnitGroup &one) { return index(one.unit); });
		if (use != job.units.end())
			file(use->unit).latch(use->group, update.address, update.value);
	}
	uint32_t bits = 0;
	for (const UnitGroup &use : job.units) {
		file(use.unit).finish();
		bits |= doneBits(use.unit) << use.group;
	}
	return bits;
}

} /* namespace nvdla::sim */
