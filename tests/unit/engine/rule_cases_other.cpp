/* SPDX-License-Identifier: MIT */
#include <array>
#include <cstdint>

#include "rule_cases.h"

namespace nvdla::test
{

namespace
{

using B = TaskBuilder;

void bdma(B &b)
{
	b.addBdma(2);
}

void pdp(B &b)
{
	b.addPdp();
}

void split(B &b)
{
	b.addSplitPdp();
}

/* Another width of the pooling in addSplitPdp(). */
void setWidths(B &b, unsigned int in, unsigned int out)
{
	b.pdpCubes(0).src_data = featureCube(2, 0, in, 8, 32);
	b.pdpCubes(0).dst_data = featureCube(3, 0, out, 8, 32);
}

/* Widths of the first, each middle and the last part. */
void setParts(B &b, uint8_t count, std::array<uint16_t, 3> out, std::array<uint16_t, 3> in)
{
	nvdla_pdp_op_desc &op = b.pdp(0);

	op.split_num = count;
	op.partial_width_first = out[0];
	op.partial_width_mid = out[1];
	op.partial_width_last = out[2];
	op.partial_in_width_first = in[0];
	op.partial_in_width_mid = in[1];
	op.partial_in_width_last = in[2];
}

void cdp(B &b)
{
	b.addCdp();
}

void contract(B &b)
{
	b.addRubik(NVDLA_RUBIK_CONTRACT);
}

void splitPlanes(B &b)
{
	b.addRubik(NVDLA_RUBIK_SPLIT);
}

void merge(B &b)
{
	b.addRubik(NVDLA_RUBIK_MERGE);
}

std::vector<RuleCase> bdmaCases()
{
	return {
		{ "BDMA_TRANSFERS", "num_transfers", bdma,
		  [](B &b) { b.bdma(0).num_transfers = 21; } },
		{ "BDMA_LINE_SIZE", "transfers[1].line_size", bdma,
		  [](B &b) { b.bdma(0).transfers[1].line_size = 48; } },
		{ "BDMA_LINE_SIZE", "transfers[0].line_size", bdma,
		  [](B &b) { b.bdma(0).transfers[0].line_size = 0; } },
		{ "BDMA_LINE_SIZE", "transfers[0].line_size", bdma,
		  [](B &b) { b.bdma(0).transfers[0].line_size = 262176; } },
		{ "BDMA_REPEAT", "transfers[0].line_repeat", bdma,
		  [](B &b) { b.bdma(0).transfers[0].line_repeat = 0; } },
		{ "BDMA_REPEAT", "transfers[0].surf_repeat", bdma,
		  [](B &b) { b.bdma(0).transfers[0].surf_repeat = 8193; } },
		{ "BDMA_STRIDE_ALIGNMENT", "transfers[0].src_line", bdma,
		  [](B &b) { b.bdma(0).transfers[0].src_line = 100; } },
		{ "BDMA_STRIDE_ALIGNMENT", "transfers[0].dst_surf", bdma,
		  [](B &b) { b.bdma(0).transfers[0].dst_surf = 129; } },
		{ "BDMA_STRIDE", "transfers[0].src_line", bdma,
		  [](B &b) { b.bdma(0).transfers[0].src_line = 32; } },
		{ "BDMA_STRIDE", "transfers[1].dst_line", bdma,
		  [](B &b) { b.bdma(0).transfers[1].dst_line = 32; } },
		{ "CUBE_EXTENT", "transfers[1].src_address", bdma,
		  [](B &b) { b.bdma(0).transfers[1].src_surf = B::extentBytes / 2; } },
		{ "CUBE_EXTENT", "transfers[0].dst_address", bdma,
		  [](B &b) { b.extents[2].size = 383; } },
		{ "CUBE_MEM_TYPE", "dst_type", bdma,
		  [](B &b) { b.bdma(0).dst_type = NVDLA_MEM_HW; } },
	};
}

std::vector<RuleCase> pdpCases()
{
	return {
		{ "PDP_PRECISION", "precision", pdp, [](B &b) { b.pdp(0).precision = 3; } },
		{ "PDP_POOL_MODE", "pool_mode", pdp, [](B &b) { b.pdp(0).pool_mode = 3; } },
		{ "PDP_KERNEL", "pool_width", pdp, [](B &b) { b.pdp(0).pool_width = 8; } },
		{ "PDP_KERNEL", "pool_height", pdp, [](B &b) { b.pdp(0).pool_height = 8; } },
		{ "PDP_STRIDE", "stride_x", pdp, [](B &b) { b.pdp(0).stride_x = 0; } },
		{ "PDP_STRIDE", "stride_y", pdp, [](B &b) { b.pdp(0).stride_y = 17; } },
		{ "PDP_PADDING", "pad_left", pdp, [](B &b) { b.pdp(0).pad_left = 2; } },
		{ "PDP_PADDING", "pad_right", pdp, [](B &b) { b.pdp(0).pad_right = 2; } },
		{ "PDP_PADDING", "pad_top", pdp, [](B &b) { b.pdp(0).pad_top = 2; } },
		{ "PDP_PADDING", "pad_bottom", pdp, [](B &b) { b.pdp(0).pad_bottom = 2; } },
		{ "PDP_PADDING_VALUE", "padding_value[6]",
		  [](B &b) {
			  b.addPdp();
			  b.pdp(0).precision = NVDLA_PRECISION_FP16;
		  },
		  [](B &b) { b.pdp(0).padding_value[6] = 1; } },
		{ "PDP_WINDOW_WIDTH", "dst_data.width", pdp, [](B &b) { b.pdp(0).pad_right = 1; } },
		{ "PDP_WINDOW_HEIGHT", "dst_data.height", pdp, [](B &b) { b.pdp(0).pad_top = 1; } },
		{ "PDP_CHANNELS", "dst_data.channel", pdp,
		  [](B &b) { b.pdpCubes(0).dst_data.channel = 16; } },
		{ "PDP_DST_TYPE", "dst_data.type", pdp,
		  [](B &b) { b.pdpCubes(0).dst_data.type = NVDLA_MEM_HW; } },
		{ "PDP_SPLIT", "split_num", pdp, [](B &b) { b.pdp(0).split_num = 0; } },
		{ "PDP_SPLIT", "split_num", pdp, [](B &b) { b.pdp(0).split_num = 65; } },
		{ "PDP_SPLIT_FLYING", "split_num", [](B &b) { b.addSdpPdp(); },
		  [](B &b) { b.pdp(1).split_num = 2; } },
		{ "PDP_SPLIT_OUT", "partial_width_last", split,
		  [](B &b) {
			  b.pdp(0).partial_width_last = 31;
			  b.pdp(0).partial_in_width_last = 30;
		  } },
		{ "PDP_SPLIT_IN", "partial_in_width_first", split,
		  [](B &b) { b.pdp(0).partial_in_width_first = 32; } },
		{ "PDP_SPLIT_IN", "partial_in_width_mid", split,
		  [](B &b) { b.pdp(0).partial_in_width_mid = 33; } },
		/* 3 columns with stride 1 share 2, and a part has only 1. */
		{ "PDP_SPLIT_OVERLAP", "partial_in_width_first", split,
		  [](B &b) {
			  setWidths(b, 32, 33);
			  b.pdp(0).pad_left = 2;
			  setParts(b, 2, { 1, 0, 32 }, { 1, 0, 31 });
		  } },
		{ "PDP_SPLIT_OVERLAP", "partial_in_width_mid", split,
		  [](B &b) {
			  setWidths(b, 65, 65);
			  setParts(b, 3, { 32, 1, 32 }, { 33, 1, 31 });
		  } },
		{ "PDP_SPLIT_OVERLAP", "partial_in_width_last", split,
		  [](B &b) {
			  setWidths(b, 65, 66);
			  b.pdp(0).pad_right = 2;
			  setParts(b, 3, { 32, 31, 3 }, { 33, 31, 1 });
		  } },
		/* 1 column with stride 3 skips 2. */
		{ "PDP_SPLIT_OVERLAP", "partial_in_width_first", split,
		  [](B &b) {
			  setWidths(b, 193, 65);
			  b.pdp(0).pool_width = b.pdp(0).pad_left = b.pdp(0).pad_right = 0;
			  b.pdp(0).stride_x = 3;
			  setParts(b, 3, { 1, 32, 32 }, { 1, 96, 96 });
		  } },
		{ "PDP_LINE_BUFFER", "dst_data.width", pdp,
		  [](B &b) {
			  b.pdpCubes(0).src_data = featureCube(2, 0, 258, 8, 32);
			  b.pdpCubes(0).dst_data = featureCube(3, 0, 129, 4, 32);
		  } },
		{ "PDP_LINE_BUFFER", "partial_width_first", split,
		  [](B &b) {
			  b.pdp(0).partial_width_first = 33;
			  b.pdp(0).partial_in_width_first = 34;
		  } },
		{ "FIELD_WIDTH", "padding_value[2]", pdp,
		  [](B &b) { b.pdp(0).padding_value[2] = 1 << 18; } },
	};
}

std::vector<RuleCase> cdpCases()
{
	return {
		{ "CDP_PRECISION", "in_precision", cdp, [](B &b) { b.cdp(0).in_precision = 3; } },
		{ "CDP_PRECISION_PAIR", "out_precision", cdp,
		  [](B &b) { b.cdp(0).out_precision = NVDLA_PRECISION_INT16; } },
		{ "CDP_LOCAL_SIZE", "local_size", cdp, [](B &b) { b.cdp(0).local_size = 4; } },
		{ "CDP_LOCAL_SIZE", "local_size", cdp, [](B &b) { b.cdp(0).local_size = 11; } },
		{ "CDP_FLAG", "bypass_sqsum", cdp, [](B &b) { b.cdp(0).bypass_sqsum = 2; } },
		{ "CDP_FLAG", "bypass_out_mul", cdp, [](B &b) { b.cdp(0).bypass_out_mul = 2; } },
		{ "CDP_SIZE", "dst_data.width", cdp,
		  [](B &b) { b.cdpCubes(0).dst_data = featureCube(3, 0, 7, 8, 32); } },
		{ "CDP_LUT", "lut_index", cdp, [](B &b) { b.cdp(0).lut_index = -1; } },
		{ "CDP_LUT", "lut_index", cdp, [](B &b) { b.cdp(0).lut_index = 1; } },
		{ "FIELD_WIDTH", "in_cvt.truncate", cdp,
		  [](B &b) { b.cdp(0).in_cvt.truncate = 32; } },
		{ "FIELD_WIDTH", "in_cvt.offset", cdp,
		  [](B &b) { b.cdp(0).in_cvt.offset = 32768; } },
	};
}

std::vector<RuleCase> rubikCases()
{
	return {
		{ "RUBIK_MODE", "mode", contract, [](B &b) { b.rubik(0).mode = 3; } },
		{ "RUBIK_PRECISION", "precision", contract,
		  [](B &b) { b.rubik(0).precision = 3; } },
		{ "RUBIK_STRIDE", "stride_x", contract, [](B &b) { b.rubik(0).stride_x = 0; } },
		{ "RUBIK_STRIDE", "stride_y", contract, [](B &b) { b.rubik(0).stride_y = 33; } },
		{ "RUBIK_WIDTH", "src_data.width", contract,
		  [](B &b) { b.rubikCubes(0).src_data.width = 4097; } },
		{ "RUBIK_SIZE", "dst_data.width", contract,
		  [](B &b) { b.rubikCubes(0).dst_data.width = 7; } },
		{ "RUBIK_SIZE", "dst_data.channel", contract,
		  [](B &b) { b.rubikCubes(0).dst_data.channel = 31; } },
		{ "RUBIK_SIZE", "dst_data.channel", splitPlanes,
		  [](B &b) { b.rubikCubes(0).dst_data.channel = 31; } },
		{ "RUBIK_PLANE_STRIDE", "dst_data.plane_stride", splitPlanes,
		  [](B &b) { b.rubikCubes(0).dst_data.plane_stride = 480; } },
		{ "CUBE_STRIDE_ALIGNMENT", "src_data.line_stride", merge,
		  [](B &b) { b.rubikCubes(0).src_data.line_stride = 96; } },
		{ "CUBE_ALIGNMENT", "src_data.offset", merge,
		  [](B &b) { b.rubikCubes(0).src_data.offset = 32; } },
		{ "CUBE_EXTENT", "src_data", merge,
		  [](B &b) { b.extents[0].size = 32 * 512 - 1; } },
		{ "CUBE_EXTENT", "src_data", contract,
		  [](B &b) { b.extents[0].size = 4 * 4 * 128 - 1; } },
	};
}

} /* namespace */

std::vector<RuleCase> otherRuleCases()
{
	std::vector<RuleCase> cases;
	for (const auto &part : { bdmaCases(), pdpCases(), cdpCases(), rubikCases() })
		cases.insert(cases.end(), part.begin(), part.end());
	return cases;
}

} /* namespace nvdla::test */
