// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What convolutions of a task leave each other in the convolution buffer.
 *
 * The buffer is addressed by pointers that CDMA and CSC move by what they fetch
 * and release, each by its own registers; nothing in the core compares what is
 * there with what is expected. If two convolutions did not agree about it, the
 * second would compute with what others left there, and the pointers would stay
 * apart for those who come next.
 */

#include "nvdla_check.h"
#include "nvdla_conv.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"

/* One of two values that have to be the same, named by the field of the later one. */
static void need_same(struct nvdla_check *check, enum drm_nvdla_rule rule, s64 value, s64 previous,
		      struct nvdla_field field)
{
	nvdla_need(check, value == previous, rule, value, previous, field);
}

/* Lines that a convolution leaves in the buffer. */
static u32 kept_lines(const struct nvdla_conv_op_desc *op)
{
	return op->skip_data_rls ? op->input_height_csc : op->input_height_csc - op->release;
}

/*
 * Lines that CDMA fetches behind those that are kept: none if all were. With
 * Winograd it counts in lines as CSC sees them.
 */
static u32 fetched_lines(const struct nvdla_conv_op_desc *op, const struct nvdla_data_cube *src,
			 const struct nvdla_conv_op_desc *previous)
{
	if (previous->skip_data_rls)
		return 0;

	return op->conv_mode == NVDLA_CONV_MODE_WINOGRAD ? op->input_height_csc : src->height;
}

/* Lines are where the earlier convolution put them and look as it made them. */
static void check_same_lines(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			     const struct nvdla_data_cube *src,
			     const struct nvdla_conv_op_desc *previous,
			     const struct nvdla_data_cube *previous_src)
{
	const enum drm_nvdla_rule mode = DRM_NVDLA_RULE_CONV_DATA_REUSE_MODE;
	const enum drm_nvdla_rule shape = DRM_NVDLA_RULE_CONV_DATA_REUSE_SHAPE;
	bool winograd = op->conv_mode == NVDLA_CONV_MODE_WINOGRAD;

	need_same(check, mode, op->conv_mode, previous->conv_mode, NVDLA_FIELD(op->conv_mode));
	need_same(check, mode, op->data_bank, previous->data_bank, NVDLA_FIELD(op->data_bank));
	need_same(check, shape, op->data_format, previous->data_format,
		  NVDLA_FIELD(op->data_format));
	need_same(check, shape, op->in_precision, previous->in_precision,
		  NVDLA_FIELD(op->in_precision));
	need_same(check, shape, op->out_precision, previous->out_precision,
		  NVDLA_FIELD(op->out_precision));
	need_same(check, shape, op->batch, previous->batch, NVDLA_FIELD(op->batch));
	need_same(check, shape, src->width, previous_src->width, NVDLA_FIELD(src->width));
	need_same(check, shape, src->channel, previous_src->channel, NVDLA_FIELD(src->channel));
	need_same(check, shape, op->entry_per_slice, previous->entry_per_slice,
		  NVDLA_FIELD(op->entry_per_slice));

	/* CSC makes the padding of a feature; that of the others is in the buffer. */
	if (!winograd && op->data_format == NVDLA_FORMAT_FEATURE)
		return;
	need_same(check, shape, op->pad_x_left, previous->pad_x_left, NVDLA_FIELD(op->pad_x_left));
	need_same(check, shape, op->pad_x_right, previous->pad_x_right,
		  NVDLA_FIELD(op->pad_x_right));
	if (!winograd)
		return;

	/* So are Winograd's lines and its stride, which became channels. */
	need_same(check, shape, op->pad_y_top, previous->pad_y_top, NVDLA_FIELD(op->pad_y_top));
	need_same(check, shape, op->conv_stride_x, previous->conv_stride_x,
		  NVDLA_FIELD(op->conv_stride_x));
	need_same(check, shape, op->conv_stride_y, previous->conv_stride_y,
		  NVDLA_FIELD(op->conv_stride_y));
}

/*
 * CSC begins once there are input_height_csc lines. Were there fewer it would wait
 * for ever; were there more, CDMA would still fetch when the sums are out, and the
 * rest would stay in the buffer.
 */
static void check_data_reuse(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			     const struct nvdla_data_cube *src,
			     const struct nvdla_conv_op_desc *previous,
			     const struct nvdla_data_cube *previous_src)
{
	u32 kept = kept_lines(previous);
	u32 lines = kept + fetched_lines(op, src, previous);

	nvdla_need(check, op->input_height_csc == lines, DRM_NVDLA_RULE_CONV_DATA_REUSE_LINES,
		   op->input_height_csc, lines, NVDLA_FIELD(op->input_height_csc));
	/* Where everything was released there is nothing to agree about. */
	if (kept > 0)
		check_same_lines(check, op, src, previous, previous_src);
}

/* CSC counts kernels, CDMA bytes. The size of the masks follows from what is compared. */
static void check_weight_reuse(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			       const struct nvdla_conv_surface_desc *surface,
			       const struct nvdla_conv_op_desc *previous,
			       const struct nvdla_conv_surface_desc *previous_surface)
{
	const enum drm_nvdla_rule size = DRM_NVDLA_RULE_CONV_WEIGHT_REUSE_SIZE;

	need_same(check, size, op->bytes_per_kernel, previous->bytes_per_kernel,
		  NVDLA_FIELD(op->bytes_per_kernel));
	need_same(check, size, op->out_precision, previous->out_precision,
		  NVDLA_FIELD(op->out_precision));
	need_same(check, size, surface->dst_data.channel, previous_surface->dst_data.channel,
		  NVDLA_FIELD(surface->dst_data.channel));
	need_same(check, size, surface->weight_data.size, previous_surface->weight_data.size,
		  NVDLA_FIELD(surface->weight_data.size));
	need_same(check, size, op->weight_format, previous->weight_format,
		  NVDLA_FIELD(op->weight_format));
	need_same(check, size, op->data_bank, previous->data_bank, NVDLA_FIELD(op->data_bank));
	need_same(check, size, op->weight_bank, previous->weight_bank,
		  NVDLA_FIELD(op->weight_bank));
}

/* @previous is the convolution before the current one, or NVDLA_NO_OP. */
static void check_reuse(struct nvdla_check *check, u16 previous)
{
	const struct nvdla_conv_op_desc *op = &check->source->operations[check->operation].conv;
	const struct nvdla_conv_surface_desc *surface =
		&check->source->surfaces[check->operation].conv;
	const struct nvdla_conv_op_desc *previous_op = NULL;
	const struct nvdla_conv_surface_desc *previous_surface = NULL;

	if (previous != NVDLA_NO_OP) {
		previous_op = &check->source->operations[previous].conv;
		previous_surface = &check->source->surfaces[previous].conv;
	}

	if (op->data_reuse && nvdla_need(check, previous_op, DRM_NVDLA_RULE_CONV_DATA_REUSE, 1, 0,
					 NVDLA_FIELD(op->data_reuse)))
		check_data_reuse(check, op, &surface->src_data, previous_op,
				 &previous_surface->src_data);

	if (op->weight_reuse &&
	    nvdla_need(check, previous_op && previous_op->skip_weight_rls,
		       DRM_NVDLA_RULE_CONV_WEIGHT_REUSE, 1, 0, NVDLA_FIELD(op->weight_reuse)))
		check_weight_reuse(check, op, surface, previous_op, previous_surface);
}

/* Anything but what this very task left is somebody else's data. */
void nvdla_check_conv_reuse(struct nvdla_check *check)
{
	const struct nvdla_queue *queue = &check->prepared->queue[NVDLA_OP_CONV];
	const u16 *entries = &check->prepared->queue_entries[queue->first];
	u16 previous = NVDLA_NO_OP;
	u32 i;

	for (i = 0; i < queue->count && !check->failed; i++) {
		nvdla_check_set_operation(check, entries[i]);
		check_reuse(check, previous);
		previous = entries[i];
	}
}
