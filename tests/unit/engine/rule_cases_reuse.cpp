/* SPDX-License-Identifier: MIT */
/*
 * What convolutions leave each other in the convolution buffer.
 */
#include <cstdint>

#include "rule_cases.h"

namespace nvdla::test
{

namespace
{

using B = TaskBuilder;

constexpr unsigned int a8b8g8r8 = 12;
constexpr unsigned int a8r8g8b8 = 13;

/* The second of two convolutions (operations 0 and 2) uses the lines of the first again. */
void keepData(B &b)
{
	b.edge(0, 2, NVDLA_EVENT_OP_PROGRAMMED);
	b.edge(1, 3, NVDLA_EVENT_OP_PROGRAMMED);
	b.conv(0).skip_data_rls = 1;
	b.conv(2).data_reuse = 1;
}

void keepWeights(B &b)
{
	b.conv(0).skip_weight_rls = 1;
	b.conv(2).weight_reuse = 1;
}

void reuse(B &b)
{
	b.addConv();
	b.addConv();
	keepData(b);
	keepWeights(b);
}

/* The first releases six of its eight lines, the second fetches six behind the others. */
void partialReuse(B &b)
{
	reuse(b);
	b.conv(0).skip_data_rls = 0;
	b.conv(0).release = 6;
	b.convCubes(2).src_data = featureCube(0, 0, 8, 6, 32);
}

/* Nothing is left; that what there is is called reused makes no difference. */
void emptyReuse(B &b)
{
	reuse(b);
	b.conv(0).skip_data_rls = 0;
}

void imageReuse(B &b)
{
	b.addImage(a8b8g8r8);
	b.addImage(a8b8g8r8);
	keepData(b);
}

void winogradReuse(B &b)
{
	b.addWinograd();
	b.addWinograd();
	keepData(b);
}

void compressedReuse(B &b)
{
	b.addCompressed();
	b.addCompressed();
	keepWeights(b);
	for (size_t i : { 0, 2 })
		b.convCubes(i).weight_data.size = 9 * 32 * 32;
}

/* Another size of the input of operation i, and of its output. */
void resize(B &b, size_t i, unsigned int width, unsigned int height, unsigned int channels)
{
	nvdla_conv_op_desc &op = b.conv(i);
	nvdla_conv_surface_desc &cubes = b.convCubes(i);

	op.input_width_csc = op.input_width_cmac = static_cast<uint16_t>(width);
	op.input_height_csc = op.input_height_cmac = static_cast<uint16_t>(height);
	op.release = op.input_height_csc;
	cubes.src_data = featureCube(0, 0, width, height, channels);
	cubes.dst_data = streamCube(width, height, 32);
	b.setChannels(i, channels);
	b.setKernels(i, 32);
}

/* Lines of 1x10x32 are left, 64x10x512 are computed with: what others left. */
void smallerReuse(B &b)
{
	b.addConv();
	b.addConv();
	keepData(b);
	resize(b, 0, 1, 10, 32);
	resize(b, 2, 1, 10, 32);
	b.conv(0).data_bank = b.conv(2).data_bank = 10;
	b.conv(0).weight_bank = b.conv(2).weight_bank = 6;
}

std::vector<RuleCase> lineCases()
{
	return {
		{ "CONV_DATA_REUSE", "data_reuse", reuse, [](B &b) { b.conv(0).data_reuse = 1; } },
		{ "CONV_DATA_REUSE_LINES", "input_height_csc", partialReuse,
		  [](B &b) { b.convCubes(2).src_data = featureCube(0, 0, 8, 5, 32); } },
		{ "CONV_DATA_REUSE_LINES", "input_height_csc", partialReuse,
		  [](B &b) { b.convCubes(2).src_data = featureCube(0, 0, 8, 7, 32); } },
		/* Nothing is fetched behind lines that are all kept. */
		{ "CONV_DATA_REUSE_LINES", "input_height_csc", reuse,
		  [](B &b) { resize(b, 2, 8, 16, 32); } },
		/* CDMA would go on when the sums are out. */
		{ "CONV_DATA_REUSE_LINES", "input_height_csc", emptyReuse,
		  [](B &b) { b.convCubes(2).src_data = featureCube(0, 0, 8, 8192, 32); } },
		/* Winograd's CDMA fetches all lines, or none. */
		{ "CONV_DATA_REUSE_LINES", "input_height_csc", winogradReuse,
		  [](B &b) {
			  b.conv(0).skip_data_rls = 0;
			  b.conv(0).release = 4;
		  } },
	};
}

std::vector<RuleCase> shapeCases()
{
	return {
		{ "CONV_DATA_REUSE_MODE", "data_bank", reuse,
		  [](B &b) { b.conv(2).data_bank = 2; } },
		{ "CONV_DATA_REUSE_SHAPE", "src_data.width", smallerReuse,
		  [](B &b) { resize(b, 2, 64, 10, 512); } },
		{ "CONV_DATA_REUSE_SHAPE", "src_data.width", reuse,
		  [](B &b) { resize(b, 2, 7, 8, 32); } },
		{ "CONV_DATA_REUSE_SHAPE", "src_data.channel", reuse,
		  [](B &b) {
			  b.conv(2).weight_reuse = 0;
			  resize(b, 2, 8, 8, 64);
		  } },
		{ "CONV_DATA_REUSE_SHAPE", "batch", reuse,
		  [](B &b) {
			  b.conv(2).batch = b.sdp(3).batch_num = 2;
			  b.conv(2).batch_stride = b.sdp(3).batch_stride = 4096;
		  } },
		{ "CONV_DATA_REUSE_SHAPE", "data_format", imageReuse,
		  [](B &b) { b.conv(2).data_format = a8r8g8b8; } },
		{ "CONV_DATA_REUSE_SHAPE", "pad_x_left", imageReuse,
		  [](B &b) {
			  b.conv(2).pad_x_left = 0;
			  b.conv(2).pad_x_right = 2;
		  } },
		{ "CONV_DATA_REUSE_SHAPE", "pad_y_top", winogradReuse,
		  [](B &b) {
			  b.conv(2).pad_y_top = 0;
			  b.conv(2).pad_y_bottom = 2;
		  } },
	};
}

std::vector<RuleCase> weightCases()
{
	return {
		{ "CONV_WEIGHT_REUSE", "weight_reuse", reuse,
		  [](B &b) { b.conv(0).skip_weight_rls = 0; } },
		{ "CONV_WEIGHT_REUSE", "weight_reuse", reuse,
		  [](B &b) {
			  b.conv(0).weight_reuse = 1;
			  b.conv(2).data_reuse = 0;
		  } },
		{ "CONV_WEIGHT_REUSE_SIZE", "weight_bank", reuse,
		  [](B &b) { b.conv(2).weight_bank = 2; } },
		{ "CONV_WEIGHT_REUSE_SIZE", "weight_format", compressedReuse,
		  [](B &b) { b.conv(2).weight_format = NVDLA_WEIGHT_UNCOMPRESSED; } },
		/* As many bytes and as large a mask, but CSC waits for another kernel. */
		{ "CONV_WEIGHT_REUSE_SIZE", "dst_data.channel", compressedReuse,
		  [](B &b) {
			  b.setKernels(0, 31);
			  b.convCubes(0).weight_data.size = 128;
			  b.convCubes(2).weight_data.size = 128;
		  } },
		{ "CONV_WEIGHT_KEPT", "weight_bank",
		  [](B &b) {
			  b.addConv();
			  b.setKernels(0, 128);
		  },
		  [](B &b) { b.conv(0).skip_weight_rls = 1; } },
		/* 256 kernels of 3x3x512 bits are more than a bank of masks. */
		{ "CONV_WEIGHT_KEPT", "wmb_data.size",
		  [](B &b) {
			  b.addCompressed();
			  resize(b, 0, 8, 8, 512);
			  b.setKernels(0, 256);
			  b.convCubes(0).weight_data.size = 128;
			  b.convCubes(0).wmb_data.size = 9 * 512 * 256 / 8;
		  },
		  [](B &b) { b.conv(0).skip_weight_rls = 1; } },
	};
}

} /* namespace */

std::vector<RuleCase> convReuseRuleCases()
{
	std::vector<RuleCase> cases;
	for (const auto &part : { lineCases(), shapeCases(), weightCases() })
		cases.insert(cases.end(), part.begin(), part.end());
	return cases;
}

} /* namespace nvdla::test */
