/* SPDX-License-Identifier: MIT */
/*
 * The configurations of the core: what the engine says of each is what the model has, and the
 * limits of its rules follow.
 */
#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/nvdla_test_rules.h>

#include <nvdla/hw/registers.h>
#include <user/nvdla_engine.h>

#include "core/ram_memory.h"
#include "device/refusal.h"
#include "modelled_core.h"
#include "task_builder.h"

namespace nvdla::test
{

namespace
{

constexpr std::array kChannels = { 8U, 32U, 40U, 64U, 120U };

/** \brief Entries of the buffer that a line of 8 columns takes, by its channels */
struct Lines {
	const char *name;
	std::array<uint16_t, kChannels.size()> entries;
};

/* In the order of the variants. */
constexpr Lines kLines[] = {
	{ "nv_full", { 2, 2, 4, 4, 8 } },
	{ "nv_small", { 8, 32, 40, 64, 120 } },
	{ "nv_large", { 4, 4, 8, 8, 16 } },
	{ "nv_small_256", { 2, 8, 10, 16, 32 } },
	{ "nv_small_256_full", { 2, 8, 10, 16, 32 } },
};

/** \brief A task for one of the cores, of cubes in its atoms */
class OfVariant : public ::testing::TestWithParam<uint32_t>
{
protected:
	OfVariant() { builder_.variant = variant_; }

	const sim::Geometry &geometry() const { return *sim::findGeometry(variant_.name); }

	/** \brief Lay all cubes in memory out in atoms of the core */
	void repack()
	{
		for (size_t i = 0; i < builder_.graph.size(); i++) {
			nvdla_conv_surface_desc &conv = builder_.surfaces[i].conv;
			nvdla_sdp_surface_desc &sdp = builder_.surfaces[i].sdp;
			switch (builder_.graph[i].op_type) {
			case NVDLA_OP_CONV:
				conv.weight_data.size = weightBytes(i);
				repack(conv.src_data);
				repack(conv.dst_data);
				break;
			case NVDLA_OP_PDP:
				repack(builder_.surfaces[i].pdp.src_data);
				repack(builder_.surfaces[i].pdp.dst_data);
				break;
			case NVDLA_OP_SDP:
				for (nvdla_data_cube *cube :
				     { &sdp.src_data, &sdp.x1_data, &sdp.y_data, &sdp.dst_data })
					repack(*cube);
				break;
			default:
				break;
			}
		}
	}

	/** \brief An 8x8 convolution with 3x3 kernels, and SDP behind it */
	nvdla_conv_op_desc &addConv(uint32_t channels)
	{
		const auto place = std::ranges::find(kChannels, channels) - kChannels.begin();
		builder_.addConv();
		builder_.setChannels(0, channels);
		builder_.conv(0).entry_per_slice =
			kLines[GetParam()].entries[static_cast<size_t>(place)];
		builder_.conv(0).data_bank = 2;
		builder_.conv(0).weight_bank = 6;
		repack();
		return builder_.conv(0);
	}

	void expectRefusal(nvdla_test_rule rule)
	{
		const Created created = builder_.create();
		EXPECT_EQ(created.result, -EINVAL);
		ASSERT_TRUE(created.error.rule);
		EXPECT_STREQ(created.error.rule, nvdla_test_rule_text[rule])
			<< describeRefusal(created.error);
	}

	void expectAccepted()
	{
		const Created created = builder_.create();
		EXPECT_EQ(created.result, 0) << describeRefusal(created.error);
	}

	/** \brief The same if the core can, and a refusal by \a rule if it cannot */
	void expectAcceptedIf(bool can, nvdla_test_rule rule)
	{
		if (can)
			expectAccepted();
		else
			expectRefusal(rule);
	}

	const nvdla_variant &variant_ = nvdla_variants[GetParam()];
	TaskBuilder builder_;

private:
	/* Whole entries. */
	uint32_t weightBytes(size_t i) const
	{
		const uint32_t bytes = builder_.operations[i].conv.bytes_per_kernel *
				       builder_.surfaces[i].conv.dst_data.channel;
		const uint32_t entry = variant_.cbuf_entry_bytes;
		return (bytes + entry - 1) / entry * entry;
	}

	void repack(nvdla_data_cube &cube) const
	{
		cube.line_stride = cube.width * variant_.atom_bytes;
		cube.surf_stride = cube.line_stride * cube.height;
	}
};

} /* namespace */

TEST_P(OfVariant, IsWhatTheModelHas)
{
	const sim::Geometry &model = geometry();

	EXPECT_EQ(variant_.id, GetParam());
	EXPECT_EQ(variant_.id, model.pciVariant);
	EXPECT_EQ(variant_.atom_bytes, model.atomBytes);
	EXPECT_EQ(variant_.mac_channels, model.macChannels);
	EXPECT_EQ(variant_.cbuf_banks, model.banks);
	EXPECT_EQ(variant_.cbuf_bank_entries, model.bankEntries);
	EXPECT_EQ(variant_.cbuf_entry_bytes, model.entryBytes);
	EXPECT_EQ(variant_.weight_size_alignment, model.entryBytes);
	EXPECT_EQ(variant_.precisions, model.precisions);
	EXPECT_EQ(variant_.max_batch, model.mostBatches);
	EXPECT_EQ(variant_.has_winograd, model.hasWinograd);
	EXPECT_EQ(variant_.has_weight_compression, model.hasCompressedWeights);
	EXPECT_EQ(variant_.has_sdp_y, model.hasY);
	EXPECT_EQ(variant_.bdma_slots, model.bdmaSlots);
	EXPECT_EQ(variant_.has_cvsram, model.has(sim::Unit::Cvif));
	EXPECT_EQ((variant_.engines >> NVDLA_OP_BDMA & 1) != 0, model.has(sim::Unit::Bdma));
	EXPECT_EQ((variant_.engines >> NVDLA_OP_RUBIK & 1) != 0, model.has(sim::Unit::Rbk));
	for (uint32_t unit = 0; unit < NVDLA_NUM_UNITS; unit++) {
		const uint32_t reg = unit * NVDLA_UNIT_SIZE + 0x14;
		EXPECT_EQ(model.nameOf(nvdla_variant_register(&variant_, reg)), reg) << unit;
	}
}

TEST_P(OfVariant, AConvolutionOfItsLayoutRuns)
{
	for (const uint32_t channels : kChannels) {
		sim::SparseMemory dram;
		ModelledCore core(dram, geometry());
		builder_ = {};
		builder_.variant = variant_;
		nvdla_conv_op_desc &op = addConv(channels);

		const Created created = builder_.create();
		ASSERT_EQ(created.result, 0) << channels << ": " << describeRefusal(created.error);
		EXPECT_TRUE(core.run(created.task.get()));
		EXPECT_EQ(core.takeErrors(), std::vector<std::string>());
		op.entry_per_slice++;
		expectRefusal(NVDLA_TEST_RULE_CONV_ENTRIES);
		op.entry_per_slice--;
		builder_.convCubes(0).weight_data.size += variant_.cbuf_entry_bytes;
		expectRefusal(NVDLA_TEST_RULE_CONV_WEIGHT_SIZE);
	}
}

TEST_P(OfVariant, ItsBufferIsTheLimitOfBanks)
{
	nvdla_conv_op_desc &op = addConv(32);

	op.weight_bank = static_cast<__u8>(variant_.cbuf_banks - op.data_bank);
	expectAccepted();
	op.weight_bank++;
	expectRefusal(NVDLA_TEST_RULE_CONV_BANKS);

	/* As many lines as the bank has room for, and one more. */
	const uint32_t lines = variant_.cbuf_bank_entries / op.entry_per_slice;
	op.weight_bank = 1;
	op.data_bank = 1;
	for (const uint32_t height : { lines, lines + 1 }) {
		nvdla_conv_surface_desc &cubes = builder_.convCubes(0);
		op.input_height_csc = op.release = static_cast<__u16>(height);
		op.input_height_cmac = static_cast<__u16>(height);
		cubes.src_data.height = cubes.dst_data.height = static_cast<__u16>(height);
		builder_.sdpCubes(1).src_data.height = static_cast<__u16>(height);
		builder_.sdpCubes(1).dst_data.height = static_cast<__u16>(height);
		repack();
		expectAcceptedIf(height == lines, NVDLA_TEST_RULE_CONV_DATA_BANKS);
	}
}

TEST_P(OfVariant, ItsAtomIsTheUnitOfStridesAndAddresses)
{
	addConv(32);
	nvdla_data_cube &cube = builder_.convCubes(0).src_data;
	cube.line_stride += variant_.atom_bytes;
	cube.surf_stride = cube.line_stride * cube.height;
	expectAccepted();
	cube.line_stride += variant_.atom_bytes / 2;
	expectRefusal(NVDLA_TEST_RULE_CUBE_STRIDE_ALIGNMENT);
	repack();
	cube.offset = variant_.atom_bytes;
	expectAccepted();
	cube.offset = variant_.atom_bytes / 2;
	expectRefusal(NVDLA_TEST_RULE_CUBE_ALIGNMENT);
	cube.offset = 0;
	builder_.extents[0].dma_addr = uint64_t{ 1 } << 32;
	expectAcceptedIf(variant_.address_bits > 32, NVDLA_TEST_RULE_CUBE_ADDRESS_BITS);
}

TEST_P(OfVariant, BatchesEndAtItsLargest)
{
	nvdla_conv_op_desc &op = addConv(32);

	op.batch = 2;
	op.batch_stride = builder_.sdp(1).batch_stride = 64 * 128;
	builder_.sdp(1).batch_num = 2;
	expectAcceptedIf(variant_.max_batch > 1, NVDLA_TEST_RULE_CONV_BATCH);
	op.batch = 1;
	expectRefusal(variant_.max_batch > 1 ? NVDLA_TEST_RULE_FUSED_BATCH
					     : NVDLA_TEST_RULE_SDP_BATCH);
}

TEST_P(OfVariant, PoolingHasTheSameColumnsInAll)
{
	builder_.addPdp();
	for (const uint32_t columns : { 128u, 129u }) {
		builder_.pdpCubes(0).src_data.width = static_cast<__u16>(2 * columns);
		builder_.pdpCubes(0).dst_data.width = static_cast<__u16>(columns);
		repack();
		expectAcceptedIf(columns == 128, NVDLA_TEST_RULE_PDP_LINE_BUFFER);
	}
}

TEST_P(OfVariant, WhatItLacksIsRefusedByName)
{
	const auto afresh = [this] {
		builder_ = {};
		builder_.variant = variant_;
	};
	const bool isFull = variant_.id == nvdla_variant_nv_full()->id;

	builder_.addBdma();
	expectAcceptedIf(isFull, NVDLA_TEST_RULE_NODE_ENGINE);
	afresh();
	builder_.addRubik(NVDLA_RUBIK_MERGE);
	expectAcceptedIf(isFull, NVDLA_TEST_RULE_NODE_ENGINE);
	afresh();
	builder_.addWinograd();
	expectAcceptedIf(isFull, NVDLA_TEST_RULE_CONV_NO_WINOGRAD);
	afresh();
	builder_.addCompressed();
	expectAcceptedIf(isFull, NVDLA_TEST_RULE_CONV_NO_COMPRESSION);
	afresh();
	addConv(32);
	builder_.conv(0).in_precision = builder_.conv(0).out_precision = NVDLA_PRECISION_FP16;
	expectRefusal(isFull ? NVDLA_TEST_RULE_CONV_ENTRIES : NVDLA_TEST_RULE_CONV_PRECISION);
	afresh();
	builder_.useLut(builder_.addSdp());
	repack();
	expectAcceptedIf(variant_.has_sdp_y, NVDLA_TEST_RULE_SDP_NO_Y);
	afresh();
	builder_.addPdp();
	repack();
	builder_.pdpCubes(0).src_data.type = NVDLA_MEM_CV;
	builder_.pdpCubes(0).src_data.address = TaskBuilder::cvsram;
	expectAcceptedIf(variant_.has_cvsram, NVDLA_TEST_RULE_CUBE_NO_CVSRAM);
}

/* After the scrub a convolution computes as on a new core, whichever banks were used before it. */
TEST_P(OfVariant, TheScrubRunsAfterAnyBanks)
{
	constexpr uint64_t zeroes = 0x90000000;
	const nvdla_task_extent extent = { zeroes, nvdla_scrub_memory_size(&variant_), NVDLA_MEM_MC,
					   true };
	nvdla_scrub *scrub = nullptr;
	ASSERT_EQ(nvdla_scrub_create(&variant_, &extent, &scrub), 0);
	addConv(32);
	const auto runs = [&](ModelledCore &core) {
		const Created created = builder_.create();
		EXPECT_EQ(created.result, 0) << describeRefusal(created.error);
		return core.run(created.task.get());
	};
	const auto bytesOf = [&](sim::Memory &dram) {
		std::vector<std::byte> bytes(8 * 8 * 32);
		dram.read(TaskBuilder::address(2), bytes);
		return bytes;
	};
	const auto fill = [](sim::Memory &dram) {
		std::vector<std::byte> bytes(1 << 16);
		for (size_t i = 0; i < bytes.size(); i++)
			bytes[i] = static_cast<std::byte>(i * i % 7);
		dram.write(TaskBuilder::address(0), bytes);
		dram.write(TaskBuilder::address(1), bytes);
	};

	for (uint32_t banks = 1; banks < variant_.cbuf_banks; banks++) {
		sim::SparseMemory dram, other;
		ModelledCore core(dram, geometry()), fresh(other, geometry());
		fill(dram);
		fill(other);
		builder_.conv(0).data_bank = static_cast<__u8>(banks);
		builder_.conv(0).weight_bank = static_cast<__u8>(variant_.cbuf_banks - banks);
		EXPECT_TRUE(runs(core)) << banks;
		nvdla_task *task = nvdla_scrub_task(scrub, core.sequencer());
		ASSERT_NE(task, nullptr);
		EXPECT_TRUE(core.run(task)) << banks;
		dram.write(TaskBuilder::address(2), std::vector<std::byte>(8 * 8 * 32));
		EXPECT_TRUE(runs(core));
		EXPECT_TRUE(runs(fresh));
		EXPECT_EQ(bytesOf(dram), bytesOf(other)) << banks;
		EXPECT_EQ(core.takeErrors(), std::vector<std::string>());
	}
	nvdla_scrub_destroy(scrub);
}

INSTANTIATE_TEST_SUITE_P(All, OfVariant, ::testing::Range(0u, uint32_t{ NVDLA_NUM_VARIANTS }),
			 [](const auto &info) { return std::string(kLines[info.param].name); });

} /* namespace nvdla::test */
