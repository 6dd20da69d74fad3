/* SPDX-License-Identifier: MIT */
#include "graph/prediction/task_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <nvdla/hw/registers.h>

#include "bdma/bdma.h"
#include "cdp/cdp.h"
#include "conv/conv_engine.h"
#include "core/register_file.h"
#include "device/embedded/task_rules.h"
#include "device/refusal.h"
#include "loadable/cubes.h"
#include "pdp/pdp_op.h"
#include "rubik/rubik.h"
#include "sdp/sdp_op.h"

namespace nvdla::chip
{

namespace
{

using sim::OperationWork;
using sim::RegisterFile;
using sim::Unit;

constexpr const char *what = "predict";

/*
 * Returns the core that the loadable names. Files of other compilers name none; for them, returns
 * a core that can run the task.
 */
Result<const nvdla_variant *> coreOf(const Loadable &loadable, const DlaTask &task)
{
	if (loadable.variant.empty()) {
		const auto found =
			std::ranges::find_if(nvdla_variants, [&](const nvdla_variant &core) {
				return canRun(core, task);
			});
		return found == std::end(nvdla_variants) ? nvdla_variant_nv_full() : &*found;
	}
	return findCoreVariant(loadable.variant).map([](const CoreGeometry &core) {
		return &nvdla_variants[core.variant];
	});
}

Result<EngineTask> createTask(const nvdla_variant &core, const Loadable &loadable,
			      const DlaTask &task)
{
	/* The runtime rounds a memory's size up, so the last range of a memory grows, too. */
	DlaTask placed = task;
	for (TaskAddress &address : placed.addresses) {
		const auto *memory = loadable.memory(address.memory);
		if (memory && address.offset + address.size >= memory->size)
			address.size = alignUp(memory->size, memoryGranule) - address.offset;
	}
	auto checked = checkTask(core, placed, [&](uint16_t index) {
		const auto *memory = loadable.memory(index);
		return memory && memory->domain == MemoryDomain::Sram;
	});

	if (checked)
		return std::move(*checked);
	if (checked.error().noMemory)
		return fail(ErrorCode::NoMemory, what, "", "the host has no memory left");
	const nvdla_refusal &refusal = checked.error().error;
	return fail(ErrorCode::InvalidArgument, what,
		    fmt::format("task {} operation {}", task.id, refusal.error.operation),
		    describeRefusal(refusal));
}

/** The core's registers after the register writes of operations, by unit of the core */
class Registers
{
public:
	explicit Registers(const sim::Geometry &core)
	{
		for (size_t unit = 0; unit < sim::unitCount; unit++)
			files_.emplace_back(static_cast<Unit>(unit), core);
	}

	void write(const nvdla_reg_write &write)
	{
		const size_t unit = write.reg / NVDLA_UNIT_SIZE;
		if (unit < files_.size())
			files_[unit].write(write.reg, write.value);
	}

	sim::RegisterView operator[](Unit unit) const { return files_[sim::index(unit)].view(0); }

private:
	std::vector<RegisterFile> files_;
};

/*
 * Computes the work of a convolution. \a buffer models the convolution buffer, with the data that
 * earlier convolutions have left in it.
 */
OperationWork convolution(const Registers &registers, sim::Cbuf &buffer)
{
	const auto cdma = registers[Unit::Cdma];
	const auto csc = registers[Unit::Csc];
	const auto cmacA = registers[Unit::CmacA];
	const auto cmacB = registers[Unit::CmacB];
	const auto cacc = registers[Unit::Cacc];
	const sim::ConvOp op =
		sim::decodeConv({ cdma, csc, cmacA, cmacB, cacc }, buffer.geometry());

	const sim::Kept kept = buffer.begin(op);
	buffer.end(op);
	return { .conv = sim::convWork(op, kept) };
}

/* The transfers of one BDMA operation run one after another; their work is added up. */
OperationWork copies(const nvdla_task *task, uint32_t operation)
{
	Registers registers(sim::nvFull); /* no other core has BDMA */
	sim::MoveWork all = { .bdma = true };
	std::optional<sim::BdmaOp> before;

	for (uint32_t i = 0; i < nvdla_task_num_writes(task, operation); i++) {
		const nvdla_reg_write write = nvdla_task_write(task, operation, i);
		registers.write(write);
		if (write.reg != NVDLA_BDMA_CFG_OP)
			continue;
		sim::BdmaOp op = sim::decodeBdma(registers[Unit::Bdma]);
		if (before)
			op.follow(*before);
		const sim::MoveWork one = sim::bdmaWork(op);
		all.cycles += one.cycles;
		all.traffic += one.traffic;
		before = op;
	}
	return { .move = all };
}

OperationWork workOf(const nvdla_task *task, uint32_t operation, sim::Cbuf &buffer)
{
	const uint32_t type = nvdla_task_op_type(task, operation);
	const sim::Geometry &core = buffer.geometry();
	Registers registers(core);

	if (type == NVDLA_OP_BDMA)
		return copies(task, operation);
	for (uint32_t i = 0; i < nvdla_task_num_writes(task, operation); i++)
		registers.write(nvdla_task_write(task, operation, i));
	switch (type) {
	case NVDLA_OP_CONV:
		return convolution(registers, buffer);
	case NVDLA_OP_SDP:
		return { .sdp = sim::sdpWork(sim::decodeSdp(registers[Unit::Sdp],
							    registers[Unit::SdpRdma], core)) };
	case NVDLA_OP_PDP:
		return { .pdp = sim::pdpWork(sim::decodePdp(registers[Unit::Pdp],
							    registers[Unit::PdpRdma], core)) };
	case NVDLA_OP_CDP:
		return { .cdp = sim::cdpWork(sim::decodeCdp(registers[Unit::Cdp],
							    registers[Unit::CdpRdma], core)) };
	case NVDLA_OP_RUBIK:
		return { .move = sim::rubikWork(sim::decodeRubik(registers[Unit::Rbk])) };
	default:
		return {};
	}
}

/** Joins operations that pass data on the fly, and brings the joined ones into a possible order */
class Fusion
{
public:
	Fusion(const DlaTask &task, const nvdla_task *program, const sim::Geometry &core)
		: task_(task), program_(program), buffer_(core)
	{
	}

	std::vector<FusedWork> run()
	{
		for (size_t i = 0; i < task_.graph.size(); i++)
			head_.push_back(headOf(i));
		collectEdges();
		while (ordered_.size() < task_.graph.size() && orderNext())
			;
		return std::move(works_);
	}

private:
	/* The first operation of the chain that \a operation is in. */
	size_t headOf(size_t operation) const
	{
		for (size_t steps = 0; steps < NVDLA_NUM_OP_TYPES; steps++)
			operation = streamProducer(task_, operation).value_or(operation);
		return operation;
	}

	void collectEdges()
	{
		for (size_t i = 0; i < task_.graph.size(); i++)
			for (const nvdla_consumer &edge : task_.graph[i].consumers)
				if (edge.index >= 0 && edge.event == NVDLA_EVENT_OP_COMPLETED &&
				    head_[static_cast<size_t>(edge.index)] != head_[i])
					before_[head_[static_cast<size_t>(edge.index)]].insert(
						head_[i]);
	}

	bool ready(size_t head) const
	{
		const auto before = before_.find(head);
		return before == before_.end() ||
		       std::ranges::all_of(before->second,
					   [this](size_t other) { return place_.contains(other); });
	}

	/* Appends a chain whose predecessors are all in order. There is one, because the driver has
	 * checked that the edges form no cycle. */
	bool orderNext()
	{
		for (size_t i = 0; i < task_.graph.size(); i++) {
			if (head_[i] != i || place_.contains(i) || !ready(i))
				continue;
			append(i);
			return true;
		}
		return false;
	}

	void append(size_t head)
	{
		FusedWork fused;

		for (size_t i = 0; i < task_.graph.size(); i++) {
			if (head_[i] != head)
				continue;
			fused.members.push_back(i);
			fused.work.merge(workOf(program_, static_cast<uint32_t>(i), buffer_));
			ordered_.insert(i);
		}
		std::ranges::stable_sort(fused.members, {}, [this](size_t member) {
			return task_.graph[member].op_type;
		});
		for (const size_t other : before_[head])
			fused.after.push_back(place_.at(other));
		place_[head] = works_.size();
		works_.push_back(std::move(fused));
	}

	const DlaTask &task_;
	const nvdla_task *program_;
	sim::Cbuf buffer_;
	std::vector<size_t> head_;		    /* first operation of each operation's chain */
	std::map<size_t, std::set<size_t>> before_; /* by head: heads that it waits for */
	std::map<size_t, size_t> place_;	    /* by head: index of its chain in works_ */
	std::set<size_t> ordered_;
	std::vector<FusedWork> works_;
};

} /* namespace */

Result<std::vector<FusedWork>> taskWork(const Loadable &loadable, const DlaTask &task)
{
	auto core = coreOf(loadable, task);
	if (!core)
		return forward(core);
	auto program = createTask(**core, loadable, task);
	if (!program)
		return forward(program);
	return Fusion(task, program->get(), *sim::findGeometry((*core)->name)).run();
}

} /* namespace nvdla::chip */
