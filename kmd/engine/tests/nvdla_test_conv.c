// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "../nvdla_platform.h"
#include "nvdla_test_task.h"

#define ATOM_BYTES 32
#define WEIGHT_BYTES 128

static u32 nvdla_test_weight_bytes(u32 bytes_per_kernel, u32 kernels)
{
	return DIV_ROUND_UP(bytes_per_kernel * kernels, WEIGHT_BYTES) * WEIGHT_BYTES;
}

/* Sets the sizes of a convolution that follow from other members. */
static void nvdla_test_finish_conv(struct nvdla_conv_op_desc *op,
				   struct nvdla_conv_surface_desc *cubes)
{
	u32 bytes = op->out_precision == NVDLA_PRECISION_INT8 ? 1 : 2;

	op->bytes_per_kernel = op->kernel_width_csc * op->kernel_height_csc *
			       op->kernel_channel_csc * bytes;
	cubes->weight_data = nvdla_test_weights(1, 0,
						nvdla_test_weight_bytes(op->bytes_per_kernel,
									cubes->dst_data.channel));
	op->input_width_cmac = cubes->dst_data.width;
	op->input_height_cmac = cubes->dst_data.height;
}

/**
 * nvdla_test_add_conv() - add an 8x8x32 INT8 convolution with 3x3 kernels, and SDP behind it
 * @t: task graph
 *
 * Return: the index of SDP, which is behind that of the convolution.
 */
u32 nvdla_test_add_conv(struct nvdla_test_task *t)
{
	u32 index = nvdla_test_add(t, NVDLA_OP_CONV);
	struct nvdla_conv_op_desc *op = &t->operations[index].conv;
	struct nvdla_conv_surface_desc *cubes = &t->surfaces[index].conv;
	u32 last;

	op->entry_per_slice = 2;
	op->data_format = NVDLA_FORMAT_FEATURE;
	op->fetch_grain = 1;
	op->batch = 1;
	op->data_bank = 1;
	op->weight_bank = 1;
	op->release = 8;
	op->input_width_csc = 8;
	op->input_height_csc = 8;
	op->input_channel_csc = 32;
	op->kernel_width_csc = 3;
	op->kernel_height_csc = 3;
	op->kernel_channel_csc = 32;
	op->conv_stride_x = 1;
	op->conv_stride_y = 1;
	op->pad_x_left = 1;
	op->pad_x_right = 1;
	op->pad_y_top = 1;
	op->pad_y_bottom = 1;
	op->dilation_x = 1;
	op->dilation_y = 1;
	op->out_cvt.scale = 1;
	cubes->src_data = nvdla_test_feature(0, 0, 8, 8, 32, 1);
	cubes->dst_data = nvdla_test_stream(8, 8, 32, 1);
	nvdla_test_finish_conv(op, cubes);

	last = nvdla_test_add_sdp(t);
	t->surfaces[last].sdp.src_data = nvdla_test_stream(8, 8, 32, 1);
	nvdla_test_fuse(t, index, last);
	return last;
}

/* Adds a convolution and SDP with a batch of two cubes, as operations 0 and 1. */
void nvdla_test_add_batch(struct nvdla_test_task *t)
{
	nvdla_test_add_conv(t);
	t->operations[0].conv.batch = 2;
	t->operations[1].sdp.batch_num = 2;
	t->operations[0].conv.batch_stride = 4096;
	t->operations[1].sdp.batch_stride = 4096;
}

/**
 * nvdla_test_set_channels() - change the number of channels of a convolution's input
 * @t: task graph
 * @conv: index of the convolution, of INT8 features
 * @channels: 1 or more
 */
void nvdla_test_set_channels(struct nvdla_test_task *t, u32 conv, u32 channels)
{
	struct nvdla_conv_op_desc *op = &t->operations[conv].conv;
	struct nvdla_conv_surface_desc *cubes = &t->surfaces[conv].conv;
	const struct nvdla_data_cube in = cubes->src_data;
	u32 atoms = DIV_ROUND_UP(channels % 128, ATOM_BYTES);
	/* An entry of 128 bytes has room for 4 columns of one atom each, or 2 columns of two. */
	u32 columns = atoms == 1 ? 4 : atoms == 2 ? 2 : 1;

	op->input_channel_csc = channels;
	op->kernel_channel_csc = channels;
	op->bytes_per_kernel = op->kernel_width_csc * op->kernel_height_csc * channels;
	op->entry_per_slice = channels / 128 * in.width +
			      (atoms ? DIV_ROUND_UP(in.width, columns) : 0);
	cubes->src_data = nvdla_test_feature(in.address, in.offset, in.width, in.height, channels,
					     1);
	cubes->weight_data.size = nvdla_test_weight_bytes(op->bytes_per_kernel,
							  cubes->dst_data.channel);
}

/**
 * nvdla_test_set_kernels() - change the number of kernels of a convolution
 * @t: task graph
 * @conv: index of the convolution, behind which SDP follows
 * @kernels: 1 or more
 */
void nvdla_test_set_kernels(struct nvdla_test_task *t, u32 conv, u32 kernels)
{
	struct nvdla_conv_surface_desc *cubes = &t->surfaces[conv].conv;
	struct nvdla_sdp_surface_desc *sdp = &t->surfaces[conv + 1].sdp;
	u32 width = cubes->dst_data.width;
	u32 height = cubes->dst_data.height;

	cubes->dst_data = nvdla_test_stream(width, height, kernels, 1);
	cubes->weight_data.size =
		nvdla_test_weight_bytes(t->operations[conv].conv.bytes_per_kernel, kernels);
	sdp->src_data = cubes->dst_data;
	sdp->x1_data = nvdla_test_feature(1, 0x100000, 1, 1, kernels, 1);
	sdp->dst_data = nvdla_test_feature(2, 0, width, height, kernels, 1);
}

/**
 * nvdla_test_add_winograd() - do nvdla_test_add_conv(), in winograd mode
 * @t: task graph
 *
 * Return: the index of SDP.
 */
u32 nvdla_test_add_winograd(struct nvdla_test_task *t)
{
	u32 last = nvdla_test_add_conv(t);
	struct nvdla_conv_op_desc *op = &t->operations[last - 1].conv;
	struct nvdla_conv_surface_desc *cubes = &t->surfaces[last - 1].conv;

	op->conv_mode = NVDLA_CONV_MODE_WINOGRAD;
	op->input_width_csc = 12;
	op->input_height_csc = 12;
	op->kernel_width_csc = 4;
	op->kernel_height_csc = 4;
	op->entry_per_slice = 3;
	op->release = 12;
	cubes->src_data = nvdla_test_feature(0, 0, 10, 10, 32, 1);
	nvdla_test_finish_conv(op, cubes);
	t->operations[last].sdp.conv_mode = NVDLA_CONV_MODE_WINOGRAD;
	return last;
}

/**
 * nvdla_test_add_compressed() - do nvdla_test_add_conv(), with compressed weights
 * @t: task graph
 *
 * Return: the index of SDP.
 */
u32 nvdla_test_add_compressed(struct nvdla_test_task *t)
{
	u32 last = nvdla_test_add_conv(t);
	struct nvdla_conv_op_desc *op = &t->operations[last - 1].conv;
	struct nvdla_conv_surface_desc *cubes = &t->surfaces[last - 1].conv;
	u32 mask_bytes = nvdla_test_weight_bytes(9 * 32 / 8, 32);

	op->weight_format = NVDLA_WEIGHT_COMPRESSED;
	cubes->weight_data.size = WEIGHT_BYTES;
	cubes->wmb_data = nvdla_test_weights(1, 0x10000, mask_bytes);
	cubes->wgs_data = nvdla_test_weights(1, 0x20000, 4);
	return last;
}

/**
 * nvdla_test_add_image() - add a convolution of an 8x8 image, and SDP behind it
 * @t: task graph
 * @format: NVDLA_TEST_A8B8G8R8, NVDLA_TEST_A8R8G8B8 or NVDLA_TEST_Y8U8V8
 *
 * Return: the index of SDP.
 */
u32 nvdla_test_add_image(struct nvdla_test_task *t, u32 format)
{
	u32 last = nvdla_test_add_conv(t);
	struct nvdla_conv_op_desc *op = &t->operations[last - 1].conv;
	struct nvdla_conv_surface_desc *cubes = &t->surfaces[last - 1].conv;
	u32 channels = format < NVDLA_TEST_Y8U8V8 ? 4 : 3;

	op->data_format = format;
	op->input_channel_csc = channels;
	op->kernel_width_csc = 1;
	op->kernel_channel_csc = 3 * channels;
	op->entry_per_slice = 1;
	cubes->src_data = nvdla_test_feature(0, 0, 8, 8, channels, 1);
	cubes->src_data.line_stride = 64;
	cubes->src_data.surf_stride = 0;
	if (channels == 3) {
		cubes->offset_u = 0x1000;
		cubes->in_line_uv_stride = 32;
	}
	nvdla_test_finish_conv(op, cubes);
	return last;
}
