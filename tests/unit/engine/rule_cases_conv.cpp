/* SPDX-License-Identifier: MIT */
#include <cstdint>
#include <limits>

#include "rule_cases.h"

namespace nvdla::test
{

namespace
{

using B = TaskBuilder;

constexpr unsigned int a8b8g8r8 = 12;
constexpr unsigned int y8u8v8 = 28;

void conv(B &b)
{
	b.addConv();
}

void winograd(B &b)
{
	b.addWinograd();
}

void compressed(B &b)
{
	b.addCompressed();
}

void image(B &b)
{
	b.addImage(a8b8g8r8);
}

/* An image with channel post-extension. */
void extendedImage(B &b)
{
	image(b);
	b.conv(0).post_extension = 1;
}

/* INT8 pixels and INT16 products: 256 kernels in 16 groups, whose sizes take 64 bytes. */
void wideningImage(B &b)
{
	nvdla_sdp_op_desc &sdp = b.sdp(b.addImage(a8b8g8r8));
	nvdla_conv_op_desc &op = b.conv(0);
	nvdla_conv_surface_desc &cubes = b.convCubes(0);

	b.setKernels(0, 256);
	op.out_precision = sdp.src_precision = sdp.dst_precision = NVDLA_PRECISION_INT16;
	op.bytes_per_kernel *= 2;
	op.weight_format = NVDLA_WEIGHT_COMPRESSED;
	cubes.wmb_data = weightCube(1, 0x10000, 3 * 12 * 256 / 8);
	cubes.wgs_data = weightCube(1, B::extentBytes - 256, 64);
	b.sdpCubes(1).dst_data = featureCube(2, 0, 8, 8, 256, 2);
}

/* Groups of 32 kernels of 1x1x1024 bytes, each of which fills a bank. */
void fillBank(B &b, unsigned int kernels)
{
	nvdla_conv_op_desc &op = b.conv(b.addConv() - 1);

	op.kernel_width_csc = op.kernel_height_csc = 1;
	op.pad_x_left = op.pad_x_right = op.pad_y_top = op.pad_y_bottom = 0;
	op.data_bank = 3;
	b.setKernels(0, kernels);
	b.setChannels(0, 1024);
}

void fullBank(B &b)
{
	fillBank(b, 64);
}

std::vector<RuleCase> valueCases()
{
	return {
		{ "CONV_MODE", "conv_mode", conv, [](B &b) { b.conv(0).conv_mode = 2; } },
		{ "CONV_FLAG", "data_reuse", conv, [](B &b) { b.conv(0).data_reuse = 2; } },
		{ "CONV_FLAG", "skip_weight_rls", conv,
		  [](B &b) { b.conv(0).skip_weight_rls = 2; } },
		{ "CONV_FLAG", "mean_format", conv, [](B &b) { b.conv(0).mean_format = 2; } },
		{ "CONV_FORMAT", "data_format", conv, [](B &b) { b.conv(0).data_format = 37; } },
		{ "CONV_PIXEL_MAPPING", "pixel_mapping", image,
		  [](B &b) { b.conv(0).pixel_mapping = 1; } },
		{ "CONV_PRECISION", "in_precision", conv,
		  [](B &b) { b.conv(0).in_precision = 3; } },
		{ "CONV_PRECISION", "out_precision", conv,
		  [](B &b) {
			  b.variant.precisions &= ~1u;
			  b.conv(0).in_precision = 1;
		  } },
		{ "CONV_WEIGHT_FORMAT", "weight_format", conv,
		  [](B &b) { b.conv(0).weight_format = 2; } },
		{ "CONV_NO_COMPRESSION", "weight_format", compressed,
		  [](B &b) { b.variant.has_weight_compression = false; } },
		{ "CONV_STRIDE", "conv_stride_x", conv, [](B &b) { b.conv(0).conv_stride_x = 0; } },
		{ "CONV_STRIDE", "conv_stride_y", conv, [](B &b) { b.conv(0).conv_stride_y = 9; } },
		{ "CONV_DILATION", "dilation_x", conv, [](B &b) { b.conv(0).dilation_x = 0; } },
		{ "CONV_DILATION", "dilation_y", conv, [](B &b) { b.conv(0).dilation_y = 33; } },
		{ "CONV_BATCH", "batch", conv, [](B &b) { b.conv(0).batch = 0; } },
		{ "CONV_BATCH", "batch", conv, [](B &b) { b.conv(0).batch = 33; } },
		{ "CONV_POST_EXTENSION", "post_extension", image,
		  [](B &b) { b.conv(0).post_extension = 3; } },
		{ "CONV_PRA_TRUNCATE", "pra_truncate", winograd,
		  [](B &b) { b.conv(0).pra_truncate = 3; } },
		{ "CONV_OUT_CVT", "out_cvt.scale", conv,
		  [](B &b) { b.conv(0).out_cvt.scale = 2; } },
		{ "CONV_OUT_CVT", "out_cvt.offset", conv,
		  [](B &b) { b.conv(0).out_cvt.offset = -1; } },
		{ "CONV_DST_TYPE", "dst_data.type", conv,
		  [](B &b) { b.convCubes(0).dst_data.type = NVDLA_MEM_MC; } },
		{ "FIELD_WIDTH", "in_cvt.offset", conv,
		  [](B &b) {
			  b.conv(0).in_cvt = { 1, 0, 1, 40000 };
		  } },
		{ "FIELD_WIDTH", "in_cvt.truncate", conv,
		  [](B &b) {
			  b.conv(0).in_cvt = { 1, 64, 1, 0 };
		  } },
		{ "FIELD_WIDTH", "fetch_grain", conv, [](B &b) { b.conv(0).fetch_grain = 0; } },
		{ "FIELD_WIDTH", "out_cvt.truncate", conv,
		  [](B &b) { b.conv(0).out_cvt.truncate = 32; } },
	};
}

std::vector<RuleCase> crossingCases()
{
	return {
		{ "CONV_WINOGRAD_FORMAT", "data_format", winograd,
		  [](B &b) { b.conv(0).data_format = a8b8g8r8; } },
		{ "CONV_DILATION_CROSSING", "dilation_x", image,
		  [](B &b) { b.conv(0).dilation_x = 2; } },
		{ "CONV_DILATION_CROSSING", "dilation_x", winograd,
		  [](B &b) { b.conv(0).dilation_y = 2; } },
		{ "CONV_BATCH_CROSSING", "batch", image, [](B &b) { b.conv(0).batch = 2; } },
		{ "CONV_BATCH_CROSSING", "batch", winograd, [](B &b) { b.conv(0).batch = 2; } },
		{ "CONV_POST_CROSSING", "post_extension", conv,
		  [](B &b) { b.conv(0).post_extension = 1; } },
		{ "CONV_POST_CROSSING", "post_extension", winograd,
		  [](B &b) { b.conv(0).post_extension = 1; } },
		{ "CONV_DILATION_CROSSING", "dilation_x", extendedImage,
		  [](B &b) { b.conv(0).dilation_y = 2; } },
		{ "CONV_BATCH_CROSSING", "batch", extendedImage,
		  [](B &b) { b.conv(0).batch = 2; } },
		{ "CONV_POST_CHANNELS", "kernel_channel_csc", image,
		  [](B &b) {
			  b.conv(0).post_extension = 2;
			  b.conv(0).kernel_channel_csc = 20;
		  } },
		{ "CONV_PRECISION_PAIR", "out_precision", conv,
		  [](B &b) { b.conv(0).out_precision = NVDLA_PRECISION_INT16; } },
		{ "CONV_PRECISION_PAIR", "out_precision", [](B &b) { b.addImage(a8b8g8r8); },
		  [](B &b) {
			  b.conv(0).data_format = 8;
			  b.conv(0).in_precision = NVDLA_PRECISION_FP16;
		  } },
		{ "CONV_PIXEL_PRECISION", "in_precision", image,
		  [](B &b) { b.conv(0).in_precision = NVDLA_PRECISION_INT16; } },
		{ "CONV_PIXEL_CHANNELS", "src_data.channel", image,
		  [](B &b) { b.convCubes(0).src_data.channel = 3; } },
	};
}

std::vector<RuleCase> sizeCases()
{
	return {
		{ "CONV_CSC_SIZE", "input_width_csc", conv,
		  [](B &b) { b.conv(0).input_width_csc = 9; } },
		{ "CONV_CSC_SIZE", "input_height_csc", conv,
		  [](B &b) { b.conv(0).input_height_csc = 9; } },
		{ "CONV_CSC_SIZE", "input_channel_csc", conv,
		  [](B &b) { b.conv(0).input_channel_csc = 31; } },
		{ "CONV_CSC_SIZE", "input_channel_csc", winograd,
		  [](B &b) { b.conv(0).input_channel_csc = 64; } },
		{ "CONV_CMAC_SIZE", "input_width_cmac", conv,
		  [](B &b) { b.conv(0).input_width_cmac = 7; } },
		{ "CONV_KERNEL_SIZE", "kernel_width_csc", conv,
		  [](B &b) { b.conv(0).kernel_width_csc = 0; } },
		{ "CONV_KERNEL_SIZE", "kernel_channel_csc", conv,
		  [](B &b) { b.conv(0).kernel_channel_csc = 31; } },
		{ "CONV_KERNEL_SIZE", "kernel_width_csc", winograd,
		  [](B &b) { b.conv(0).kernel_width_csc = 3; } },
		{ "CONV_KERNEL_SIZE", "kernel_channel_csc", image,
		  [](B &b) { b.conv(0).kernel_channel_csc = 10; } },
		{ "CONV_OUTPUT_SIZE", "dst_data.width", conv,
		  [](B &b) { b.convCubes(0).dst_data.width = b.conv(0).input_width_cmac = 9; } },
		{ "CONV_OUTPUT_SIZE", "dst_data.height", conv,
		  [](B &b) { b.conv(0).conv_stride_y = 2; } },
		{ "CONV_OUTPUT_SIZE", "dst_data.width", winograd,
		  [](B &b) {
			  b.convCubes(0).src_data = featureCube(0, 0, 11, 10, 32);
			  b.conv(0).input_width_csc = 13;
		  } },
		{ "CONV_WINOGRAD_OUTPUT", "dst_data.height", winograd,
		  [](B &b) { b.convCubes(0).dst_data.height = 4; } },
		{ "CONV_WINOGRAD_OUTPUT", "dst_data.width", winograd,
		  [](B &b) { b.convCubes(0).dst_data.width = 10; } },
		{ "CONV_PADDING", "pad_x_left", conv, [](B &b) { b.conv(0).pad_x_left = 3; } },
		{ "CONV_PADDING", "pad_x_right", conv, [](B &b) { b.conv(0).pad_x_right = 3; } },
		{ "CONV_PADDING", "pad_y_top", conv, [](B &b) { b.conv(0).pad_y_top = 3; } },
		{ "CONV_PADDING", "pad_x_left", image, [](B &b) { b.conv(0).pad_x_left = 3; } },
		{ "CONV_PADDING", "pad_x_left", winograd, [](B &b) { b.conv(0).pad_x_left = 3; } },
		{ "CONV_PADDING", "pad_y_top", winograd, [](B &b) { b.conv(0).pad_y_top = 3; } },
		{ "CONV_PADDING", "pad_y_bottom", conv, [](B &b) { b.conv(0).pad_y_bottom = 3; } },
	};
}

std::vector<RuleCase> bufferCases()
{
	return {
		{ "CONV_BANKS", "data_bank", conv, [](B &b) { b.conv(0).data_bank = 0; } },
		{ "CONV_BANKS", "weight_bank", conv, [](B &b) { b.conv(0).weight_bank = 0; } },
		{ "CONV_BANKS", "weight_bank", conv, [](B &b) { b.conv(0).weight_bank = 16; } },
		{ "CONV_BANKS", "weight_bank", compressed,
		  [](B &b) { b.conv(0).weight_bank = 15; } },
		{ "CONV_ENTRIES", "entry_per_slice", conv,
		  [](B &b) { b.conv(0).entry_per_slice = 3; } },
		{ "CONV_DATA_BANKS", "data_bank", conv,
		  [](B &b) {
			  b.convCubes(0).src_data = featureCube(0, 0, 8, 200, 32);
			  b.conv(0).input_height_csc = b.conv(0).release = 200;
			  b.convCubes(0).dst_data.height = b.conv(0).input_height_cmac = 200;
		  } },
		{ "CONV_RELEASE", "release", conv, [](B &b) { b.conv(0).release = 9; } },
		{ "CONV_RELEASE", "release", conv, [](B &b) { b.conv(0).release = 0; } },
		{ "CONV_BYTES_PER_KERNEL", "bytes_per_kernel", conv,
		  [](B &b) { b.conv(0).bytes_per_kernel--; } },
		{ "CONV_WEIGHT_BANKS", "weight_bank", fullBank,
		  [](B &b) {
			  /* The first group goes on in a burst that ends in the second. */
			  b.setChannels(0, 1023);
		  } },
		{ "CONV_WEIGHT_BANKS", "weight_bank", [](B &b) { fillBank(b, 32); },
		  [](B &b) { b.setChannels(0, 1025); } },
		{ "CONV_WEIGHT_SIZE", "weight_data.size", conv,
		  [](B &b) { b.convCubes(0).weight_data.size += 128; } },
		{ "CONV_WEIGHT_SIZE", "weight_data.size", compressed,
		  [](B &b) { b.convCubes(0).weight_data.size = 64; } },
		{ "CONV_WMB_SIZE", "wmb_data.size", compressed,
		  [](B &b) { b.convCubes(0).wmb_data.size += 128; } },
		{ "CONV_WMB_BANK", "bytes_per_kernel", compressed,
		  [](B &b) {
			  /* 32 kernels of 8192 elements: 32 KiB of mask. */
			  nvdla_conv_op_desc &op = b.conv(0);
			  b.convCubes(0).src_data = featureCube(0, 0, 2, 2, 8192);
			  b.convCubes(0).dst_data = streamCube(2, 2, 32);
			  op.input_width_csc = op.input_height_csc = op.release = 2;
			  op.input_width_cmac = op.input_height_cmac = 2;
			  op.input_channel_csc = op.kernel_channel_csc = 8192;
			  op.kernel_width_csc = op.kernel_height_csc = 1;
			  op.pad_x_left = op.pad_x_right = op.pad_y_top = op.pad_y_bottom = 0;
			  op.bytes_per_kernel = 8192;
			  op.entry_per_slice = 128;
			  op.weight_bank = 9;
			  b.convCubes(0).wmb_data.size = 32768;
		  } },
		{ "CONV_WEIGHT_MEMORY", "wmb_data.type", compressed,
		  [](B &b) { b.convCubes(0).wmb_data.type = NVDLA_MEM_CV; } },
		{ "CONV_WEIGHT_MEMORY", "wgs_data.type", compressed,
		  [](B &b) { b.convCubes(0).wgs_data.type = NVDLA_MEM_CV; } },
	};
}

std::vector<RuleCase> memoryCases()
{
	return {
		{ "CUBE_ALIGNMENT", "weight_data.offset", conv,
		  [](B &b) { b.convCubes(0).weight_data.offset = 128; } },
		{ "CUBE_EXTENT", "weight_data", conv, [](B &b) { b.extents[1].size = 0x1000; } },
		{ "CUBE_EXTENT", "wmb_data", compressed,
		  [](B &b) { b.convCubes(0).wmb_data.offset = B::extentBytes - 1024; } },
		{ "CUBE_EXTENT", "wgs_data", compressed,
		  [](B &b) { b.convCubes(0).wgs_data.offset = B::extentBytes; } },
		{ "CUBE_EXTENT", "wgs_data", wideningImage,
		  [](B &b) { b.convCubes(0).wgs_data.offset = B::extentBytes - 32; } },
		{ "CUBE_EXTENT", "src_data", image, [](B &b) { b.extents[0].size = 8 * 64 - 33; } },
		{ "CUBE_STRIDE_ALIGNMENT", "src_data.line_stride", image,
		  [](B &b) { b.convCubes(0).src_data.line_stride = 40; } },
		{ "CUBE_LINE_STRIDE", "src_data.line_stride", image,
		  [](B &b) { b.convCubes(0).src_data.line_stride = 0; } },
		{ "CUBE_OVERFLOW", "offset_u", [](B &b) { b.addImage(y8u8v8); },
		  [](B &b) { b.convCubes(0).offset_u = -32; } },
		{ "CUBE_OVERFLOW", "offset_u",
		  [](B &b) {
			  b.addImage(y8u8v8);
			  b.convCubes(0).src_data.offset = 64;
		  },
		  [](B &b) { b.convCubes(0).offset_u = std::numeric_limits<int64_t>::max(); } },
		{ "CUBE_EXTENT", "src_data", [](B &b) { b.addImage(y8u8v8); },
		  [](B &b) { b.convCubes(0).offset_u = B::extentBytes; } },
		{ "CUBE_LINE_STRIDE", "in_line_uv_stride", [](B &b) { b.addImage(y8u8v8); },
		  [](B &b) { b.convCubes(0).in_line_uv_stride = 0; } },
		{ "CUBE_STRIDE_ALIGNMENT", "batch_stride",
		  [](B &b) {
			  b.addConv();
			  b.conv(0).batch = b.sdp(1).batch_num = 2;
			  b.conv(0).batch_stride = b.sdp(1).batch_stride = 4096;
		  },
		  [](B &b) { b.conv(0).batch_stride = 4100; } },
		{ "CUBE_EXTENT", "src_data",
		  [](B &b) {
			  b.addConv();
			  b.conv(0).batch = b.sdp(1).batch_num = 2;
			  b.conv(0).batch_stride = b.sdp(1).batch_stride = 4096;
		  },
		  [](B &b) { b.conv(0).batch_stride = B::extentBytes - 1024; } },
	};
}

} /* namespace */

std::vector<RuleCase> convRuleCases()
{
	std::vector<RuleCase> cases = convReuseRuleCases();
	for (const auto &part :
	     { valueCases(), crossingCases(), sizeCases(), bufferCases(), memoryCases() })
		cases.insert(cases.end(), part.begin(), part.end());
	return cases;
}

} /* namespace nvdla::test */
