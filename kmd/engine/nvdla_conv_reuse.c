// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Reuse of data and weights that an earlier convolution of the task left in the convolution buffer.
 *
 * CDMA (writes the buffer) and CSC (reads it) each have a pointer into the buffer. Each moves its
 * pointer by the entries that it fetches or releases, according to its own registers. The core does
 * not check that the buffer has the expected contents. If the registers of two convolutions
 * disagreed, the second would compute with other data, and the two pointers would differ for all
 * later convolutions.
 */

#include "nvdla_check.h"
#include "nvdla_conv.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"

/* Returns the number of lines that a convolution leaves in the buffer. */
static u32 kept_lines(const struct nvdla_conv_op_desc *op)
{
	return op->skip_data_rls ? op->input_height_csc : op->input_height_csc - op->release;
}

/*
 * Returns the number of lines that CDMA fetches in addition to the kept lines; 0 if the previous
 * convolution kept all. In Winograd mode, lines are counted as CSC sees them.
 */
static u32 fetched_lines(const struct nvdla_conv_op_desc *op, const struct nvdla_data_cube *src,
			 const struct nvdla_conv_op_desc *previous)
{
	if (previous->skip_data_rls)
		return 0;

	return op->conv_mode == NVDLA_CONV_MODE_WINOGRAD ? op->input_height_csc : src->height;
}

/* Checks that the kept lines have the place and the layout that this convolution expects. */
static void check_same_lines(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			     const struct nvdla_data_cube *src,
			     const struct nvdla_conv_op_desc *previous,
			     const struct nvdla_data_cube *previous_src)
{
	const char *mode = "data is reused with the same mode and banks only";
	const char *shape = "the lines that are kept have another shape or format";
	bool winograd = op->conv_mode == NVDLA_CONV_MODE_WINOGRAD;

	need_equal(check, op->conv_mode, previous->conv_mode, mode);
	need_equal(check, op->data_bank, previous->data_bank, mode);
	need_equal(check, op->data_format, previous->data_format, shape);
	need_equal(check, op->in_precision, previous->in_precision, shape);
	need_equal(check, op->out_precision, previous->out_precision, shape);
	need_equal(check, op->batch, previous->batch, shape);
	need_equal(check, src->width, previous_src->width, shape);
	need_equal(check, src->channel, previous_src->channel, shape);
	need_equal(check, op->entry_per_slice, previous->entry_per_slice, shape);

	/* CSC adds the padding of feature data; the padding of other formats is in the buffer. */
	if (!winograd && op->data_format == NVDLA_FORMAT_FEATURE)
		return;
	need_equal(check, op->pad_x_left, previous->pad_x_left, shape);
	need_equal(check, op->pad_x_right, previous->pad_x_right, shape);
	if (!winograd)
		return;

	/* In winograd mode, buffered data also depend on padding and stride. */
	need_equal(check, op->pad_y_top, previous->pad_y_top, shape);
	need_equal(check, op->conv_stride_x, previous->conv_stride_x, shape);
	need_equal(check, op->conv_stride_y, previous->conv_stride_y, shape);
}

/*
 * CSC begins once input_height_csc lines are in the buffer. With fewer lines CSC would wait for
 * ever. With more lines, CDMA would still fetch after all sums are done, and the rest would stay
 * in the buffer.
 */
static void check_data_reuse(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			     const struct nvdla_data_cube *src,
			     const struct nvdla_conv_op_desc *previous,
			     const struct nvdla_data_cube *previous_src)
{
	u32 kept = kept_lines(previous);

	need_equal(check, op->input_height_csc, kept + fetched_lines(op, src, previous),
		   "the input lines are not those that are kept and fetched");
	/* If the earlier convolution released everything, nothing has to match. */
	if (kept > 0)
		check_same_lines(check, op, src, previous, previous_src);
}

/*
 * CSC counts weights in kernels and CDMA counts them in bytes, so both counts have to match. The
 * size of the masks of compressed weights follows from the values compared here.
 */
static void check_weight_reuse(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			       const struct nvdla_conv_surface_desc *surface,
			       const struct nvdla_conv_op_desc *previous,
			       const struct nvdla_conv_surface_desc *previous_surface)
{
	const char *size = "the previous convolution's weights have another shape or place";

	need_equal(check, op->bytes_per_kernel, previous->bytes_per_kernel, size);
	need_equal(check, op->out_precision, previous->out_precision, size);
	need_equal(check, surface->dst_data.channel, previous_surface->dst_data.channel, size);
	need_equal(check, surface->weight_data.size, previous_surface->weight_data.size, size);
	need_equal(check, op->weight_format, previous->weight_format, size);
	need_equal(check, op->data_bank, previous->data_bank, size);
	need_equal(check, op->weight_bank, previous->weight_bank, size);
}

/* Checks what the current convolution reuses of convolution @previous (NVDLA_NO_OP: none). */
static void check_reuse(struct nvdla_check *check, u16 previous)
{
	const struct nvdla_task_source *source = check->source;
	const struct nvdla_conv_op_desc *op = &source->operations[check->operation].conv;
	const struct nvdla_conv_surface_desc *surface = &source->surfaces[check->operation].conv;
	const struct nvdla_conv_op_desc *previous_op = NULL;
	const struct nvdla_conv_surface_desc *previous_surface = NULL;

	if (previous != NVDLA_NO_OP) {
		previous_op = &source->operations[previous].conv;
		previous_surface = &source->surfaces[previous].conv;
	}

	if (op->data_reuse &&
	    need(check, previous_op, op->data_reuse, 0,
		 "no convolution of this task comes before it and leaves data to reuse"))
		check_data_reuse(check, op, &surface->src_data, previous_op,
				 &previous_surface->src_data);
	if (op->weight_reuse &&
	    need(check, previous_op && previous_op->skip_weight_rls, op->weight_reuse, 0,
		 "the previous convolution of this task leaves no weights to reuse"))
		check_weight_reuse(check, op, surface, previous_op, previous_surface);
}

/*
 * Checks reuse between convolutions, after every operation was checked by itself. Data in the
 * buffer may belong to another client if this task did not put them there, so their reuse is
 * refused.
 */
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
