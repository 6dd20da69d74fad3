/* SPDX-License-Identifier: MIT */
#include "task_dice.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace nvdla::test
{

void TaskDice::addTask(TaskBuilder &builder)
{
	if (below(4) == 0)
		addOther(builder);
	else
		addConvolution(builder);
	if (below(3) == 0)
		moveOnChip(builder);
	for (unsigned int patches = below(3); patches > 0; patches--)
		patch(builder);
}

void TaskDice::cutExtents(TaskBuilder &builder)
{
	for (nvdla_task_extent &extent : builder.extents)
		if (flag())
			extent.size = 32 * (1 + below(320)) - below(4);
}

void TaskDice::addOther(TaskBuilder &builder)
{
	switch (below(6)) {
	case 0:
		builder.useLut(builder.addSdp());
		break;
	case 1:
		builder.addCdp();
		break;
	case 2:
		builder.addSplitPdp();
		break;
	case 3:
		builder.addSdpPdp();
		break;
	case 4:
		builder.addRubik(static_cast<nvdla_rubik_mode>(below(3)));
		break;
	default:
		builder.addBdma(3);
		break;
	}
}

void TaskDice::addConvolution(TaskBuilder &builder)
{
	switch (below(5)) {
	case 0:
		builder.addWinograd();
		break;
	case 1:
		builder.addImage(12);
		break;
	case 2:
		addSparse(builder);
		break;
	case 3:
		addReuse(builder);
		break;
	default:
		builder.addConv();
		vary(builder, 0);
		break;
	}
	setBanks(builder);
}

/** Weights that are fewer, or more, than the mask says, which is whatever is in memory */
void TaskDice::addSparse(TaskBuilder &builder)
{
	builder.addCompressed();
	builder.convCubes(0).weight_data.size = 128 * (1 + below(80));
	builder.conv(0).skip_weight_rls = flag();
}

/** A second convolution that uses what the first one kept, if that is legal */
void TaskDice::addReuse(TaskBuilder &builder)
{
	builder.addConv();
	vary(builder, 0);
	const size_t last = builder.addConv() - 1;
	std::copy_n(builder.operations.begin(), 2, &builder.operations[last]);
	std::copy_n(builder.surfaces.begin(), 2, &builder.surfaces[last]);
	builder.edge(1, last, NVDLA_EVENT_OP_COMPLETED);
	builder.conv(0).skip_data_rls = builder.conv(last).data_reuse = flag();
	builder.conv(0).skip_weight_rls = builder.conv(last).weight_reuse = flag();
	builder.conv(last).skip_data_rls = flag();
	builder.conv(last).skip_weight_rls = flag();
}

void TaskDice::vary(TaskBuilder &builder, size_t i)
{
	if (flag())
		builder.setChannels(i, 1 + below(300));
	if (flag())
		builder.setKernels(i, 1 + below(70));
	if (below(4) == 0)
		builder.conv(i).release = static_cast<uint16_t>(1 + below(8));
}

/** Often the same ones, so that pointers stay */
void TaskDice::setBanks(TaskBuilder &builder)
{
	const bool usual = below(3) > 0;
	const unsigned int data = usual ? 4 : 1 + below(15);
	const unsigned int weights = usual ? 6 : 1 + below(16 - data);

	for (size_t i = 0; i < builder.graph.size(); i++) {
		if (builder.graph[i].op_type != NVDLA_OP_CONV)
			continue;
		builder.conv(i).data_bank = static_cast<uint8_t>(data);
		builder.conv(i).weight_bank = static_cast<uint8_t>(weights);
	}
}

/** What an operation reads or writes; what it reads there, a task before this one has left */
void TaskDice::moveOnChip(TaskBuilder &builder)
{
	const size_t i = below(static_cast<unsigned int>(builder.graph.size()));
	nvdla_surface_desc &surface = builder.surfaces[i];
	auto move = [&](nvdla_data_cube &src, nvdla_data_cube &dst) {
		nvdla_data_cube &cube = flag() ? src : dst;
		if (cube.type != NVDLA_MEM_MC)
			return;
		cube.type = NVDLA_MEM_CV;
		cube.address = TaskBuilder::cvsram;
	};

	switch (builder.graph[i].op_type) {
	case NVDLA_OP_BDMA:
		surface.bdma.dst_type = NVDLA_MEM_CV;
		for (nvdla_bdma_transfer &transfer : surface.bdma.transfers)
			transfer.dst_address = TaskBuilder::cvsram;
		break;
	case NVDLA_OP_CONV:
		move(surface.conv.src_data, surface.conv.weight_data);
		break;
	case NVDLA_OP_SDP:
		move(surface.sdp.src_data, surface.sdp.dst_data);
		break;
	case NVDLA_OP_PDP:
		move(surface.pdp.src_data, surface.pdp.dst_data);
		break;
	case NVDLA_OP_CDP:
		move(surface.cdp.src_data, surface.cdp.dst_data);
		break;
	default:
		move(surface.rubik.src_data, surface.rubik.dst_data);
		break;
	}
}

void TaskDice::patch(TaskBuilder &builder)
{
	static constexpr uint16_t values[] = { 0, 1, 2, 3, 8, 32, 64, 128, 256, 0x8000 };
	const std::span<std::byte> bytes =
		flag() ? std::as_writable_bytes(std::span(builder.operations))
		       : std::as_writable_bytes(std::span(builder.surfaces));
	const uint16_t value = values[below(std::size(values))];

	std::memcpy(&bytes[below(static_cast<unsigned int>(bytes.size() - 1))], &value,
		    sizeof(value));
}

} /* namespace nvdla::test */
