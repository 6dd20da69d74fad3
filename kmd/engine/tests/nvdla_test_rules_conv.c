// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rules of a convolution.
 */
#include "../nvdla_platform.h"
#include "nvdla_test_rules.h"

static void make_conv(struct nvdla_test_task *t)
{
	nvdla_test_add_conv(t);
}

static void make_converter(struct nvdla_test_task *t)
{
	make_conv(t);
	t->operations[0].conv.in_cvt.scale = 1;
	t->operations[0].conv.in_cvt.enable = 1;
}

static void make_winograd(struct nvdla_test_task *t)
{
	nvdla_test_add_winograd(t);
}

static void make_compressed(struct nvdla_test_task *t)
{
	nvdla_test_add_compressed(t);
}

static void make_image(struct nvdla_test_task *t)
{
	nvdla_test_add_image(t, NVDLA_TEST_A8B8G8R8);
}

/* A 1x1 kernel with a stride of four: only every fourth column is used. */
static void make_skipping_image(struct nvdla_test_task *t)
{
	struct nvdla_conv_op_desc *op;

	make_image(t);
	op = &t->operations[0].conv;
	op->kernel_channel_csc = 4;
	op->bytes_per_kernel = 3 * 4;
	op->pad_x_left = 0;
	op->pad_x_right = 0;
	op->conv_stride_x = 4;
	op->input_width_cmac = 2;
	t->surfaces[0].conv.dst_data = nvdla_test_stream(2, 8, 32, 1);
	t->surfaces[0].conv.weight_data.size = 3 * 4 * 32;
	t->surfaces[1].sdp.src_data = t->surfaces[0].conv.dst_data;
	t->surfaces[1].sdp.dst_data = nvdla_test_feature(2, 0, 2, 8, 32, 1);
}

/* Lines that are not packed: there are gaps between them. CDMA fetches two such lines at a time. */
static void make_unpacked_lines(struct nvdla_test_task *t)
{
	make_conv(t);
	t->operations[0].conv.fetch_grain = 2;
	t->surfaces[0].conv.src_data.line_stride *= 2;
	t->surfaces[0].conv.src_data.surf_stride *= 2;
}

/* A region of an image that begins at the second pixel of each line. */
static void make_region(struct nvdla_test_task *t)
{
	make_image(t);
	t->operations[0].extended.pixel_x_offset = 1;
	t->extents[0].size = 8 * 64;
}

static void make_planes(struct nvdla_test_task *t)
{
	nvdla_test_add_image(t, NVDLA_TEST_Y8U8V8);
}

static void make_planes_behind(struct nvdla_test_task *t)
{
	make_planes(t);
	t->surfaces[0].conv.src_data.offset = 64;
}

/* An image with channel post-extension. */
static void make_extended_image(struct nvdla_test_task *t)
{
	make_image(t);
	t->operations[0].conv.post_extension = 1;
}

/* INT8 pixels and INT16 products: 256 kernels in 16 groups, whose sizes take 64 bytes. */
static void make_widening_image(struct nvdla_test_task *t)
{
	u32 last = nvdla_test_add_image(t, NVDLA_TEST_A8B8G8R8);
	struct nvdla_sdp_op_desc *sdp = &t->operations[last].sdp;
	struct nvdla_conv_op_desc *op = &t->operations[0].conv;
	struct nvdla_conv_surface_desc *cubes = &t->surfaces[0].conv;

	nvdla_test_set_kernels(t, 0, 256);
	op->out_precision = NVDLA_PRECISION_INT16;
	sdp->src_precision = NVDLA_PRECISION_INT16;
	sdp->dst_precision = NVDLA_PRECISION_INT16;
	op->bytes_per_kernel *= 2;
	op->weight_format = NVDLA_WEIGHT_COMPRESSED;
	cubes->wmb_data = nvdla_test_weights(1, 0x10000, 3 * 12 * 256 / 8);
	cubes->wgs_data = nvdla_test_weights(1, NVDLA_TEST_EXTENT_BYTES - 256, 64);
	t->surfaces[1].sdp.dst_data = nvdla_test_feature(2, 0, 8, 8, 256, 2);
}

/* Kernels of 1x1x1024 bytes: each group of 32 kernels fills a bank. */
static void fill_bank(struct nvdla_test_task *t, u32 kernels)
{
	struct nvdla_conv_op_desc *op = &t->operations[nvdla_test_add_conv(t) - 1].conv;

	op->kernel_width_csc = 1;
	op->kernel_height_csc = 1;
	op->pad_x_left = 0;
	op->pad_x_right = 0;
	op->pad_y_top = 0;
	op->pad_y_bottom = 0;
	op->data_bank = 3;
	nvdla_test_set_kernels(t, 0, kernels);
	nvdla_test_set_channels(t, 0, 1024);
}

static void make_full_bank(struct nvdla_test_task *t)
{
	fill_bank(t, 64);
}

static void make_half_bank(struct nvdla_test_task *t)
{
	fill_bank(t, 32);
}

static void conv_value_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, CONV_MODE, OPERATION(conv, conv_mode), make_conv,
		     t->operations[0].conv.conv_mode = 2);
	NVDLA_BREAKS(test, CONV_FLAG, OPERATION(conv, data_reuse), make_conv,
		     t->operations[0].conv.data_reuse = 2);
	NVDLA_BREAKS(test, CONV_FLAG, OPERATION(conv, skip_weight_rls), make_conv,
		     t->operations[0].conv.skip_weight_rls = 2);
	NVDLA_BREAKS(test, CONV_FLAG, OPERATION(conv, mean_format), make_conv,
		     t->operations[0].conv.mean_format = 2);
	NVDLA_BREAKS(test, CONV_FORMAT, OPERATION(conv, data_format), make_conv,
		     t->operations[0].conv.data_format = 37);
	NVDLA_BREAKS(test, CONV_PIXEL_MAPPING, OPERATION(conv, pixel_mapping), make_image,
		     t->operations[0].conv.pixel_mapping = 1);
	NVDLA_BREAKS(test, CONV_PRECISION, OPERATION(conv, in_precision), make_conv,
		     t->operations[0].conv.in_precision = 3);

	NVDLA_VALID(test, make_conv);
	t->variant.precisions &= ~1u;
	t->operations[0].conv.in_precision = 1;
	NVDLA_REFUSED(test, CONV_PRECISION, OPERATION(conv, out_precision));

	NVDLA_BREAKS(test, CONV_WEIGHT_FORMAT, OPERATION(conv, weight_format), make_conv,
		     t->operations[0].conv.weight_format = 2);
	NVDLA_BREAKS(test, CONV_NO_COMPRESSION, OPERATION(conv, weight_format), make_compressed,
		     t->variant.has_weight_compression = false);
	NVDLA_BREAKS(test, CONV_NO_WINOGRAD, OPERATION(conv, conv_mode), make_winograd,
		     t->variant.has_winograd = false);
	NVDLA_BREAKS(test, CONV_FETCH_GRAIN, OPERATION(conv, fetch_grain), make_unpacked_lines,
		     t->variant.fetches_unpacked_by_line = true);
	NVDLA_BREAKS(test, CONV_IMAGE_STRIDE, OPERATION(conv, conv_stride_x), make_skipping_image,
		     t->variant.image_stride_in_kernel = true);
	NVDLA_BREAKS(test, CONV_STRIDE, OPERATION(conv, conv_stride_x), make_conv,
		     t->operations[0].conv.conv_stride_x = 0);
	NVDLA_BREAKS(test, CONV_STRIDE, OPERATION(conv, conv_stride_y), make_conv,
		     t->operations[0].conv.conv_stride_y = 9);
	NVDLA_BREAKS(test, CONV_DILATION, OPERATION(conv, dilation_x), make_conv,
		     t->operations[0].conv.dilation_x = 0);
	NVDLA_BREAKS(test, CONV_DILATION, OPERATION(conv, dilation_y), make_conv,
		     t->operations[0].conv.dilation_y = 33);
	NVDLA_BREAKS(test, CONV_BATCH, OPERATION(conv, batch), make_conv,
		     t->operations[0].conv.batch = 0);
	NVDLA_BREAKS(test, CONV_BATCH, OPERATION(conv, batch), make_conv,
		     t->operations[0].conv.batch = 33);
	NVDLA_BREAKS(test, CONV_POST_EXTENSION, OPERATION(conv, post_extension), make_image,
		     t->operations[0].conv.post_extension = 3);
	NVDLA_BREAKS(test, CONV_PRA_TRUNCATE, OPERATION(conv, pra_truncate), make_winograd,
		     t->operations[0].conv.pra_truncate = 3);
	NVDLA_BREAKS(test, CONV_OUT_CVT, OPERATION(conv, out_cvt.scale), make_conv,
		     t->operations[0].conv.out_cvt.scale = 2);
	NVDLA_BREAKS(test, CONV_OUT_CVT, OPERATION(conv, out_cvt.offset), make_conv,
		     t->operations[0].conv.out_cvt.offset = -1);
	NVDLA_BREAKS(test, CONV_DST_TYPE, SURFACE(conv, dst_data.type), make_conv,
		     t->surfaces[0].conv.dst_data.type = NVDLA_MEM_MC);
	NVDLA_BREAKS(test, FIELD_WIDTH, OPERATION(conv, in_cvt.offset), make_converter,
		     t->operations[0].conv.in_cvt.offset = 40000);
	NVDLA_BREAKS(test, FIELD_WIDTH, OPERATION(conv, in_cvt.truncate), make_converter,
		     t->operations[0].conv.in_cvt.truncate = 64);
	NVDLA_BREAKS(test, FIELD_WIDTH, OPERATION(conv, fetch_grain), make_conv,
		     t->operations[0].conv.fetch_grain = 0);
	NVDLA_BREAKS(test, FIELD_WIDTH, OPERATION(conv, out_cvt.truncate), make_conv,
		     t->operations[0].conv.out_cvt.truncate = 32);
}

static void conv_crossing_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, CONV_WINOGRAD_FORMAT, OPERATION(conv, data_format), make_winograd,
		     t->operations[0].conv.data_format = NVDLA_TEST_A8B8G8R8);
	NVDLA_BREAKS(test, CONV_DILATION_CROSSING, OPERATION(conv, dilation_x), make_image,
		     t->operations[0].conv.dilation_x = 2);
	NVDLA_BREAKS(test, CONV_DILATION_CROSSING, OPERATION(conv, dilation_x), make_winograd,
		     t->operations[0].conv.dilation_y = 2);
	NVDLA_BREAKS(test, CONV_BATCH_CROSSING, OPERATION(conv, batch), make_image,
		     t->operations[0].conv.batch = 2);
	NVDLA_BREAKS(test, CONV_BATCH_CROSSING, OPERATION(conv, batch), make_winograd,
		     t->operations[0].conv.batch = 2);
	NVDLA_BREAKS(test, CONV_POST_CROSSING, OPERATION(conv, post_extension), make_conv,
		     t->operations[0].conv.post_extension = 1);
	NVDLA_BREAKS(test, CONV_POST_CROSSING, OPERATION(conv, post_extension), make_winograd,
		     t->operations[0].conv.post_extension = 1);
	NVDLA_BREAKS(test, CONV_DILATION_CROSSING, OPERATION(conv, dilation_x), make_extended_image,
		     t->operations[0].conv.dilation_y = 2);
	NVDLA_BREAKS(test, CONV_BATCH_CROSSING, OPERATION(conv, batch), make_extended_image,
		     t->operations[0].conv.batch = 2);

	NVDLA_VALID(test, make_image);
	t->operations[0].conv.post_extension = 2;
	t->operations[0].conv.kernel_channel_csc = 20;
	NVDLA_REFUSED(test, CONV_POST_CHANNELS, OPERATION(conv, kernel_channel_csc));

	NVDLA_BREAKS(test, CONV_PRECISION_PAIR, OPERATION(conv, out_precision), make_conv,
		     t->operations[0].conv.out_precision = NVDLA_PRECISION_INT16);

	NVDLA_VALID(test, make_image);
	t->operations[0].conv.data_format = 8;
	t->operations[0].conv.in_precision = NVDLA_PRECISION_FP16;
	NVDLA_REFUSED(test, CONV_PRECISION_PAIR, OPERATION(conv, out_precision));

	NVDLA_BREAKS(test, CONV_PIXEL_PRECISION, OPERATION(conv, in_precision), make_image,
		     t->operations[0].conv.in_precision = NVDLA_PRECISION_INT16);
	NVDLA_BREAKS(test, CONV_PIXEL_CHANNELS, SURFACE(conv, src_data.channel), make_image,
		     t->surfaces[0].conv.src_data.channel = 3);
}

static void conv_size_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, CONV_CSC_SIZE, OPERATION(conv, input_width_csc), make_conv,
		     t->operations[0].conv.input_width_csc = 9);
	NVDLA_BREAKS(test, CONV_CSC_SIZE, OPERATION(conv, input_height_csc), make_conv,
		     t->operations[0].conv.input_height_csc = 9);
	NVDLA_BREAKS(test, CONV_CSC_SIZE, OPERATION(conv, input_channel_csc), make_conv,
		     t->operations[0].conv.input_channel_csc = 31);
	NVDLA_BREAKS(test, CONV_CSC_SIZE, OPERATION(conv, input_channel_csc), make_winograd,
		     t->operations[0].conv.input_channel_csc = 64);
	NVDLA_BREAKS(test, CONV_CMAC_SIZE, OPERATION(conv, input_width_cmac), make_conv,
		     t->operations[0].conv.input_width_cmac = 7);
	NVDLA_BREAKS(test, CONV_KERNEL_SIZE, OPERATION(conv, kernel_width_csc), make_conv,
		     t->operations[0].conv.kernel_width_csc = 0);
	NVDLA_BREAKS(test, CONV_KERNEL_SIZE, OPERATION(conv, kernel_channel_csc), make_conv,
		     t->operations[0].conv.kernel_channel_csc = 31);
	NVDLA_BREAKS(test, CONV_KERNEL_SIZE, OPERATION(conv, kernel_width_csc), make_winograd,
		     t->operations[0].conv.kernel_width_csc = 3);
	NVDLA_BREAKS(test, CONV_KERNEL_SIZE, OPERATION(conv, kernel_channel_csc), make_image,
		     t->operations[0].conv.kernel_channel_csc = 10);

	NVDLA_VALID(test, make_conv);
	t->surfaces[0].conv.dst_data.width = 9;
	t->operations[0].conv.input_width_cmac = 9;
	NVDLA_REFUSED(test, CONV_OUTPUT_SIZE, SURFACE(conv, dst_data.width));

	NVDLA_BREAKS(test, CONV_OUTPUT_SIZE, SURFACE(conv, dst_data.height), make_conv,
		     t->operations[0].conv.conv_stride_y = 2);

	NVDLA_VALID(test, make_winograd);
	t->surfaces[0].conv.src_data = nvdla_test_feature(0, 0, 11, 10, 32, 1);
	t->operations[0].conv.input_width_csc = 13;
	NVDLA_REFUSED(test, CONV_OUTPUT_SIZE, SURFACE(conv, dst_data.width));

	NVDLA_BREAKS(test, CONV_WINOGRAD_OUTPUT, SURFACE(conv, dst_data.height), make_winograd,
		     t->surfaces[0].conv.dst_data.height = 4);
	NVDLA_BREAKS(test, CONV_WINOGRAD_OUTPUT, SURFACE(conv, dst_data.width), make_winograd,
		     t->surfaces[0].conv.dst_data.width = 10);
	NVDLA_BREAKS(test, CONV_PADDING, OPERATION(conv, pad_x_left), make_conv,
		     t->operations[0].conv.pad_x_left = 3);
	NVDLA_BREAKS(test, CONV_PADDING, OPERATION(conv, pad_x_right), make_conv,
		     t->operations[0].conv.pad_x_right = 3);
	NVDLA_BREAKS(test, CONV_PADDING, OPERATION(conv, pad_y_top), make_conv,
		     t->operations[0].conv.pad_y_top = 3);
	NVDLA_BREAKS(test, CONV_PADDING, OPERATION(conv, pad_x_left), make_image,
		     t->operations[0].conv.pad_x_left = 3);
	NVDLA_BREAKS(test, CONV_PADDING, OPERATION(conv, pad_x_left), make_winograd,
		     t->operations[0].conv.pad_x_left = 3);
	NVDLA_BREAKS(test, CONV_PADDING, OPERATION(conv, pad_y_top), make_winograd,
		     t->operations[0].conv.pad_y_top = 3);
	NVDLA_BREAKS(test, CONV_PADDING, OPERATION(conv, pad_y_bottom), make_conv,
		     t->operations[0].conv.pad_y_bottom = 3);
}

static void conv_buffer_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;
	struct nvdla_conv_op_desc *op = &t->operations[0].conv;

	NVDLA_BREAKS(test, CONV_BANKS, OPERATION(conv, data_bank), make_conv,
		     t->operations[0].conv.data_bank = 0);
	NVDLA_BREAKS(test, CONV_BANKS, OPERATION(conv, weight_bank), make_conv,
		     t->operations[0].conv.weight_bank = 0);
	NVDLA_BREAKS(test, CONV_BANKS, OPERATION(conv, weight_bank), make_conv,
		     t->operations[0].conv.weight_bank = 16);
	NVDLA_BREAKS(test, CONV_BANKS, OPERATION(conv, weight_bank), make_compressed,
		     t->operations[0].conv.weight_bank = 15);
	NVDLA_BREAKS(test, CONV_ENTRIES, OPERATION(conv, entry_per_slice), make_conv,
		     t->operations[0].conv.entry_per_slice = 3);

	NVDLA_VALID(test, make_conv);
	t->surfaces[0].conv.src_data = nvdla_test_feature(0, 0, 8, 200, 32, 1);
	t->operations[0].conv.input_height_csc = 200;
	t->operations[0].conv.release = 200;
	t->surfaces[0].conv.dst_data.height = 200;
	t->operations[0].conv.input_height_cmac = 200;
	NVDLA_REFUSED(test, CONV_DATA_BANKS, OPERATION(conv, data_bank));

	NVDLA_BREAKS(test, CONV_RELEASE, OPERATION(conv, release), make_conv,
		     t->operations[0].conv.release = 9);
	NVDLA_BREAKS(test, CONV_RELEASE, OPERATION(conv, release), make_conv,
		     t->operations[0].conv.release = 0);
	NVDLA_BREAKS(test, CONV_BYTES_PER_KERNEL, OPERATION(conv, bytes_per_kernel), make_conv,
		     t->operations[0].conv.bytes_per_kernel--);
	/* The burst with the end of the first group also has the beginning of the second. */
	NVDLA_BREAKS(test, CONV_WEIGHT_BANKS, OPERATION(conv, weight_bank), make_full_bank,
		     nvdla_test_set_channels(t, 0, 1023));
	NVDLA_BREAKS(test, CONV_WEIGHT_BANKS, OPERATION(conv, weight_bank), make_half_bank,
		     nvdla_test_set_channels(t, 0, 1025));
	NVDLA_BREAKS(test, CONV_WEIGHT_SIZE, SURFACE(conv, weight_data.size), make_conv,
		     t->surfaces[0].conv.weight_data.size += 128);
	NVDLA_BREAKS(test, CONV_WEIGHT_SIZE, SURFACE(conv, weight_data.size), make_compressed,
		     t->surfaces[0].conv.weight_data.size = 64);
	NVDLA_BREAKS(test, CONV_WMB_SIZE, SURFACE(conv, wmb_data.size), make_compressed,
		     t->surfaces[0].conv.wmb_data.size += 128);

	/* 32 kernels of 8192 elements each: their mask has 32 KiB. */
	NVDLA_VALID(test, make_compressed);
	t->surfaces[0].conv.src_data = nvdla_test_feature(0, 0, 2, 2, 8192, 1);
	t->surfaces[0].conv.dst_data = nvdla_test_stream(2, 2, 32, 1);
	op->input_width_csc = 2;
	op->input_height_csc = 2;
	op->release = 2;
	op->input_width_cmac = 2;
	op->input_height_cmac = 2;
	op->input_channel_csc = 8192;
	op->kernel_channel_csc = 8192;
	op->kernel_width_csc = 1;
	op->kernel_height_csc = 1;
	op->pad_x_left = 0;
	op->pad_x_right = 0;
	op->pad_y_top = 0;
	op->pad_y_bottom = 0;
	op->bytes_per_kernel = 8192;
	op->entry_per_slice = 128;
	op->weight_bank = 9;
	t->surfaces[0].conv.wmb_data.size = 32768;
	NVDLA_REFUSED(test, CONV_WMB_BANK, OPERATION(conv, bytes_per_kernel));

	NVDLA_BREAKS(test, CONV_WEIGHT_MEMORY, SURFACE(conv, wmb_data.type), make_compressed,
		     t->surfaces[0].conv.wmb_data.type = NVDLA_MEM_CV);
	NVDLA_BREAKS(test, CONV_WEIGHT_MEMORY, SURFACE(conv, wgs_data.type), make_compressed,
		     t->surfaces[0].conv.wgs_data.type = NVDLA_MEM_CV);
}

static void conv_memory_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, CUBE_ALIGNMENT, SURFACE(conv, weight_data.offset), make_conv,
		     t->surfaces[0].conv.weight_data.offset = 128);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(conv, weight_data), make_conv,
		     t->extents[1].size = 0x1000);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(conv, wmb_data), make_compressed,
		     t->surfaces[0].conv.wmb_data.offset = NVDLA_TEST_EXTENT_BYTES - 1024);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(conv, wgs_data), make_compressed,
		     t->surfaces[0].conv.wgs_data.offset = NVDLA_TEST_EXTENT_BYTES);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(conv, wgs_data), make_widening_image,
		     t->surfaces[0].conv.wgs_data.offset = NVDLA_TEST_EXTENT_BYTES - 32);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(conv, src_data), make_image,
		     t->extents[0].size = 8 * 64 - 33);
	NVDLA_BREAKS(test, CUBE_STRIDE_ALIGNMENT, SURFACE(conv, src_data.line_stride), make_image,
		     t->surfaces[0].conv.src_data.line_stride = 40);
	NVDLA_BREAKS(test, CONV_PIXEL_X_OFFSET, OPERATION(extended, pixel_x_offset), make_image,
		     t->operations[0].extended.pixel_x_offset = 8);
	NVDLA_BREAKS(test, CONV_PIXEL_X_OFFSET, OPERATION(extended, pixel_x_offset), make_planes,
		     t->operations[0].extended.pixel_x_offset = 32);
	NVDLA_BREAKS(test, CONV_PIXEL_X_OFFSET, OPERATION(extended, pixel_x_offset), make_conv,
		     t->operations[0].extended.pixel_x_offset = 1);

	/*
	 * An atom has 32 bytes. In make_region(), 4 skipped bytes and 32 bytes of pixels lie in two
	 * atoms of each line; in make_planes(), 12 skipped pixels push the second plane's line
	 * beyond its stride.
	 */
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(conv, src_data), make_region,
		     t->extents[0].size = 8 * 64 - 1);
	NVDLA_BREAKS(test, CUBE_LINE_STRIDE, SURFACE(conv, src_data.line_stride), make_region,
		     t->surfaces[0].conv.src_data.line_stride = 32);
	NVDLA_BREAKS(test, CUBE_LINE_STRIDE, SURFACE(conv, in_line_uv_stride), make_planes,
		     t->operations[0].extended.pixel_x_offset = 12);
	NVDLA_BREAKS(test, CUBE_LINE_STRIDE, SURFACE(conv, src_data.line_stride), make_image,
		     t->surfaces[0].conv.src_data.line_stride = 0);
	NVDLA_BREAKS(test, CUBE_OVERFLOW, SURFACE(conv, offset_u), make_planes,
		     t->surfaces[0].conv.offset_u = -32);
	NVDLA_BREAKS(test, CUBE_OVERFLOW, SURFACE(conv, offset_u), make_planes_behind,
		     t->surfaces[0].conv.offset_u = S64_MAX);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(conv, src_data), make_planes,
		     t->surfaces[0].conv.offset_u = NVDLA_TEST_EXTENT_BYTES);
	NVDLA_BREAKS(test, CUBE_LINE_STRIDE, SURFACE(conv, in_line_uv_stride), make_planes,
		     t->surfaces[0].conv.in_line_uv_stride = 0);
	NVDLA_BREAKS(test, CUBE_STRIDE_ALIGNMENT, OPERATION(conv, batch_stride),
		     nvdla_test_add_batch,
		     t->operations[0].conv.batch_stride = 4100);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(conv, src_data), nvdla_test_add_batch,
		     t->operations[0].conv.batch_stride = NVDLA_TEST_EXTENT_BYTES - 1024);
}

static struct kunit_case nvdla_conv_rules_cases[] = {
	KUNIT_CASE(conv_value_rules),
	KUNIT_CASE(conv_crossing_rules),
	KUNIT_CASE(conv_size_rules),
	KUNIT_CASE(conv_buffer_rules),
	KUNIT_CASE(conv_memory_rules),
	{}
};

static struct kunit_suite nvdla_conv_rules_suite = {
	.name = "nvdla_conv_rules",
	.init = nvdla_rules_init,
	.test_cases = nvdla_conv_rules_cases,
};

kunit_test_suite(nvdla_conv_rules_suite);
