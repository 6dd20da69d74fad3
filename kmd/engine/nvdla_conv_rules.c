// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Convolution: rules of modes, sizes and the convolution buffer (programming guide, "Limitation",
 * Convolution).
 */

#include "nvdla_check.h"
#include "nvdla_conv.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"

#define CONV_MAX_STRIDE 8
#define CONV_MAX_DILATION 32
#define CONV_MAX_PRA_TRUNCATE 2

/* A Winograd kernel is 3x3 (the equivalent kernel) before its transformation and 4x4 after it. */
#define WINOGRAD_EQUIVALENT_KERNEL 3
#define WINOGRAD_KERNEL 4
#define WINOGRAD_MIN_OUTPUT 8

/* CDMA, the fetch unit, reads weights in aligned bursts of this many bytes. */
#define WEIGHT_BURST_BYTES(variant) (8 * (variant)->atom_bytes)

static void check_enums(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	const u8 *flags[] = {
		&op->data_reuse, &op->weight_reuse, &op->skip_data_rls, &op->skip_weight_rls,
		&op->mean_format, &op->pixel_override, &op->in_cvt.enable,
	};
	u32 i;

	need_range(check, op->conv_mode, 0, NVDLA_CONV_MODE_WINOGRAD, "no such convolution mode");
	need_range(check, op->conv_mode, 0,
		   check->variant->has_winograd ? NVDLA_CONV_MODE_WINOGRAD : NVDLA_CONV_MODE_DIRECT,
		   "this core has no winograd mode");
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		need_range(check, *flags[i], 0, 1, "a flag is 0 or 1");
	need_range(check, op->data_format, 0, NVDLA_FORMAT_FEATURE, "no such data format");
	need_equal(check, op->pixel_mapping, 0, "only pitch linear images are supported");
	need_precision(check, op->in_precision);
	need_precision(check, op->out_precision);
	need_range(check, op->weight_format, 0, NVDLA_WEIGHT_COMPRESSED, "no such weight format");
	need_range(check, op->weight_format, 0,
		   check->variant->has_weight_compression ? NVDLA_WEIGHT_COMPRESSED :
		   NVDLA_WEIGHT_UNCOMPRESSED, "this core does not decompress weights");
}

static void check_ranges(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	const char *out_cvt = "the output converter only truncates: scale 1, offset 0";
	const char *dilation = "dilations are 1 to 32";

	need_range(check, op->conv_stride_x, 1, CONV_MAX_STRIDE, "strides are 1 to 8");
	need_range(check, op->conv_stride_y, 1, CONV_MAX_STRIDE, "strides are 1 to 8");
	need_range(check, op->dilation_x, 1, CONV_MAX_DILATION, dilation);
	need_range(check, op->dilation_y, 1, CONV_MAX_DILATION, dilation);
	need_range(check, op->batch, 1, check->variant->max_batch,
		   "no number of cubes that a batch of this core can have");
	need_range(check, op->post_extension, 0, 2, "no such channel post-extension");
	need_range(check, op->pra_truncate, 0, CONV_MAX_PRA_TRUNCATE,
		   "the pre-addition truncates by 0, 1 or 2");
	need_equal(check, op->out_cvt.scale, 1, out_cvt);
	need_equal(check, op->out_cvt.offset, 0, out_cvt);
}

/* Combinations of features (programming guide, "Limitation", Supported feature crossing). */
static void check_crossing(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			   const struct nvdla_conv_plan *plan)
{
	bool plain = !plan->image && !plan->winograd;
	/* Post-extension 1 puts two kernel lines at a time into a MAC cell, 2 puts four. */
	u32 channels = check->variant->mac_channels >> op->post_extension;

	need(check, !plan->image || !plan->winograd, op->data_format, NVDLA_FORMAT_FEATURE,
	     "winograd works with features only");
	nvdla_state(check, plain || (op->dilation_x == 1 && op->dilation_y == 1),
		    max(op->dilation_x, op->dilation_y), 1, NVDLA_FIELD(op->dilation_x),
		    "dilation works with direct convolution of features only");
	need(check, plain || op->batch == 1, op->batch, 1,
	     "batches work with direct convolution of features only");
	need(check, plan->image || !op->post_extension, op->post_extension, 0,
	     "channel post-extension works with images only");
	need(check, !op->post_extension || op->kernel_channel_csc <= channels,
	     op->kernel_channel_csc, channels, "too many channels for this channel post-extension");
}

static void check_precisions(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			     const struct nvdla_data_cube *src, const struct nvdla_conv_plan *plan)
{
	bool converts = plan->image && op->in_precision != NVDLA_PRECISION_FP16;
	const struct nvdla_pixel_format *format;

	if (plan->image) {
		format = nvdla_pixel_format(op->data_format);
		need_equal(check, op->in_precision, format->precision,
			   "the pixel format has another input precision");
		need_equal(check, src->channel, format->channels,
			   "the pixel format has another number of channels");
	}
	need(check, converts || op->out_precision == op->in_precision, op->out_precision,
	     op->in_precision, "the convolution cannot convert between these precisions");
}

#define need_csc(check, member, expected) \
	need_equal(check, member, expected, \
			 "the input size for CSC does not follow from the input cube")
#define need_kernel(check, member, expected) \
	need_equal(check, member, expected, \
			 "the kernel size for CSC does not fit the mode")

static const char output_size[] =
	"the output size does not follow from input, kernel, padding and stride";
static const char padding[] = "the padding is not less than the kernel";

/*
 * In Winograd mode, CSC gets a channel-extended input: stride_x * stride_y neighbouring pixels are
 * combined to one pixel with all their channels, so that the kernel is 3x3 with stride 1.
 */
static void check_winograd_sizes(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
				 const struct nvdla_data_cube *src,
				 const struct nvdla_data_cube *dst)
{
	const char *tiles = "winograd needs an output of 8 or more, divisible by 4";
	u32 atom_elements = check->variant->atom_bytes / nvdla_bytes_per_element(op->in_precision);
	u32 width = src->width + op->pad_x_left + op->pad_x_right;
	u32 height = src->height + op->pad_y_top + op->pad_y_bottom;
	u32 channels = round_up((u32)src->channel, atom_elements) * op->conv_stride_x *
		       op->conv_stride_y;

	/*
	 * Before the extension, the kernel is at most three strides wide and high. The padding at
	 * the right and bottom may be larger: it fills the output up to whole 4x4 tiles.
	 */
	need_range(check, op->pad_x_left, 0,
		   WINOGRAD_EQUIVALENT_KERNEL * op->conv_stride_x - 1, padding);
	need_range(check, op->pad_y_top, 0,
		   WINOGRAD_EQUIVALENT_KERNEL * op->conv_stride_y - 1, padding);
	need_csc(check, op->input_width_csc, DIV_ROUND_UP(width, op->conv_stride_x));
	need_csc(check, op->input_height_csc, DIV_ROUND_UP(height, op->conv_stride_y));
	need_csc(check, op->input_channel_csc, channels);
	need_kernel(check, op->kernel_width_csc, WINOGRAD_KERNEL);
	need_kernel(check, op->kernel_height_csc, WINOGRAD_KERNEL);
	need_kernel(check, op->kernel_channel_csc, channels);

	need(check, dst->width >= WINOGRAD_MIN_OUTPUT && dst->width % 4 == 0, dst->width,
	     WINOGRAD_MIN_OUTPUT, tiles);
	need(check, dst->height >= WINOGRAD_MIN_OUTPUT && dst->height % 4 == 0, dst->height,
	     WINOGRAD_MIN_OUTPUT, tiles);
	need_equal(check, dst->width, op->input_width_csc - 4, output_size);
	need_equal(check, dst->height, op->input_height_csc - 4, output_size);
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
 * NVDLA's programming guide demands that windows use each input element. But compilers leave up to
 * a stride of padding unused at the right or bottom, which works. So the rule here is that the
 * output has as many elements as there is room for windows.
 */
static void check_axis(struct nvdla_check *check, const struct conv_axis *axis)
{
	u32 padded = *axis->pad_before + *axis->in + *axis->pad_after;
	u32 expected = 0;

	need_range(check, *axis->in, 1, U16_MAX, "a dimension is zero");
	need_range(check, *axis->pad_before, 0, axis->kernel - 1, padding);
	need_range(check, *axis->pad_after, 0, axis->kernel - 1, padding);
	if (padded >= axis->kernel)
		expected = (padded - axis->kernel) / axis->stride + 1;
	need(check, *axis->out > 0 && *axis->out == expected, *axis->out, expected, output_size);
}

static void check_direct_sizes(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			       const struct nvdla_data_cube *src,
			       const struct nvdla_data_cube *dst,
			       const struct nvdla_conv_plan *plan)
{
	const char *kernel_size = "the kernel size for CSC does not fit the mode";
	struct conv_axis x = {
		&src->width, &dst->width, &op->pad_x_left, &op->pad_x_right, 0, op->conv_stride_x,
	};
	struct conv_axis y = {
		&op->input_height_csc, &dst->height, &op->pad_y_top, &op->pad_y_bottom, 0,
		op->conv_stride_y,
	};

	need_csc(check, op->input_width_csc, src->width);
	need_csc(check, op->input_channel_csc, src->channel);
	/* For CSC, reused lines are a part of the input; CDMA does not fetch them. */
	if (!op->data_reuse)
		need_csc(check, op->input_height_csc, src->height);
	need_range(check, op->kernel_width_csc, 1, U16_MAX, kernel_size);
	need_range(check, op->kernel_height_csc, 1, U16_MAX, kernel_size);
	need_range(check, src->channel, 1, U16_MAX, "a dimension is zero");
	if (check->failed)
		return;

	if (plan->image) {
		/* In images, a kernel line of S pixels with C channels counts as C * S channels. */
		need_kernel(check, op->kernel_width_csc, 1);
		need(check, op->kernel_channel_csc && op->kernel_channel_csc % src->channel == 0,
		     op->kernel_channel_csc, src->channel, kernel_size);
		x.kernel = op->kernel_channel_csc / src->channel;
		y.kernel = op->kernel_height_csc;
		need(check, x.stride <= x.kernel || !check->variant->image_stride_in_kernel,
		     op->conv_stride_x, x.kernel,
		     "this core's windows of an image cannot skip columns");
	} else {
		need_kernel(check, op->kernel_channel_csc, src->channel);
		x.kernel = (op->kernel_width_csc - 1) * op->dilation_x + 1;
		y.kernel = (op->kernel_height_csc - 1) * op->dilation_y + 1;
	}
	check_axis(check, &x);
	check_axis(check, &y);
}

/* Returns the number of entries of the convolution buffer that a line takes. */
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

	/* In Winograd mode, the buffer holds tiles of four columns. */
	if (plan->winograd)
		return DIV_ROUND_UP(op->input_width_csc, 4) *
		       DIV_ROUND_UP(op->input_channel_csc * bytes, atom);

	/*
	 * The channels that remain after whole entries share an entry with those of neighbouring
	 * columns: 1, 2 or 4 columns in all, as many as fit.
	 */
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
	const char *too_many = "data and weights need more banks than there are";
	/* The last bank holds the masks of compressed weights. */
	u32 banks = variant->cbuf_banks - (plan->compressed ? 1 : 0);
	u32 entries = entries_per_slice(check, op, src, plan);
	u64 needed = (u64)entries * op->input_height_csc * op->batch;
	bool packed = !plan->image && src->line_stride == src->width * variant->atom_bytes;

	need_range(check, op->data_bank, 1, U8_MAX, too_many);
	need_range(check, op->weight_bank, 1, U8_MAX, too_many);
	need_room(check, op->data_bank + op->weight_bank, banks, op->weight_bank, too_many);
	need_equal(check, op->entry_per_slice, entries,
		   "the entries per slice do not follow from the input");
	need_room(check, needed, (u64)op->data_bank * variant->cbuf_bank_entries,
		  op->data_bank, "the input does not fit its banks");
	need_range(check, op->release, op->skip_data_rls ? 0 : 1, op->input_height_csc,
		   "more slices are released than there are");
	need(check, op->fetch_grain <= 1 || packed || !variant->fetches_unpacked_by_line,
	     op->fetch_grain, 1, "this core fetches one line at a time if lines are not packed");
}

/*
 * Returns the bytes that are occupied in the weight banks while CSC waits for a whole kernel group.
 * CDMA fetches whole bursts and CSC releases whole entries, so the banks may also hold the
 * beginning of the next group. This cannot happen if groups are whole bursts, or if there is only
 * one group.
 */
static u64 group_room(const struct nvdla_variant *variant, u64 group_bytes, bool only_group)
{
	if (only_group)
		return round_up(group_bytes, (u64)variant->weight_size_alignment);

	return group_bytes +
	       (IS_ALIGNED(group_bytes, WEIGHT_BURST_BYTES(variant)) ? 0 : variant->weight_slack);
}

static void check_compressed(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			     const struct nvdla_conv_surface_desc *surface, u32 group_kernels)
{
	const struct nvdla_variant *variant = check->variant;
	const u64 bank_bytes = (u64)variant->cbuf_bank_entries * variant->cbuf_entry_bytes;
	u64 kernel_elements = op->bytes_per_kernel / nvdla_bytes_per_element(op->out_precision);
	u64 mask_bytes = round_up(DIV_ROUND_UP(kernel_elements * surface->dst_data.channel, 8),
				  (u64)variant->weight_size_alignment);
	u64 group_bytes = DIV_ROUND_UP(kernel_elements * group_kernels, 8);

	need_equal(check, surface->wmb_data.size, mask_bytes,
		   "the size of the mask surface does not follow from the kernels");
	need_room(check, group_bytes, bank_bytes - variant->weight_slack,
		  op->bytes_per_kernel, "the mask of a kernel group does not fit its bank");
	need(check, mask_bytes <= bank_bytes || !op->skip_weight_rls, surface->wmb_data.size,
	     bank_bytes, "weights that are not released do not fit their banks at once");
}

static void check_kernels(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			  const struct nvdla_conv_surface_desc *surface,
			  const struct nvdla_conv_plan *plan)
{
	const struct nvdla_variant *variant = check->variant;
	const char *size_rule = "the size of the weights does not follow from the kernels";
	const u64 banks_bytes = (u64)op->weight_bank * variant->cbuf_bank_entries *
				variant->cbuf_entry_bytes;
	u32 kernels = surface->dst_data.channel;
	u32 group_kernels = min(kernels, nvdla_group_kernels(variant, op));
	u64 kernel_bytes = (u64)op->kernel_width_csc * op->kernel_height_csc *
			   op->kernel_channel_csc * nvdla_bytes_per_element(op->out_precision);
	u64 room = group_room(variant, kernel_bytes * group_kernels, kernels == group_kernels);
	u64 all_bytes = round_up(kernel_bytes * kernels, (u64)variant->weight_size_alignment);
	const u32 *size = &surface->weight_data.size;

	need_range(check, surface->dst_data.channel, 1, U16_MAX, "a dimension is zero");
	need_equal(check, op->bytes_per_kernel, kernel_bytes,
		   "the bytes per kernel do not follow from the kernel's size");
	if (check->failed)
		return;

	if (!plan->compressed)
		need_room(check, room, banks_bytes, op->weight_bank,
			  "a kernel group and what is fetched with it do not fit its banks");
	if (op->skip_weight_rls)
		need_room(check, *size, banks_bytes, op->weight_bank,
			  "weights that are not released do not fit their banks at once");
	if (!plan->compressed) {
		need_equal(check, *size, all_bytes, size_rule);
		return;
	}
	need(check, *size && *size <= all_bytes &&
	     IS_ALIGNED(*size, variant->weight_size_alignment), *size, all_bytes, size_rule);
	check_compressed(check, op, surface, group_kernels);
}

/* Checks the rules of a convolution that are not about memory. */
void nvdla_check_conv_op(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			 const struct nvdla_conv_surface_desc *surface,
			 const struct nvdla_conv_plan *plan)
{
	const char *cmac_size = "the output size differs from that of the output cube";
	const struct nvdla_data_cube *src = &surface->src_data;
	const struct nvdla_data_cube *dst = &surface->dst_data;

	check_enums(check, op);
	check_ranges(check, op);
	need_equal(check, dst->type, NVDLA_MEM_HW,
		   "a convolution's output goes to SDP, not to memory");
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
	need_equal(check, op->input_width_cmac, dst->width, cmac_size);
	need_equal(check, op->input_height_cmac, dst->height, cmac_size);
	if (check->failed)
		return;

	check_buffer(check, op, src, plan);
	check_kernels(check, op, surface, plan);
}
