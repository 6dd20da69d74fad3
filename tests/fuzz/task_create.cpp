/* SPDX-License-Identifier: MIT */
#include "task_create.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <nvdla/hw/registers.h>

#include "recording_core.h"
#include "task_builder.h"

namespace nvdla::fuzz
{

namespace
{

using test::TaskBuilder;

constexpr std::array templates = {
	+[](TaskBuilder &b) { b.addConv(); },
	+[](TaskBuilder &b) { b.addWinograd(); },
	+[](TaskBuilder &b) { b.addCompressed(); },
	+[](TaskBuilder &b) { b.addImage(12); },
	+[](TaskBuilder &b) { b.addImage(28); },
	+[](TaskBuilder &b) { b.useLut(b.addSdp()); },
	+[](TaskBuilder &b) { b.addSplitPdp(); },
	+[](TaskBuilder &b) { b.addSdpPdp(); },
	+[](TaskBuilder &b) { b.addCdp(); },
	+[](TaskBuilder &b) { b.addRubik(NVDLA_RUBIK_CONTRACT); },
	+[](TaskBuilder &b) { b.addRubik(NVDLA_RUBIK_SPLIT); },
	+[](TaskBuilder &b) { b.addRubik(NVDLA_RUBIK_MERGE); },
	+[](TaskBuilder &b) { b.addBdma(3); },
	+[](TaskBuilder &b) {
		b.addConv();
		b.addConv();
		b.addPdp();
		b.addBdma(2);
		b.edge(0, 2, NVDLA_EVENT_OP_PROGRAMMED);
		b.edge(1, 3, NVDLA_EVENT_OP_PROGRAMMED);
		b.edge(3, 4, NVDLA_EVENT_OP_COMPLETED);
		b.edge(4, 5, NVDLA_EVENT_OP_COMPLETED);
	},
};

/* Registers that hold an address: high half, low half. */
constexpr struct {
	uint32_t high;
	uint32_t low;
} addressRegisters[] = {
	{ NVDLA_BDMA_CFG_SRC_ADDR_HIGH, NVDLA_BDMA_CFG_SRC_ADDR_LOW },
	{ NVDLA_BDMA_CFG_DST_ADDR_HIGH, NVDLA_BDMA_CFG_DST_ADDR_LOW },
	{ NVDLA_CDMA_D_DAIN_ADDR_HIGH_0, NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
	{ NVDLA_CDMA_D_DAIN_ADDR_HIGH_1, NVDLA_CDMA_D_DAIN_ADDR_LOW_1 },
	{ NVDLA_CDMA_D_WEIGHT_ADDR_HIGH, NVDLA_CDMA_D_WEIGHT_ADDR_LOW },
	{ NVDLA_CDMA_D_WMB_ADDR_HIGH, NVDLA_CDMA_D_WMB_ADDR_LOW },
	{ NVDLA_CDMA_D_WGS_ADDR_HIGH, NVDLA_CDMA_D_WGS_ADDR_LOW },
	{ NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_HIGH, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW },
	{ NVDLA_SDP_RDMA_D_BS_BASE_ADDR_HIGH, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW },
	{ NVDLA_SDP_RDMA_D_BN_BASE_ADDR_HIGH, NVDLA_SDP_RDMA_D_BN_BASE_ADDR_LOW },
	{ NVDLA_SDP_RDMA_D_EW_BASE_ADDR_HIGH, NVDLA_SDP_RDMA_D_EW_BASE_ADDR_LOW },
	{ NVDLA_SDP_D_DST_BASE_ADDR_HIGH, NVDLA_SDP_D_DST_BASE_ADDR_LOW },
	{ NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_HIGH, NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW },
	{ NVDLA_PDP_D_SRC_BASE_ADDR_HIGH, NVDLA_PDP_D_SRC_BASE_ADDR_LOW },
	{ NVDLA_PDP_D_DST_BASE_ADDR_HIGH, NVDLA_PDP_D_DST_BASE_ADDR_LOW },
	{ NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_HIGH, NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_LOW },
	{ NVDLA_CDP_D_DST_BASE_ADDR_HIGH, NVDLA_CDP_D_DST_BASE_ADDR_LOW },
	{ NVDLA_RBK_D_DAIN_ADDR_HIGH, NVDLA_RBK_D_DAIN_ADDR_LOW },
	{ NVDLA_RBK_D_DAOUT_ADDR_HIGH, NVDLA_RBK_D_DAOUT_ADDR_LOW },
};

[[noreturn]] void fail(const char *what)
{
	std::fprintf(stderr, "task_create: %s\n", what);
	std::abort();
}

template<typename T>
void apply(std::vector<T> &array, const Patch &patch)
{
	if (array.empty())
		return;

	auto *bytes = reinterpret_cast<uint8_t *>(array.data());
	const size_t place = patch.place % (array.size() * sizeof(T) - 1);
	uint16_t value;
	std::memcpy(&value, bytes + place, sizeof(value));
	switch (patch.kind % 3) {
	case 0:
		value = patch.value;
		break;
	case 1:
		value = static_cast<uint16_t>(value + patch.value);
		break;
	default:
		value ^= patch.value;
		break;
	}
	std::memcpy(bytes + place, &value, sizeof(value));
}

void applyTo(TaskBuilder &builder, const Patch &patch)
{
	switch (patch.array % 5) {
	case 0:
		return apply(builder.graph, patch);
	case 1:
		return apply(builder.operations, patch);
	case 2:
		return apply(builder.surfaces, patch);
	case 3:
		return apply(builder.luts, patch);
	default: {
		/* A caller resolves extents itself: only sizes come from outside. */
		nvdla_task_extent &extent = builder.extents[patch.place % builder.extents.size()];
		extent.size = patch.value;
		extent.present = patch.kind % 3 != 2;
	}
	}
}

bool inside(const TaskBuilder &builder, uint64_t address)
{
	return std::any_of(builder.extents.begin(), builder.extents.end(),
			   [address](const nvdla_task_extent &extent) {
				   return extent.present && address >= extent.dma_addr &&
					  address - extent.dma_addr < extent.size;
			   });
}

void checkAddresses(const TaskBuilder &builder, const test::RecordingCore &core)
{
	for (const auto &registers : addressRegisters) {
		const auto high = core.writes(registers.high);
		const auto low = core.writes(registers.low);
		const size_t count = std::min(high.size(), low.size());
		/* Only the first write of each group is known to be complete. */
		for (size_t i = 0; i < std::min<size_t>(count, 1); i++) {
			const uint64_t address = uint64_t{ high[i] } << 32 | low[i];
			if (address != 0 && !inside(builder, address))
				fail("an address register points outside the task's memory");
		}
	}
}

} /* namespace */

bool createTask(std::span<const uint8_t> input)
{
	if (input.empty())
		return false;

	TaskBuilder builder;
	templates[input[0] % templates.size()](builder);
	input = input.subspan(1);
	for (size_t i = 0; i < maximumPatches && input.size() >= sizeof(Patch); i++) {
		Patch patch;
		std::memcpy(&patch, input.data(), sizeof(patch));
		applyTo(builder, patch);
		input = input.subspan(sizeof(patch));
	}

	const test::Created created = builder.create();
	if (created.result != 0) {
		if (!created.error.rule ||
		    created.error.error.member_of == DRM_NVDLA_STRUCT_NONE)
			fail("refused without a reason");
		return false;
	}

	test::SequencerFixture fixture;
	if (fixture.start(created.task.get()) != 0)
		fail("an accepted task does not start");
	/* A core that completes whatever runs, in order, needs one round per operation. */
	for (size_t round = 0; fixture.done.empty() && round <= builder.graph.size(); round++)
		fixture.irq(~0U);
	if (fixture.done.empty())
		fail("an accepted task does not end");
	checkAddresses(builder, fixture.core);
	return true;
}

} /* namespace nvdla::fuzz */
