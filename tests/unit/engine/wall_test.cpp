/* SPDX-License-Identifier: MIT */
/*
 * The wall between the core and memory: whatever a descriptor says, the registers that are made of
 * it reach no byte that the engine's check did not ask for.
 *
 * Every pair of members of every operation takes every pair of values from the borders of their
 * types and of the hardware. WALL_DESCRIPTORS says how many descriptors are tried; those of the
 * suite are a sample of the pairs.
 */
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "task_builder.h"
#include "wall_oracle.h"

namespace nvdla::test
{

namespace
{

struct Member {
	size_t offset; /**< in a struct Descriptors */
	size_t size;
};

struct Descriptors {
	nvdla_graph_node node;
	nvdla_operation_desc operation;
	nvdla_surface_desc surface;
};

template<typename Part>
Member at(const Descriptors &in, const Part &part)
{
	return { static_cast<size_t>(reinterpret_cast<const char *>(&part) -
				     reinterpret_cast<const char *>(&in)),
		 sizeof(part) };
}

template<typename... Parts>
void add(std::vector<Member> &members, const Descriptors &in, const Parts &...parts)
{
	(members.push_back(at(in, parts)), ...);
}

void addCubes(std::vector<Member> &members, const Descriptors &in,
	      std::initializer_list<const nvdla_data_cube *> cubes)
{
	for (const nvdla_data_cube *cube : cubes)
		add(members, in, cube->type, cube->address, cube->offset, cube->size, cube->width,
		    cube->height, cube->channel, cube->line_stride, cube->surf_stride,
		    cube->plane_stride);
}

void addConvMembers(std::vector<Member> &members, const Descriptors &d)
{
	const nvdla_conv_op_desc &op = d.operation.conv;
	const nvdla_conv_surface_desc &s = d.surface.conv;
	add(members, d, op.conv_mode, op.data_reuse, op.weight_reuse, op.skip_data_rls,
	    op.skip_weight_rls, op.entry_per_slice, op.data_format, op.pixel_mapping,
	    op.fetch_grain, op.batch, op.weight_format, op.data_bank, op.weight_bank,
	    op.batch_stride, op.post_extension, op.pixel_override, op.release, op.input_width_csc,
	    op.input_height_csc, op.input_channel_csc, op.kernel_width_csc, op.kernel_height_csc,
	    op.kernel_channel_csc, op.input_width_cmac, op.input_height_cmac, op.bytes_per_kernel,
	    op.conv_stride_x, op.conv_stride_y, op.pad_x_left, op.pad_x_right, op.pad_y_top,
	    op.pad_y_bottom, op.dilation_x, op.dilation_y, op.pra_truncate, op.in_precision,
	    op.out_precision, d.operation.extended.pixel_x_offset, s.offset_u, s.in_line_uv_stride);
	addCubes(members, d,
		 { &s.weight_data, &s.wmb_data, &s.wgs_data, &s.src_data, &s.dst_data });
}

void addSdpMembers(std::vector<Member> &members, const Descriptors &d)
{
	const nvdla_sdp_op_desc &op = d.operation.sdp;
	const nvdla_sdp_surface_desc &s = d.surface.sdp;
	add(members, d, op.src_precision, op.dst_precision, op.conv_mode, op.batch_num,
	    op.batch_stride);
	for (const nvdla_sdp_op *unit : { &op.x1_op, &op.x2_op, &op.y_op })
		add(members, d, unit->enable, unit->alu_type, unit->type, unit->mode, unit->act,
		    unit->precision, unit->alu_cvt.enable, unit->mul_cvt.enable);
	addCubes(members, d, { &s.src_data, &s.x1_data, &s.x2_data, &s.y_data, &s.dst_data });
}

std::vector<Member> membersOf(nvdla_op_type engine, const Descriptors &d)
{
	std::vector<Member> members;
	const nvdla_pdp_op_desc &pdp = d.operation.pdp;
	const nvdla_rubik_op_desc &rubik = d.operation.rubik;
	const nvdla_cdp_op_desc &cdp = d.operation.cdp;

	switch (engine) {
	case NVDLA_OP_BDMA:
		add(members, d, d.surface.bdma.src_type, d.surface.bdma.dst_type,
		    d.surface.bdma.num_transfers);
		for (size_t i : { 0, 1 }) {
			const nvdla_bdma_transfer &t = d.surface.bdma.transfers[i];
			add(members, d, t.src_address, t.dst_address, t.line_size, t.line_repeat,
			    t.src_line, t.dst_line, t.surf_repeat, t.src_surf, t.dst_surf);
		}
		return members;
	case NVDLA_OP_CONV:
		addConvMembers(members, d);
		return members;
	case NVDLA_OP_SDP:
		addSdpMembers(members, d);
		return members;
	case NVDLA_OP_PDP:
		add(members, d, pdp.partial_in_width_first, pdp.partial_in_width_mid,
		    pdp.partial_in_width_last, pdp.partial_width_first, pdp.partial_width_mid,
		    pdp.partial_width_last, pdp.split_num, pdp.pool_mode, pdp.pool_width,
		    pdp.pool_height, pdp.stride_x, pdp.stride_y, pdp.pad_left, pdp.pad_right,
		    pdp.pad_top, pdp.pad_bottom, pdp.precision);
		break;
	case NVDLA_OP_CDP:
		add(members, d, cdp.in_precision, cdp.out_precision, cdp.local_size, cdp.lut_index);
		break;
	case NVDLA_OP_RUBIK:
		add(members, d, rubik.mode, rubik.precision, rubik.stride_x, rubik.stride_y);
		break;
	}
	addCubes(members, d, { &d.surface.pdp.src_data, &d.surface.pdp.dst_data });
	return members;
}

/* Borders of types and of fields; those from the end of the list on depend on what was there. */
constexpr uint64_t borders[] = {
	0,
	1,
	2,
	3,
	4,
	7,
	8,
	9,
	15,
	16,
	17,
	31,
	32,
	33,
	63,
	64,
	65,
	127,
	128,
	255,
	256,
	1024,
	4096,
	8191,
	8192,
	8193,
	0x7fff,
	0x8000,
	0xffff,
	0x10000,
	0x3ffe0,
	0x40000,
	0x7fffffff,
	0x80000000,
	0xffffffe0,
	0xffffffff,
	~uint64_t{ 0 },
};
constexpr uint64_t numValues = std::size(borders) + 8;

uint64_t valueOf(uint64_t index, uint64_t before, uint64_t atom)
{
	if (index < std::size(borders))
		return borders[index];
	switch (index - std::size(borders)) {
	case 0:
		return before - 1;
	case 1:
		return before + 1;
	case 2:
		return before * 2;
	case 3:
		return before / 2;
	case 4:
		return before * 3;
	case 5:
		return before + atom;
	case 6:
		return before - atom;
	default:
		return before * 32;
	}
}

void change(Descriptors &descriptors, const Member &member, uint64_t index, uint64_t atom)
{
	char *place = reinterpret_cast<char *>(&descriptors) + member.offset;
	uint64_t before = 0;
	std::memcpy(&before, place, member.size);
	const uint64_t value = valueOf(index, before, atom);
	std::memcpy(place, &value, member.size);
}

/** \brief Numbers that look like chance, the same each time */
uint64_t dice(uint64_t &state)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

struct Base {
	const char *name;
	std::function<size_t(TaskBuilder &)> build; /**< returns the operation */
};

size_t first(size_t)
{
	return 0;
}

/* Of three cubes. */
size_t addBatch(TaskBuilder &b)
{
	const size_t sdp = b.addConv();
	b.conv(0).batch = b.sdp(sdp).batch_num = 3;
	b.conv(0).batch_stride = 4096;
	b.sdp(sdp).batch_stride = 8192;
	return sdp;
}

/* Compressed weights of 264 kernels: the sizes of their groups need an atom for the last one. */
size_t compress(TaskBuilder &b, uint32_t elements)
{
	constexpr uint32_t kernels = 264, alignment = 128;
	b.conv(0).weight_format = NVDLA_WEIGHT_COMPRESSED;
	b.setKernels(0, kernels);
	nvdla_conv_surface_desc &cubes = b.convCubes(0);
	const uint32_t mask = elements * kernels / 8 + alignment - 1;
	cubes.weight_data.size = alignment;
	cubes.wmb_data = nvdla_test_weights(1, 0x10000, mask - mask % alignment);
	cubes.wgs_data = nvdla_test_weights(1, 0x20000, 4);
	return 0;
}

size_t addGroups(TaskBuilder &b)
{
	b.addConv();
	return compress(b, b.conv(0).bytes_per_kernel);
}

/* Groups are as large as the pipeline's precision says, not the input's. */
size_t addWideGroups(TaskBuilder &b)
{
	b.addImage(12);
	nvdla_conv_op_desc &op = b.conv(0);
	op.out_precision = NVDLA_PRECISION_INT16;
	const uint32_t elements = op.bytes_per_kernel;
	op.bytes_per_kernel *= 2;
	return compress(b, elements);
}

/* The pipeline's precision is one of the two; the last atom of a surface is not full. */
size_t addConversion(TaskBuilder &b, uint8_t from, uint8_t to)
{
	b.addSdp();
	nvdla_sdp_surface_desc &cubes = b.sdpCubes(0);
	b.sdp(0).src_precision = from;
	b.sdp(0).dst_precision = to;
	cubes.src_data.channel = cubes.x1_data.channel = cubes.dst_data.channel = 41;
	return 0;
}

size_t addPerPoint(TaskBuilder &b)
{
	b.addSdp();
	nvdla_sdp_surface_desc &cubes = b.sdpCubes(0);
	b.sdp(0).x1_op.mode = NVDLA_SDP_PER_POINT;
	b.sdp(0).x1_op.type = NVDLA_SDP_OP_BOTH;
	const int16_t address = cubes.x1_data.address;
	cubes.x1_data = cubes.src_data;
	cubes.x1_data.address = address;
	cubes.x1_data.line_stride *= 4;
	cubes.x1_data.surf_stride *= 4;
	return 0;
}

/* The channels of a phase do not fill an atom. */
size_t addPhases(TaskBuilder &b)
{
	b.addRubik(NVDLA_RUBIK_CONTRACT);
	nvdla_pair_surface_desc &cubes = b.rubikCubes(0);
	b.rubik(0).stride_x = b.rubik(0).stride_y = 2;
	cubes.dst_data.channel = 20;
	cubes.src_data.channel = 80;
	cubes.dst_data.width = static_cast<__u16>(2 * cubes.src_data.width);
	cubes.dst_data.height = static_cast<__u16>(2 * cubes.src_data.height);
	cubes.dst_data.line_stride = cubes.dst_data.width * 32;
	cubes.dst_data.surf_stride = cubes.dst_data.line_stride * cubes.dst_data.height;
	return 0;
}

const Base bases[] = {
	{ "Bdma", [](TaskBuilder &b) { return first(b.addBdma(2)); } },
	{ "Conv", [](TaskBuilder &b) { return first(b.addConv()); } },
	{ "Winograd", [](TaskBuilder &b) { return first(b.addWinograd()); } },
	{ "Compressed", [](TaskBuilder &b) { return first(b.addCompressed()); } },
	{ "Groups", addGroups },
	{ "WideGroups", addWideGroups },
	{ "Batch", [](TaskBuilder &b) { return first(addBatch(b)); } },
	{ "Image", [](TaskBuilder &b) { return first(b.addImage(12)); } },
	{ "SemiPlanar", [](TaskBuilder &b) { return first(b.addImage(28)); } },
	{ "Sdp", [](TaskBuilder &b) { return b.addSdp(); } },
	{ "Comparison", [](TaskBuilder &b) { return b.addComparison(); } },
	{ "SdpOfConv", [](TaskBuilder &b) { return b.addConv(); } },
	{ "SdpOfBatch", addBatch },
	{ "Widening", [](TaskBuilder &b) { return addConversion(b, 0, 1); } },
	{ "Narrowing", [](TaskBuilder &b) { return addConversion(b, 1, 0); } },
	{ "PerPoint", addPerPoint },
	{ "Pdp", [](TaskBuilder &b) { return b.addPdp(); } },
	{ "SplitPdp", [](TaskBuilder &b) { return b.addSplitPdp(); } },
	{ "PdpOfSdp", [](TaskBuilder &b) { return b.addSdpPdp(); } },
	{ "Cdp", [](TaskBuilder &b) { return b.addCdp(); } },
	{ "Contract", [](TaskBuilder &b) { return b.addRubik(NVDLA_RUBIK_CONTRACT); } },
	{ "Phases", addPhases },
	{ "Split", [](TaskBuilder &b) { return b.addRubik(NVDLA_RUBIK_SPLIT); } },
	{ "Merge", [](TaskBuilder &b) { return b.addRubik(NVDLA_RUBIK_MERGE); } },
};

void pack(nvdla_data_cube &cube, uint32_t atom)
{
	cube.line_stride = cube.width * atom;
	cube.surf_stride = cube.line_stride * cube.height;
}

uint64_t numDescriptors()
{
	const char *asked = std::getenv("WALL_DESCRIPTORS");
	return asked ? std::strtoull(asked, nullptr, 0) : 2000000;
}

} /* namespace */

class Wall : public testing::TestWithParam<std::tuple<uint32_t, Base>>
{
protected:
	void SetUp() override
	{
		const size_t index = std::get<1>(GetParam()).build(builder_);
		const auto engine = static_cast<nvdla_op_type>(builder_.graph[index].op_type);
		if (!(variant_.engines >> engine & 1))
			GTEST_SKIP() << "no such engine";
		base_ = { builder_.graph[index], builder_.operations[index],
			  builder_.surfaces[index] };
		if (variant_.id != DRM_NVDLA_VARIANT_NV_FULL)
			pack(engine);
		if (engine == NVDLA_OP_CONV)
			placeInBuffer();
		/* Other cores lack some of the features. */
		ASSERT_TRUE(accepts(base_) || variant_.id != DRM_NVDLA_VARIANT_NV_FULL);
	}

	/* Cubes in atoms of the core. */
	void pack(nvdla_op_type engine)
	{
		nvdla_conv_surface_desc &conv = base_.surface.conv;
		nvdla_sdp_surface_desc &sdp = base_.surface.sdp;
		if (engine == NVDLA_OP_CONV) {
			test::pack(conv.dst_data, variant_.atom_bytes);
			if (base_.operation.conv.data_format == NVDLA_FORMAT_FEATURE)
				test::pack(conv.src_data, variant_.atom_bytes);
			const uint32_t entry = variant_.cbuf_entry_bytes;
			const uint32_t bytes =
				base_.operation.conv.bytes_per_kernel * conv.dst_data.channel;
			conv.weight_data.size = (bytes + entry - 1) / entry * entry;
		} else if (engine == NVDLA_OP_SDP) {
			for (nvdla_data_cube *cube :
			     { &sdp.src_data, &sdp.x1_data, &sdp.y_data, &sdp.dst_data })
				test::pack(*cube, variant_.atom_bytes);
			if (base_.operation.sdp.x1_op.mode == NVDLA_SDP_PER_POINT)
				test::pack(sdp.x1_data, 4 * variant_.atom_bytes);
		} else {
			test::pack(base_.surface.pdp.src_data, variant_.atom_bytes);
			test::pack(base_.surface.pdp.dst_data, variant_.atom_bytes);
		}
	}

	/* A line of a convolution's input in as many entries and banks as it takes. */
	void placeInBuffer()
	{
		for (uint32_t banks = 1; banks < variant_.cbuf_banks - 1 && !accepts(base_);
		     banks++)
			for (uint32_t entries = 1; entries < 256 && !accepts(base_); entries++) {
				base_.operation.conv.data_bank = static_cast<__u8>(banks);
				base_.operation.conv.weight_bank =
					static_cast<__u8>(variant_.cbuf_banks - 1 - banks);
				base_.operation.conv.entry_per_slice = static_cast<__u16>(entries);
			}
	}

	bool accepts(const Descriptors &d)
	{
		nvdla_task_source source = builder_.source();
		source.graph = &d.node;
		source.operations = &d.operation;
		source.surfaces = &d.surface;
		source.num_operations = 1;
		return wall_check(&variant_, &source, &verdict_);
	}

	/* Empty if the registers reach what was asked for, and nothing else. */
	std::string difference(const Descriptors &d)
	{
		const auto engine = static_cast<nvdla_op_type>(d.node.op_type);
		for (const Reach &reach : oracle_.reach(engine, verdict_)) {
			if (reach.access >= verdict_.num_accesses)
				return "memory is reached by an address of nothing";
			const wall_access &asked = verdict_.accesses[reach.access];
			if (reach.bytes > asked.bytes)
				return std::to_string(reach.bytes) + " bytes are reached, " +
				       std::to_string(asked.bytes) + " were asked for";
			if (reach.memory != (asked.mem_type == NVDLA_MEM_MC))
				return "another memory is reached";
			if (reach.writes ? !asked.writes : !asked.reads)
				return "another kind of access";
			if (asked.alignment % reach.grain)
				return "the address need not be aligned as the core takes it";
		}
		return oracle_.hasAskedTooMuch() ? "a register was not written" : "";
	}

	const nvdla_variant &variant_ = nvdla_variants[std::get<0>(GetParam())];
	TaskBuilder builder_;
	Descriptors base_ = {};
	wall_verdict verdict_ = {};
	WallOracle oracle_{ variant_ };
};

TEST_P(Wall, RegistersReachNoMoreThanWasAskedFor)
{
	const auto engine = static_cast<nvdla_op_type>(base_.node.op_type);
	const std::vector<Member> members = membersOf(engine, base_);
	const uint64_t pairs = members.size() * members.size() * numValues * numValues;
	const uint64_t tries = numDescriptors() / (std::size(bases) * NVDLA_NUM_VARIANTS) + 1;
	uint64_t state = 0, accepted = 0;

	for (uint64_t i = 0; i < tries; i++) {
		/* All pairs in turn if there are tries enough, then with a third member. */
		uint64_t pair = tries < pairs ? dice(state) % pairs : i % pairs;
		Descriptors d = base_;
		for (int member = 0; member < 2; member++) {
			const uint64_t value = pair % numValues;
			pair /= numValues;
			change(d, members[pair % members.size()], value, variant_.atom_bytes);
			pair /= members.size();
		}
		if (i >= pairs || dice(state) % 2)
			change(d, members[dice(state) % members.size()], dice(state) % numValues,
			       variant_.atom_bytes);
		if (!accepts(d))
			continue;
		accepted++;
		const std::string said = difference(d);
		ASSERT_EQ(said, "") << "descriptor " << i;
	}
	RecordProperty("accepted", std::to_string(accepted));
	RecordProperty("tried", std::to_string(tries));
	EXPECT_TRUE(accepted > 0 || !accepts(base_));
}

INSTANTIATE_TEST_SUITE_P(All, Wall,
			 testing::Combine(testing::Range(0u, uint32_t{ NVDLA_NUM_VARIANTS }),
					  testing::ValuesIn(bases)),
			 [](const auto &info) {
				 return std::string(nvdla_variants[std::get<0>(info.param)].name) +
					"_" + std::get<1>(info.param).name;
			 });

} /* namespace nvdla::test */
