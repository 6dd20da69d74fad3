// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Convolution: what modes, sizes and the convolution buffer allow.
 */

#include "nvdla_check.h"
#include "nvdla_conv.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"

#define CONV_MAX_STRIDE 8
#define CONV_MAX_DILATION 32
#define CONV_MAX_PRA_TRUNCATE 2

/* A winograd kernel is 3x3, 4x4 after its transformation. */
#define WINOGRAD_EQUIVALENT_KERNEL 3
#define WINOGRAD_KERNEL 4
#define WINOGRAD_MIN_OUTPUT 8

/* CDMA asks for weights in bursts that begin at multiples of this. */
#define WEIGHT_BURST_BYTES(variant) (8 * (variant)->atom_bytes)

static void check_flag(struct nvdla_check *check, const u8 *flag)
{
	nvdla_need(check, *flag <= 1, DRM_NVDLA_RULE_CONV_FLAG, *flag, 1, NVDLA_FIELD(*flag));
}

static void check_enums(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	const u32 precisions = check->variant->precisions;

	nvdla_need(check, op->conv_mode <= NVDLA_CONV_MODE_WINOGRAD, DRM_NVDLA_RULE_CONV_MODE,
		   op->conv_mode, NVDLA_CONV_MODE_WINOGRAD, NVDLA_FIELD(op->conv_mode));
	nvdla_need(check,
		   op->conv_mode != NVDLA_CONV_MODE_WINOGRAD || check->variant->has_winograd,
		   DRM_NVDLA_RULE_CONV_NO_WINOGRAD, op->conv_mode, NVDLA_CONV_MODE_DIRECT,
		   NVDLA_FIELD(op->conv_mode));
	check_flag(check, &op->data_reuse);
	check_flag(check, &op->weight_reuse);
	check_flag(check, &op->skip_data_rls);
	check_flag(check, &op->skip_weight_rls);
	check_flag(check, &op->mean_format);
	check_flag(check, &op->pixel_override);
	check_flag(check, &op->in_cvt.enable);
	nvdla_need(check, op->data_format <= NVDLA_FORMAT_FEATURE, DRM_NVDLA_RULE_CONV_FORMAT,
		   op->data_format, NVDLA_FORMAT_FEATURE, NVDLA_FIELD(op->data_format));
	nvdla_need(check, op->pixel_mapping == 0, DRM_NVDLA_RULE_CONV_PIXEL_MAPPING,
		   op->pixel_mapping, 0, NVDLA_FIELD(op->pixel_mapping));
	nvdla_need(check,
		   op->in_precision <= NVDLA_PRECISION_FP16 &&
			   (precisions & BIT(op->in_precision)),
		   DRM_NVDLA_RULE_CONV_PRECISION, op->in_precision, NVDLA_PRECISION_FP16,
		   NVDLA_FIELD(op->in_precision));
	nvdla_need(check,
		   op->out_precision <= NVDLA_PRECISION_FP16 &&
			   (precisions & BIT(op->out_precision)),
		   DRM_NVDLA_RULE_CONV_PRECISION, op->out_precision, NVDLA_PRECISION_FP16,
		   NVDLA_FIELD(op->out_precision));
	nvdla_need(check, op->weight_format <= NVDLA_WEIGHT_COMPRESSED,
		   DRM_NVDLA_RULE_CONV_WEIGHT_FORMAT, op->weight_format, NVDLA_WEIGHT_COMPRESSED,
		   NVDLA_FIELD(op->weight_format));
	nvdla_need(check,
		   op->weight_format == NVDLA_WEIGHT_UNCOMPRESSED ||
			   check->variant->has_weight_compression,
		   DRM_NVDLA_RULE_CONV_NO_COMPRESSION, op->weight_format,
		   NVDLA_WEIGHT_UNCOMPRESSED, NVDLA_FIELD(op->weight_format));
}

static void check_ranges(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	nvdla_need(check, op->conv_stride_x >= 1 && op->conv_stride_x <= CONV_MAX_STRIDE,
		   DRM_NVDLA_RULE_CONV_STRIDE, op->conv_stride_x, CONV_MAX_STRIDE,
		   NVDLA_FIELD(op->conv_stride_x));
	nvdla_need(check, op->conv_stride_y >= 1 && op->conv_stride_y <= CONV_MAX_STRIDE,
		   DRM_NVDLA_RULE_CONV_STRIDE, op->conv_stride_y, CONV_MAX_STRIDE,
		   NVDLA_FIELD(op->conv_stride_y));
	nvdla_need(check, op->dilation_x >= 1 && op->dilation_x <= CONV_MAX_DILATION,
		   DRM_NVDLA_RULE_CONV_DILATION, op->dilation_x, CONV_MAX_DILATION,
		   NVDLA_FIELD(op->dilation_x));
	nvdla_need(check, op->dilation_y >= 1 && op->dilation_y <= CONV_MAX_DILATION,
		   DRM_NVDLA_RULE_CONV_DILATION, op->dilation_y, CONV_MAX_DILATION,
		   NVDLA_FIELD(op->dilation_y));
	nvdla_need(check, op->batch >= 1 && op->batch <= check->variant->max_batch,
		   DRM_NVDLA_RULE_CONV_BATCH, op->batch, check->variant->max_batch,
		   NVDLA_FIELD(op->batch));
	nvdla_need(check, op->post_extension <= 2, DRM_NVDLA_RULE_CONV_POST_EXTENSION,
		   op->post_extension, 2, NVDLA_FIELD(op->post_extension));
	nvdla_need(check, op->pra_truncate <= CONV_MAX_PRA_TRUNCATE,
		   DRM_NVDLA_RULE_CONV_PRA_TRUNCATE, op->pra_truncate, CONV_MAX_PRA_TRUNCATE,
		   NVDLA_FIELD(op->pra_truncate));
	nvdla_need(check, op->out_cvt.scale == 1, DRM_NVDLA_RULE_CONV_OUT_CVT, op->out_cvt.scale,
		   1, NVDLA_FIELD(op->out_cvt.scale));
	nvdla_need(check, op->out_cvt.offset == 0, DRM_NVDLA_RULE_CONV_OUT_CVT, op->out_cvt.offset,
		   0, NVDLA_FIELD(op->out_cvt.offset));
}

/* Which features may meet (guide, Limitation, Supported feature crossing). */
static void check_crossing(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			   const struct nvdla_conv_plan *plan)
{
	bool plain = !plan->image && !plan->winograd;

	nvdla_need(check, !(plan->image && plan->winograd), DRM_NVDLA_RULE_CONV_WINOGRAD_FORMAT,
		   op->data_format, NVDLA_FORMAT_FEATURE, NVDLA_FIELD(op->data_format));
	nvdla_need(check, plain || (op->dilation_x == 1 && op->dilation_y == 1),
		   DRM_NVDLA_RULE_CONV_DILATION_CROSSING, max(op->dilation_x, op->dilation_y), 1,
		   NVDLA_FIELD(op->dilation_x));
	nvdla_need(check, plain || op->batch == 1, DRM_NVDLA_RULE_CONV_BATCH_CROSSING, op->batch,
		   1, NVDLA_FIELD(op->batch));
	nvdla_need(check, plan->image || op->post_extension == 0,
		   DRM_NVDLA_RULE_CONV_POST_CROSSING, op->post_extension, 0,
		   NVDLA_FIELD(op->post_extension));

	/* Two lines of 32 channels or four of 16 fill a MAC cell. */
	nvdla_need(check,
		   op->post_extension == 0 || op->kernel_channel_csc <=
						      check->variant->mac_channels >>
						      op->post_extension,
		   DRM_NVDLA_RULE_CONV_POST_CHANNELS, op->kernel_channel_csc,
		   check->variant->mac_channels >> op->post_extension,
		   NVDLA_FIELD(op->kernel_channel_csc));
}

static void check_precisions(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			     const struct nvdla_data_cube *src, const struct nvdla_conv_plan *plan)
{
	const struct nvdla_pixel_format *format;

	if (!plan->image) {
		nvdla_need(check, op->in_precision == op->out_precision,
			   DRM_NVDLA_RULE_CONV_PRECISION_PAIR, op->out_precision, op->in_precision,
			   NVDLA_FIELD(op->out_precision));
		return;
	}

	format = nvdla_pixel_format(op->data_format);
	nvdla_need(check, op->in_precision == format->precision,
		   DRM_NVDLA_RULE_CONV_PIXEL_PRECISION, op->in_precision, format->precision,
		   NVDLA_FIELD(op->in_precision));
	nvdla_need(check, src->channel == format->channels, DRM_NVDLA_RULE_CONV_PIXEL_CHANNELS,
		   src->channel, format->channels, NVDLA_FIELD(src->channel));
	nvdla_need(check,
		   op->in_precision != NVDLA_PRECISION_FP16 ||
			   op->out_precision == NVDLA_PRECISION_FP16,
		   DRM_NVDLA_RULE_CONV_PRECISION_PAIR, op->out_precision, op->in_precision,
		   NVDLA_FIELD(op->out_precision));
}

static void need_csc(struct nvdla_check *check, u32 value, u32 expected, struct nvdla_field field)
{
	nvdla_need(check, value == expected, DRM_NVDLA_RULE_CONV_CSC_SIZE, value, expected, field);
}

static void need_kernel(struct nvdla_check *check, u32 value, u32 expected,
			struct nvdla_field field)
{
	nvdla_need(check, value == expected, DRM_NVDLA_RULE_CONV_KERNEL_SIZE, value, expected,
		   field);
}

/*
 * The kernel is at most three strides wide and high before its extension. More
 * at the right and bottom fills the output up to whole tiles.
 */
static void check_winograd_padding(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	const u32 limit_x = WINOGRAD_EQUIVALENT_KERNEL * op->conv_stride_x - 1;
	const u32 limit_y = WINOGRAD_EQUIVALENT_KERNEL * op->conv_stride_y - 1;

	nvdla_need(check, op->pad_x_left <= limit_x, DRM_NVDLA_RULE_CONV_PADDING, op->pad_x_left,
		   limit_x, NVDLA_FIELD(op->pad_x_left));
	nvdla_need(check, op->pad_y_top <= limit_y, DRM_NVDLA_RULE_CONV_PADDING, op->pad_y_top,
		   limit_y, NVDLA_FIELD(op->pad_y_top));
}

/*
 * Winograd sees a channel-extended input: stride_x * stride_y neighbours become
 * channels, so that the kernel is 3x3 with stride 1.
 */
static void check_winograd_sizes(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
				 const struct nvdla_data_cube *src,
				 const struct nvdla_data_cube *dst)
{
	u32 atom_elements = check->variant->atom_bytes / nvdla_bytes_per_element(op->in_precision);
	u32 width = src->width + op->pad_x_left + op->pad_x_right;
	u32 height = src->height + op->pad_y_top + op->pad_y_bottom;
	u32 channels = round_up((u32)src->channel, atom_elements) * op->conv_stride_x *
		       op->conv_stride_y;

	check_winograd_padding(check, op);
	need_csc(check, op->input_width_csc, DIV_ROUND_UP(width, op->conv_stride_x),
		 NVDLA_FIELD(op->input_width_csc));
	need_csc(check, op->input_height_csc, DIV_ROUND_UP(height, op->conv_stride_y),
		 NVDLA_FIELD(op->input_height_csc));
	need_csc(check, op->input_channel_csc, channels, NVDLA_FIELD(op->input_channel_csc));
	need_kernel(check, op->kernel_width_csc, WINOGRAD_KERNEL,
		    NVDLA_FIELD(op->kernel_width_csc));
	need_kernel(check, op->kernel_height_csc, WINOGRAD_KERNEL,
		    NVDLA_FIELD(op->kernel_height_csc));
	need_kernel(check, op->kernel_channel_csc, channels, NVDLA_FIELD(op->kernel_channel_csc));

	nvdla_need(check, dst->width >= WINOGRAD_MIN_OUTPUT && dst->width % 4 == 0,
		   DRM_NVDLA_RULE_CONV_WINOGRAD_OUTPUT, dst->width, WINOGRAD_MIN_OUTPUT,
		   NVDLA_FIELD(dst->width));
	nvdla_need(check, dst->height >= WINOGRAD_MIN_OUTPUT && dst->height % 4 == 0,
		   DRM_NVDLA_RULE_CONV_WINOGRAD_OUTPUT, dst->height, WINOGRAD_MIN_OUTPUT,
		   NVDLA_FIELD(dst->height));
	nvdla_need(check, dst->width + 4 == op->input_width_csc, DRM_NVDLA_RULE_CONV_OUTPUT_SIZE,
		   dst->width, op->input_width_csc - 4, NVDLA_FIELD(dst->width));
	nvdla_need(check, dst->height + 4 == op->input_height_csc, DRM_NVDLA_RULE_CONV_OUTPUT_SIZE,
		   dst->height, op->input_height_csc - 4, NVDLA_FIELD(dst->height));
}

/* One axis of a direct convolution. */
struct conv_axis {
	const u16 *in;
	const u16 *out;
	const u8 *pad_before;
	const u8 *pad_after;
	u32 kernel;
	u32 stride;
};

/*
 * The guide asks for windows that use each input element. Compilers leave up to
 * a stride of padding unused at the far side, which works; so the output has to
 * be what fits.
 */
static void check_axis(struct nvdla_check *check, const struct conv_axis *axis)
{
	u32 padded = *axis->pad_before + *axis->in + *axis->pad_after;
	u32 expected = 0;

	nvdla_need(check, *axis->in > 0, DRM_NVDLA_RULE_CUBE_EMPTY, 0, 1, NVDLA_FIELD(*axis->in));
	nvdla_need(check, *axis->pad_before < axis->kernel, DRM_NVDLA_RULE_CONV_PADDING,
		   *axis->pad_before, axis->kernel - 1, NVDLA_FIELD(*axis->pad_before));
	nvdla_need(check, *axis->pad_after < axis->kernel, DRM_NVDLA_RULE_CONV_PADDING,
		   *axis->pad_after, axis->kernel - 1, NVDLA_FIELD(*axis->pad_after));

	if (padded >= axis->kernel)
		expected = (padded - axis->kernel) / axis->stride + 1;
	nvdla_need(check, *axis->out > 0 && *axis->out == expected,
		   DRM_NVDLA_RULE_CONV_OUTPUT_SIZE, *axis->out, expected, NVDLA_FIELD(*axis->out));
}

static void check_direct_sizes(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			       const struct nvdla_data_cube *src,
			       const struct nvdla_data_cube *dst,
			       const struct nvdla_conv_plan *plan)
{
	struct conv_axis x = {
		&src->width, &dst->width, &op->pad_x_left, &op->pad_x_right, 0, op->conv_stride_x,
	};
	struct conv_axis y = {
		&op->input_height_csc, &dst->height, &op->pad_y_top, &op->pad_y_bottom, 0,
		op->conv_stride_y,
	};

	need_csc(check, op->input_width_csc, src->width, NVDLA_FIELD(op->input_width_csc));
	need_csc(check, op->input_channel_csc, src->channel, NVDLA_FIELD(op->input_channel_csc));
	/* Reused lines count for CSC, but are not fetched. */
	if (!op->data_reuse)
		need_csc(check, op->input_height_csc, src->height,
			 NVDLA_FIELD(op->input_height_csc));
	nvdla_need(check, op->kernel_width_csc > 0, DRM_NVDLA_RULE_CONV_KERNEL_SIZE, 0, 1,
		   NVDLA_FIELD(op->kernel_width_csc));
	nvdla_need(check, op->kernel_height_csc > 0, DRM_NVDLA_RULE_CONV_KERNEL_SIZE, 0, 1,
		   NVDLA_FIELD(op->kernel_height_csc));
	nvdla_need(check, src->channel > 0, DRM_NVDLA_RULE_CUBE_EMPTY, 0, 1,
		   NVDLA_FIELD(src->channel));
	if (check->failed)
		return;

	if (plan->image) {
		/* A line of the kernel has become channels: C * S of them, 1 wide. */
		need_kernel(check, op->kernel_width_csc, 1, NVDLA_FIELD(op->kernel_width_csc));
		nvdla_need(check,
			   op->kernel_channel_csc > 0 &&
				   op->kernel_channel_csc % src->channel == 0,
			   DRM_NVDLA_RULE_CONV_KERNEL_SIZE, op->kernel_channel_csc, src->channel,
			   NVDLA_FIELD(op->kernel_channel_csc));
		x.kernel = op->kernel_channel_csc / src->channel;
		y.kernel = op->kernel_height_csc;
		nvdla_need(check,
			   x.stride <= x.kernel || !check->variant->image_stride_in_kernel,
			   DRM_NVDLA_RULE_CONV_IMAGE_STRIDE, x.stride, x.kernel,
			   NVDLA_FIELD(op->conv_stride_x));
	} else {
		need_kernel(check, op->kernel_channel_csc, src->channel,
			    NVDLA_FIELD(op->kernel_channel_csc));
		x.kernel = (op->kernel_width_csc - 1) * op->dilation_x + 1;
		y.kernel = (op->kernel_height_csc - 1) * op->dilation_y + 1;
	}
	check_axis(check, &x);
	check_axis(check, &y);
}

/* Entries of the convolution buffer that a line takes. */
static u32 entries_per_slice(const struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			     const struct nvdla_data_cube *src, const struct nvdla_conv_plan *plan)
{
	const u32 entry = check->variant->cbuf_entry_bytes;
	const u32 atom = check->variant->atom_bytes;
	u32 bytes = nvdla_bytes_per_element(op->out_precision);
	u32 channel_bytes = src->channel * bytes;
	u32 columns = entry / atom;
	u32 atoms;

	if (plan->image)
		return DIV_ROUND_UP((op->pad_x_left + src->width + op->pad_x_right) *
				    channel_bytes, entry);

	/* Winograd stores tiles of four columns. */
	if (plan->winograd)
		return DIV_ROUND_UP(op->input_width_csc, 4) *
		       DIV_ROUND_UP(op->input_channel_csc * bytes, atom);

	/* The last atoms of a channel vector share entries: as many columns as there is room for. */
	atoms = DIV_ROUND_UP(channel_bytes % entry, atom);
	while (columns > 1 && columns * atoms > entry / atom)
		columns /= 2;

	return channel_bytes / entry * src->width +
	       (atoms ? DIV_ROUND_UP(src->width, columns) : 0);
}

static void check_buffer(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			 const struct nvdla_data_cube *src, const struct nvdla_conv_plan *plan)
{
	const struct nvdla_variant *variant = check->variant;
	/* The last bank holds the masks of compressed weights. */
	u32 banks = variant->cbuf_banks - (plan->compressed ? 1 : 0);
	u32 entries = entries_per_slice(check, op, src, plan);
	u64 needed = (u64)entries * op->input_height_csc * op->batch;

	nvdla_need(check, op->data_bank >= 1, DRM_NVDLA_RULE_CONV_BANKS, 0, 1,
		   NVDLA_FIELD(op->data_bank));
	nvdla_need(check, op->weight_bank >= 1, DRM_NVDLA_RULE_CONV_BANKS, 0, 1,
		   NVDLA_FIELD(op->weight_bank));
	nvdla_need(check, op->data_bank + op->weight_bank <= banks, DRM_NVDLA_RULE_CONV_BANKS,
		   op->data_bank + op->weight_bank, banks, NVDLA_FIELD(op->weight_bank));
	nvdla_need(check, op->entry_per_slice == entries, DRM_NVDLA_RULE_CONV_ENTRIES,
		   op->entry_per_slice, entries, NVDLA_FIELD(op->entry_per_slice));
	nvdla_need(check, needed <= (u64)op->data_bank * variant->cbuf_bank_entries,
		   DRM_NVDLA_RULE_CONV_DATA_BANKS, needed,
		   op->data_bank * variant->cbuf_bank_entries, NVDLA_FIELD(op->data_bank));
	nvdla_need(check,
		   op->release <= op->input_height_csc && (op->release >= 1 || op->skip_data_rls),
		   DRM_NVDLA_RULE_CONV_RELEASE, op->release, op->input_height_csc,
		   NVDLA_FIELD(op->release));
	nvdla_need(check,
		   op->fetch_grain <= 1 || !variant->fetches_unpacked_by_line ||
			   (!plan->image && src->line_stride == src->width * variant->atom_bytes),
		   DRM_NVDLA_RULE_CONV_FETCH_GRAIN, op->fetch_grain, 1,
		   NVDLA_FIELD(op->fetch_grain));
}

static void check_compressed(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			     const struct nvdla_conv_surface_desc *surface, u32 group_kernels)
{
	const struct nvdla_variant *variant = check->variant;
	u64 bank_bytes = (u64)variant->cbuf_bank_entries * variant->cbuf_entry_bytes;
	u64 kernel_elements = op->bytes_per_kernel / nvdla_bytes_per_element(op->out_precision);
	u64 mask_bytes = round_up(DIV_ROUND_UP(kernel_elements * surface->dst_data.channel, 8),
				  (u64)variant->weight_size_alignment);
	u64 group_bytes = DIV_ROUND_UP(kernel_elements * group_kernels, 8);

	nvdla_need(check, surface->wmb_data.size == mask_bytes, DRM_NVDLA_RULE_CONV_WMB_SIZE,
		   surface->wmb_data.size, mask_bytes, NVDLA_FIELD(surface->wmb_data.size));
	nvdla_need(check, group_bytes <= bank_bytes - variant->weight_slack,
		   DRM_NVDLA_RULE_CONV_WMB_BANK, group_bytes, bank_bytes - variant->weight_slack,
		   NVDLA_FIELD(op->bytes_per_kernel));
	nvdla_need(check, mask_bytes <= bank_bytes || !op->skip_weight_rls,
		   DRM_NVDLA_RULE_CONV_WEIGHT_KEPT, mask_bytes, bank_bytes,
		   NVDLA_FIELD(surface->wmb_data.size));
}

/*
 * Bytes of the weight banks that a kernel group takes while CSC waits for all of
 * it. CDMA fetches whole bursts and CSC gives back whole entries, so that beside
 * a group there may be the beginning of the next one; not if groups are whole
 * bursts, or if there is but one.
 */
static u64 group_room(const struct nvdla_variant *variant, u64 group_bytes, bool only_group)
{
	if (only_group)
		return round_up(group_bytes, (u64)variant->weight_size_alignment);

	return group_bytes +
	       (IS_ALIGNED(group_bytes, WEIGHT_BURST_BYTES(variant)) ? 0 : variant->weight_slack);
}

static void check_kernels(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			  const struct nvdla_conv_surface_desc *surface,
			  const struct nvdla_conv_plan *plan)
{
	const struct nvdla_variant *variant = check->variant;
	u64 bank_bytes = (u64)variant->cbuf_bank_entries * variant->cbuf_entry_bytes;
	u32 kernels = surface->dst_data.channel;
	u32 group_kernels = min(kernels, nvdla_group_kernels(variant, op));
	u64 kernel_bytes = (u64)op->kernel_width_csc * op->kernel_height_csc *
			   op->kernel_channel_csc * nvdla_bytes_per_element(op->out_precision);
	u64 room = group_room(variant, kernel_bytes * group_kernels, kernels == group_kernels);
	u64 all_bytes = round_up(kernel_bytes * kernels, (u64)variant->weight_size_alignment);
	u32 size = surface->weight_data.size;

	nvdla_need(check, kernels > 0, DRM_NVDLA_RULE_CUBE_EMPTY, 0, 1,
		   NVDLA_FIELD(surface->dst_data.channel));
	nvdla_need(check, op->bytes_per_kernel == kernel_bytes,
		   DRM_NVDLA_RULE_CONV_BYTES_PER_KERNEL, op->bytes_per_kernel, kernel_bytes,
		   NVDLA_FIELD(op->bytes_per_kernel));
	if (check->failed)
		return;

	nvdla_need(check, room <= op->weight_bank * bank_bytes || plan->compressed,
		   DRM_NVDLA_RULE_CONV_WEIGHT_BANKS, room, op->weight_bank * bank_bytes,
		   NVDLA_FIELD(op->weight_bank));
	nvdla_need(check, size <= op->weight_bank * bank_bytes || !op->skip_weight_rls,
		   DRM_NVDLA_RULE_CONV_WEIGHT_KEPT, size, op->weight_bank * bank_bytes,
		   NVDLA_FIELD(op->weight_bank));
	if (!plan->compressed) {
		nvdla_need(check, size == all_bytes, DRM_NVDLA_RULE_CONV_WEIGHT_SIZE, size,
			   all_bytes, NVDLA_FIELD(surface->weight_data.size));
		return;
	}
	nvdla_need(check,
		   size > 0 && size <= all_bytes &&
			   IS_ALIGNED(size, variant->weight_size_alignment),
		   DRM_NVDLA_RULE_CONV_WEIGHT_SIZE, size, all_bytes,
		   NVDLA_FIELD(surface->weight_data.size));
	check_compressed(check, op, surface, group_kernels);
}

void nvdla_check_conv_op(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			 const struct nvdla_conv_surface_desc *surface,
			 const struct nvdla_conv_plan *plan)
{
	const struct nvdla_data_cube *src = &surface->src_data;
	const struct nvdla_data_cube *dst = &surface->dst_data;

	check_enums(check, op);
	check_ranges(check, op);
	nvdla_need(check, dst->type == NVDLA_MEM_HW, DRM_NVDLA_RULE_CONV_DST_TYPE, dst->type,
		   NVDLA_MEM_HW, NVDLA_FIELD(dst->type));
	if (check->failed)
		return;

	check_crossing(check, op, plan);
	check_precisions(check, op, src, plan);
	if (check->failed)
		return;

	if (plan->winograd)
		check_winograd_sizes(check, op, src, dst);
	else
		check_direct_sizes(check, op, src, dst, plan);
	nvdla_need(check, op->input_width_cmac == dst->width, DRM_NVDLA_RULE_CONV_CMAC_SIZE,
		   op->input_width_cmac, dst->width, NVDLA_FIELD(op->input_width_cmac));
	nvdla_need(check, op->input_height_cmac == dst->height, DRM_NVDLA_RULE_CONV_CMAC_SIZE,
		   op->input_height_cmac, dst->height, NVDLA_FIELD(op->input_height_cmac));
	if (check->failed)
		return;

	check_buffer(check, op, src, plan);
	check_kernels(check, op, surface, plan);
}
