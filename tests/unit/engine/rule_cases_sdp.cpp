/* SPDX-License-Identifier: MIT */
#include <cstdint>

#include "rule_cases.h"

namespace nvdla::test
{

namespace
{

using B = TaskBuilder;

void sdp(B &b)
{
	b.addSdp();
}

void conv(B &b)
{
	b.addConv();
}

void lut(B &b)
{
	b.useLut(b.addSdp());
}

/* A batch of two cubes. */
void batch(B &b)
{
	b.addConv();
	b.conv(0).batch = b.sdp(1).batch_num = 2;
	b.conv(0).batch_stride = b.sdp(1).batch_stride = 4096;
}

void compare(B &b)
{
	b.addComparison();
}

/* FP16 with an operand from memory for both halves of Y. */
void fp16(B &b)
{
	b.addSdp();
	b.sdp(0).src_precision = b.sdp(0).dst_precision = NVDLA_PRECISION_FP16;
	b.sdp(0).x1_op = {};
	b.sdp(0).y_op.enable = 1;
	b.sdp(0).y_op.type = NVDLA_SDP_OP_BOTH;
	b.sdp(0).y_op.mode = NVDLA_SDP_PER_KERNEL;
	b.sdp(0).y_op.precision = NVDLA_PRECISION_FP16;
	b.sdp(0).y_op.alu_cvt.enable = 1;
	b.sdp(0).y_op.mul_cvt.enable = 1;
	b.sdpCubes(0).src_data = featureCube(0, 0, 8, 8, 32, 2);
	b.sdpCubes(0).dst_data = featureCube(2, 0, 8, 8, 32, 2);
	b.sdpCubes(0).y_data = featureCube(1, 0, 1, 1, 32, 2);
}

std::vector<RuleCase> modeCases()
{
	return {
		{ "SDP_PRECISION", "src_precision", sdp, [](B &b) { b.sdp(0).src_precision = 3; } },
		{ "SDP_PRECISION", "dst_precision", sdp, [](B &b) { b.sdp(0).dst_precision = 3; } },
		{ "SDP_PRECISION_PAIR", "dst_precision", sdp,
		  [](B &b) { b.sdp(0).dst_precision = NVDLA_PRECISION_FP16; } },
		{ "SDP_PRECISION_PAIR", "dst_precision", sdp,
		  [](B &b) { b.sdp(0).src_precision = NVDLA_PRECISION_FP16; } },
		{ "SDP_FLYING_PRECISION", "dst_precision", conv,
		  [](B &b) { b.sdp(1).src_precision = NVDLA_PRECISION_INT16; } },
		{ "SDP_PDP_PRECISION", "dst_precision", [](B &b) { b.addSdpPdp(); },
		  [](B &b) { b.sdp(0).dst_precision = NVDLA_PRECISION_INT16; } },
		{ "SDP_MODE", "conv_mode", sdp, [](B &b) { b.sdp(0).conv_mode = 2; } },
		{ "SDP_BATCH", "batch_num", sdp, [](B &b) { b.sdp(0).batch_num = 0; } },
		{ "SDP_BATCH", "batch_num", conv, [](B &b) { b.sdp(1).batch_num = 33; } },
		{ "SDP_OFFLINE", "batch_num", sdp, [](B &b) { b.sdp(0).batch_num = 2; } },
		{ "SDP_OFFLINE", "conv_mode", sdp,
		  [](B &b) { b.sdp(0).conv_mode = NVDLA_CONV_MODE_WINOGRAD; } },
		{ "SDP_BATCH_ALIGNMENT", "dst_data.offset", batch,
		  [](B &b) { b.sdpCubes(1).dst_data.offset = 32; } },
		{ "SDP_BATCH_ALIGNMENT", "dst_data.line_stride", batch,
		  [](B &b) { b.sdpCubes(1).dst_data.line_stride += 32; } },
		{ "SDP_BATCH_ALIGNMENT", "dst_data.surf_stride", batch,
		  [](B &b) { b.sdpCubes(1).dst_data.surf_stride += 32; } },
		{ "SDP_BATCH_ALIGNMENT", "x1_data.offset", batch,
		  [](B &b) { b.sdpCubes(1).x1_data.offset += 32; } },
		{ "SDP_BATCH_ALIGNMENT", "x2_data.offset", batch,
		  [](B &b) {
			  b.sdp(1).x2_op = b.sdp(1).x1_op;
			  b.sdpCubes(1).x2_data = b.sdpCubes(1).x1_data;
			  b.sdpCubes(1).x2_data.offset += 32;
		  } },
		{ "SDP_BATCH_ALIGNMENT", "y_data.offset", batch,
		  [](B &b) {
			  b.sdp(1).y_op = b.sdp(1).x1_op;
			  b.sdp(1).y_op.act = NVDLA_ACT_NONE;
			  b.sdpCubes(1).y_data = b.sdpCubes(1).x1_data;
			  b.sdpCubes(1).y_data.offset += 32;
		  } },
		{ "CUBE_STRIDE_ALIGNMENT", "batch_stride", batch,
		  [](B &b) { b.sdp(1).batch_stride = 4100; } },
		{ "CUBE_EXTENT", "dst_data", batch,
		  [](B &b) { b.sdp(1).batch_stride = B::extentBytes; } },
		{ "SDP_SIZE", "dst_data.width", sdp,
		  [](B &b) { b.sdpCubes(0).dst_data = featureCube(2, 0, 7, 8, 32); } },
		{ "SDP_SIZE", "x1_data.channel", sdp,
		  [](B &b) { b.sdpCubes(0).x1_data.channel = 16; } },
		{ "SDP_SIZE", "x1_data.width", sdp, [](B &b) { b.sdpCubes(0).x1_data.width = 8; } },
		{ "SDP_SIZE", "y_data.height", compare,
		  [](B &b) { b.sdpCubes(0).y_data.height = 7; } },
		/* INT16 to INT8 works on pairs of INT16 surfaces. */
		{ "CUBE_EXTENT", "src_data",
		  [](B &b) {
			  b.addSdp();
			  b.sdp(0).src_precision = NVDLA_PRECISION_INT16;
			  b.sdpCubes(0).src_data = featureCube(0, 0, 8, 8, 16, 2);
			  b.sdpCubes(0).dst_data = featureCube(2, 0, 8, 8, 16);
			  b.sdpCubes(0).x1_data.channel = 16;
			  b.extents[0].size = 2 * 8 * 8 * 32;
		  },
		  [](B &b) { b.extents[0].size = 8 * 8 * 32; } },
	};
}

std::vector<RuleCase> unitCases()
{
	return {
		{ "SDP_UNIT_FLAG", "x1_op.enable", sdp, [](B &b) { b.sdp(0).x1_op.enable = 2; } },
		{ "SDP_UNIT_TYPE", "x1_op.type", sdp, [](B &b) { b.sdp(0).x1_op.type = 4; } },
		{ "SDP_UNIT_MODE", "x1_op.mode", sdp, [](B &b) { b.sdp(0).x1_op.mode = 3; } },
		{ "SDP_ALU_TYPE", "x1_op.alu_type", sdp,
		  [](B &b) { b.sdp(0).x1_op.alu_type = NVDLA_ALU_EQL; } },
		{ "SDP_ALU_TYPE", "y_op.alu_type", compare,
		  [](B &b) { b.sdp(0).y_op.alu_type = 4; } },
		{ "SDP_ACTIVATION", "x1_op.act", sdp,
		  [](B &b) { b.sdp(0).x1_op.act = NVDLA_ACT_LUT; } },
		{ "SDP_ACTIVATION", "y_op.act", lut,
		  [](B &b) { b.sdp(0).y_op.act = NVDLA_ACT_RELU; } },
		{ "SDP_OPERAND", "x1_op.alu_operand", sdp,
		  [](B &b) {
			  b.sdp(0).x1_op.mode = NVDLA_SDP_PER_LAYER;
			  b.sdp(0).x1_op.alu_operand = 65536;
		  } },
		{ "SDP_OPERAND", "x1_op.mul_operand", sdp,
		  [](B &b) {
			  b.sdp(0).x1_op.mode = NVDLA_SDP_PER_LAYER;
			  b.sdp(0).x1_op.mul_operand = -32769;
		  } },
		{ "SDP_OPERAND_PRECISION", "x1_op.precision", sdp,
		  [](B &b) { b.sdp(0).x1_op.precision = NVDLA_PRECISION_FP16; } },
		{ "SDP_OPERAND_PRECISION", "y_op.precision", fp16,
		  [](B &b) { b.sdp(0).y_op.precision = NVDLA_PRECISION_INT16; } },
		{ "SDP_PRELU", "x1_op.type", sdp,
		  [](B &b) { b.sdp(0).x1_op.act = NVDLA_ACT_PRELU; } },
		{ "SDP_LUT", "lut_index", lut, [](B &b) { b.sdp(0).lut_index = 1; } },
		{ "SDP_LUT", "lut_index", lut, [](B &b) { b.sdp(0).lut_index = -1; } },
		{ "SDP_FP16_CVT", "y_op.alu_cvt.enable", fp16,
		  [](B &b) { b.sdp(0).y_op.alu_cvt.enable = 0; } },
		{ "SDP_FP16_CVT", "y_op.mul_cvt.enable", fp16,
		  [](B &b) { b.sdp(0).y_op.mul_cvt.enable = 0; } },
		{ "SDP_EQL_UNIT", "y_op.type", compare,
		  [](B &b) { b.sdp(0).y_op.type = NVDLA_SDP_OP_BOTH; } },
		{ "SDP_EQL_UNIT", "y_op.act", compare,
		  [](B &b) {
			  b.sdp(0).lut_index = b.addLut();
			  b.sdp(0).y_op.act = NVDLA_ACT_LUT;
		  } },
		{ "SDP_EQL_UNIT", "y_op.alu_cvt.enable", compare,
		  [](B &b) { b.sdp(0).y_op.alu_cvt.enable = 1; } },
		{ "SDP_EQL_MODE", "dst_precision", compare,
		  [](B &b) { b.sdp(0).dst_precision = NVDLA_PRECISION_INT16; } },
		{ "SDP_EQL_MODE", "batch_num",
		  [](B &b) {
			  batch(b);
			  b.sdp(1).y_op.enable = 1;
		  },
		  [](B &b) {
			  b.sdp(1).y_op.type = NVDLA_SDP_OP_ADD;
			  b.sdp(1).y_op.alu_type = NVDLA_ALU_EQL;
		  } },
		{ "SDP_EQL_MODE", "conv_mode", [](B &b) { b.addWinograd(); },
		  [](B &b) {
			  b.sdp(1).y_op.enable = 1;
			  b.sdp(1).y_op.type = NVDLA_SDP_OP_ADD;
			  b.sdp(1).y_op.alu_type = NVDLA_ALU_EQL;
		  } },
		{ "SDP_EQL_DST", "dst_data.type", [](B &b) { b.addSdpPdp(); },
		  [](B &b) {
			  b.sdp(0).y_op.enable = 1;
			  b.sdp(0).y_op.type = NVDLA_SDP_OP_ADD;
			  b.sdp(0).y_op.alu_type = NVDLA_ALU_EQL;
		  } },
		{ "FIELD_WIDTH", "x1_op.shift_value", sdp, [](B &b) { b.sdp(0).x1_op.shift_value = 64; } },
		{ "FIELD_WIDTH", "out_cvt.truncate", sdp,
		  [](B &b) { b.sdp(0).out_cvt.truncate = 64; } },
	};
}

} /* namespace */

std::vector<RuleCase> sdpRuleCases()
{
	std::vector<RuleCase> cases;
	for (const auto &part : { modeCases(), unitCases() })
		cases.insert(cases.end(), part.begin(), part.end());
	return cases;
}

} /* namespace nvdla::test */
