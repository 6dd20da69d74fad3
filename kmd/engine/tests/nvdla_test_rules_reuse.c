// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Rules of the reuse of data and weights in the convolution buffer. */
#include "../nvdla_platform.h"
#include "nvdla_test_rules.h"

/* Convolution 2 reuses the input lines that convolution 0 has left in the buffer. */
static void keep_data(struct nvdla_test_task *t)
{
	nvdla_test_edge(t, 0, 2, NVDLA_EVENT_OP_PROGRAMMED);
	nvdla_test_edge(t, 1, 3, NVDLA_EVENT_OP_PROGRAMMED);
	t->operations[0].conv.skip_data_rls = 1;
	t->operations[2].conv.data_reuse = 1;
}

static void keep_weights(struct nvdla_test_task *t)
{
	t->operations[0].conv.skip_weight_rls = 1;
	t->operations[2].conv.weight_reuse = 1;
}

/* Changes the size of a convolution's input, and of its output. */
static void resize_conv(struct nvdla_test_task *t, u32 conv, u32 width, u32 height, u32 channels)
{
	struct nvdla_conv_op_desc *op = &t->operations[conv].conv;
	struct nvdla_conv_surface_desc *cubes = &t->surfaces[conv].conv;

	op->input_width_csc = width;
	op->input_width_cmac = width;
	op->input_height_csc = height;
	op->input_height_cmac = height;
	op->release = height;
	cubes->src_data = nvdla_test_feature(0, 0, width, height, channels, 1);
	cubes->dst_data = nvdla_test_stream(width, height, 32, 1);
	nvdla_test_set_channels(t, conv, channels);
	nvdla_test_set_kernels(t, conv, 32);
}

static void make_reuse(struct nvdla_test_task *t)
{
	nvdla_test_add_conv(t);
	nvdla_test_add_conv(t);
	keep_data(t);
	keep_weights(t);
}

/* Convolution 0 releases six of its eight lines; convolution 2 adds six to the two kept lines. */
static void make_partial_reuse(struct nvdla_test_task *t)
{
	make_reuse(t);
	t->operations[0].conv.skip_data_rls = 0;
	t->operations[0].conv.release = 6;
	t->surfaces[2].conv.src_data = nvdla_test_feature(0, 0, 8, 6, 32, 1);
}

/* Nothing remains in the buffer, so the reuse bit makes no difference. */
static void make_empty_reuse(struct nvdla_test_task *t)
{
	make_reuse(t);
	t->operations[0].conv.skip_data_rls = 0;
}

static void make_image_reuse(struct nvdla_test_task *t)
{
	nvdla_test_add_image(t, NVDLA_TEST_A8B8G8R8);
	nvdla_test_add_image(t, NVDLA_TEST_A8B8G8R8);
	keep_data(t);
}

static void make_winograd_reuse(struct nvdla_test_task *t)
{
	nvdla_test_add_winograd(t);
	nvdla_test_add_winograd(t);
	keep_data(t);
}

static void make_compressed_reuse(struct nvdla_test_task *t)
{
	nvdla_test_add_compressed(t);
	nvdla_test_add_compressed(t);
	keep_weights(t);
	t->surfaces[0].conv.weight_data.size = 9 * 32 * 32;
	t->surfaces[2].conv.weight_data.size = 9 * 32 * 32;
}

/* Lines of 1x10x32 are kept, but 64x10x512 are read: the rest would be other clients' data. */
static void make_smaller_reuse(struct nvdla_test_task *t)
{
	nvdla_test_add_conv(t);
	nvdla_test_add_conv(t);
	keep_data(t);
	resize_conv(t, 0, 1, 10, 32);
	resize_conv(t, 2, 1, 10, 32);
	t->operations[0].conv.data_bank = 10;
	t->operations[2].conv.data_bank = 10;
	t->operations[0].conv.weight_bank = 6;
	t->operations[2].conv.weight_bank = 6;
}

static void make_many_kernels(struct nvdla_test_task *t)
{
	nvdla_test_add_conv(t);
	nvdla_test_set_kernels(t, 0, 128);
}

static void make_large_mask(struct nvdla_test_task *t)
{
	nvdla_test_add_compressed(t);
	resize_conv(t, 0, 8, 8, 512);
	nvdla_test_set_kernels(t, 0, 256);
	t->surfaces[0].conv.weight_data.size = 128;
	t->surfaces[0].conv.wmb_data.size = 9 * 512 * 256 / 8;
}

static void reuse_line_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, CONV_DATA_REUSE, OPERATION(conv, data_reuse), make_reuse,
		     t->operations[0].conv.data_reuse = 1);
	NVDLA_BREAKS(test, CONV_DATA_REUSE_LINES, OPERATION(conv, input_height_csc),
		     make_partial_reuse,
		     t->surfaces[2].conv.src_data = nvdla_test_feature(0, 0, 8, 5, 32, 1));
	NVDLA_BREAKS(test, CONV_DATA_REUSE_LINES, OPERATION(conv, input_height_csc),
		     make_partial_reuse,
		     t->surfaces[2].conv.src_data = nvdla_test_feature(0, 0, 8, 7, 32, 1));
	/* If all lines are kept, no further lines can be fetched. */
	NVDLA_BREAKS(test, CONV_DATA_REUSE_LINES, OPERATION(conv, input_height_csc), make_reuse,
		     resize_conv(t, 2, 8, 16, 32));
	/* CDMA would still fetch after CACC has delivered all sums. */
	NVDLA_BREAKS(test, CONV_DATA_REUSE_LINES, OPERATION(conv, input_height_csc),
		     make_empty_reuse,
		     t->surfaces[2].conv.src_data = nvdla_test_feature(0, 0, 8, 8192, 32, 1));

	/* In winograd mode, CDMA fetches all lines or none. */
	NVDLA_VALID(test, make_winograd_reuse);
	t->operations[0].conv.skip_data_rls = 0;
	t->operations[0].conv.release = 4;
	NVDLA_REFUSED(test, CONV_DATA_REUSE_LINES, OPERATION(conv, input_height_csc));
}

static void reuse_shape_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, CONV_DATA_REUSE_MODE, OPERATION(conv, data_bank), make_reuse,
		     t->operations[2].conv.data_bank = 2);
	NVDLA_BREAKS(test, CONV_DATA_REUSE_SHAPE, SURFACE(conv, src_data.width), make_smaller_reuse,
		     resize_conv(t, 2, 64, 10, 512));
	NVDLA_BREAKS(test, CONV_DATA_REUSE_SHAPE, SURFACE(conv, src_data.width), make_reuse,
		     resize_conv(t, 2, 7, 8, 32));

	NVDLA_VALID(test, make_reuse);
	t->operations[2].conv.weight_reuse = 0;
	resize_conv(t, 2, 8, 8, 64);
	NVDLA_REFUSED(test, CONV_DATA_REUSE_SHAPE, SURFACE(conv, src_data.channel));

	NVDLA_VALID(test, make_reuse);
	t->operations[2].conv.batch = 2;
	t->operations[3].sdp.batch_num = 2;
	t->operations[2].conv.batch_stride = 4096;
	t->operations[3].sdp.batch_stride = 4096;
	NVDLA_REFUSED(test, CONV_DATA_REUSE_SHAPE, OPERATION(conv, batch));

	NVDLA_BREAKS(test, CONV_DATA_REUSE_SHAPE, OPERATION(conv, data_format), make_image_reuse,
		     t->operations[2].conv.data_format = NVDLA_TEST_A8R8G8B8);

	NVDLA_VALID(test, make_image_reuse);
	t->operations[2].conv.pad_x_left = 0;
	t->operations[2].conv.pad_x_right = 2;
	NVDLA_REFUSED(test, CONV_DATA_REUSE_SHAPE, OPERATION(conv, pad_x_left));

	NVDLA_VALID(test, make_winograd_reuse);
	t->operations[2].conv.pad_y_top = 0;
	t->operations[2].conv.pad_y_bottom = 2;
	NVDLA_REFUSED(test, CONV_DATA_REUSE_SHAPE, OPERATION(conv, pad_y_top));
}

static void reuse_weight_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, CONV_WEIGHT_REUSE, OPERATION(conv, weight_reuse), make_reuse,
		     t->operations[0].conv.skip_weight_rls = 0);

	NVDLA_VALID(test, make_reuse);
	t->operations[0].conv.weight_reuse = 1;
	t->operations[2].conv.data_reuse = 0;
	NVDLA_REFUSED(test, CONV_WEIGHT_REUSE, OPERATION(conv, weight_reuse));

	NVDLA_BREAKS(test, CONV_WEIGHT_REUSE_SIZE, OPERATION(conv, weight_bank), make_reuse,
		     t->operations[2].conv.weight_bank = 2);
	NVDLA_BREAKS(test, CONV_WEIGHT_REUSE_SIZE, OPERATION(conv, weight_format),
		     make_compressed_reuse,
		     t->operations[2].conv.weight_format = NVDLA_WEIGHT_UNCOMPRESSED);

	/* Bytes and mask have the same sizes, but CSC waits for another number of kernels. */
	NVDLA_VALID(test, make_compressed_reuse);
	nvdla_test_set_kernels(t, 0, 31);
	t->surfaces[0].conv.weight_data.size = 128;
	t->surfaces[2].conv.weight_data.size = 128;
	NVDLA_REFUSED(test, CONV_WEIGHT_REUSE_SIZE, SURFACE(conv, dst_data.channel));

	NVDLA_BREAKS(test, CONV_WEIGHT_KEPT, OPERATION(conv, weight_bank), make_many_kernels,
		     t->operations[0].conv.skip_weight_rls = 1);
	/* The masks of 256 kernels, 3x3x512 bits each, exceed the bank for masks. */
	NVDLA_BREAKS(test, CONV_WEIGHT_KEPT, SURFACE(conv, wmb_data.size), make_large_mask,
		     t->operations[0].conv.skip_weight_rls = 1);
}

static struct kunit_case nvdla_reuse_rules_cases[] = {
	KUNIT_CASE(reuse_line_rules),
	KUNIT_CASE(reuse_shape_rules),
	KUNIT_CASE(reuse_weight_rules),
	{}
};

static struct kunit_suite nvdla_reuse_rules_suite = {
	.name = "nvdla_reuse_rules",
	.init = nvdla_rules_init,
	.test_cases = nvdla_reuse_rules_cases,
};

kunit_test_suite(nvdla_reuse_rules_suite);
