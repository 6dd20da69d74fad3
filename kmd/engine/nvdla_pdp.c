// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* PDP: pooling, from memory or from SDP's stream (programming guide, "Limitation", PDP). */

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

#define PDP_MAX_KERNEL 8
#define PDP_MAX_STRIDE 16
#define PDP_MAX_SPLIT 64

/* A part of a split operation: a vertical strip of the output, computed in a pass of its own. */
struct pdp_part {
	const u16 *in;
	const u16 *out;
	u32 pad;	/* columns of padding beside this part */
	bool first;
};

static void check_op(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op)
{
	const char *kernel = "kernels are 1 to 8 wide and high";
	const char *padding = "the padding is not less than the kernel";
	u32 i;

	need_precision(check, op->precision);
	need_range(check, op->pool_mode, 0, NVDLA_POOL_MIN, "no such pooling mode");
	need_range(check, op->pool_width, 0, PDP_MAX_KERNEL - 1, kernel);
	need_range(check, op->pool_height, 0, PDP_MAX_KERNEL - 1, kernel);
	need_range(check, op->stride_x, 1, PDP_MAX_STRIDE, "strides are 1 to 16");
	need_range(check, op->stride_y, 1, PDP_MAX_STRIDE, "strides are 1 to 16");

	/* pool_width and pool_height are already one less than the kernel. */
	need_range(check, op->pad_left, 0, op->pool_width, padding);
	need_range(check, op->pad_right, 0, op->pool_width, padding);
	need_range(check, op->pad_top, 0, op->pool_height, padding);
	need_range(check, op->pad_bottom, 0, op->pool_height, padding);

	if (op->precision != NVDLA_PRECISION_FP16)
		return;
	for (i = 0; i < ARRAY_SIZE(op->padding_value); i++)
		need_equal(check, op->padding_value[i], 0, "with FP16 padding values are zero");
}

static void check_size(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
		       const struct nvdla_data_cube *src, const struct nvdla_data_cube *dst)
{
	s32 used_width = (dst->width - 1) * op->stride_x + op->pool_width + 1;
	s32 used_height = (dst->height - 1) * op->stride_y + op->pool_height + 1;
	s32 width = op->pad_left + src->width + op->pad_right;
	s32 height = op->pad_top + src->height + op->pad_bottom;

	need_equal(check, dst->channel, src->channel,
		   "input and output have to have the same channels");
	nvdla_state(check, dst->width > 0 && width == used_width, used_width, width,
		    NVDLA_FIELD(dst->width), "the windows do not use each input column exactly");
	nvdla_state(check, dst->height > 0 && height == used_height, used_height, height,
		    NVDLA_FIELD(dst->height), "the windows do not use each input line exactly");
}

/*
 * Returns the number of output columns that fit the buffer for unfinished windows. An input line
 * can be part of the windows of several output lines. The buffer is divided by their number, which
 * the hardware rounds up to a power of two. An INT8 sum takes 14 bits, other sums take 28.
 */
static u32 max_width(const struct nvdla_check *check, const struct nvdla_pdp_op_desc *op)
{
	u32 lines = DIV_ROUND_UP(op->pool_height + 1, op->stride_y);
	bool int8 = op->precision == NVDLA_PRECISION_INT8;
	u32 atom_elements = check->variant->atom_bytes / nvdla_bytes_per_element(op->precision);
	u32 banks = 1;

	while (banks < lines)
		banks *= 2;

	return check->variant->pdp_line_bytes * 8 / (banks * atom_elements * (int8 ? 14 : 28));
}

/*
 * The input of a part begins behind the last column that the previous part's windows use. If
 * kernels are wider than the stride, PDP keeps the columns that windows of both parts use.
 */
static void check_part(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
		       const struct pdp_part *part)
{
	s32 expected = *part->out * op->stride_x - (s32)part->pad;

	if (part->first)
		expected += op->pool_width + 1 - op->stride_x;
	need_range(check, *part->out, 1, max_width(check, op),
		   "the output is too wide for the line buffer");
	need(check, *part->in >= 1 && *part->in == expected, *part->in, expected,
	     "the input width of a part does not follow from its output width");
}

/*
 * Two successive windows share columns, or leave a gap of columns between them. At the border of
 * two parts, these columns have to lie within one of the parts.
 */
static void check_overlap(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
			  const struct pdp_part *part)
{
	s32 shared = op->pool_width + 1 - op->stride_x;

	need_range(check, *part->in, shared >= 0 ? shared : 1 - shared, U16_MAX,
		   "what windows share or skip between parts does not fit into a part");
}

static void check_split(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
			const struct nvdla_pair_surface_desc *surface)
{
	const struct pdp_part first = { &op->partial_in_width_first, &op->partial_width_first,
					op->pad_left, true };
	const struct pdp_part mid = { &op->partial_in_width_mid, &op->partial_width_mid, 0,
				      false };
	const struct pdp_part last = { &op->partial_in_width_last, &op->partial_width_last,
				       op->pad_right, false };
	u32 mids = op->split_num - 2;
	u32 out = *first.out + *last.out + mids * *mid.out;

	/* The parts' input widths add up to the whole width, because windows use each column. */
	check_part(check, op, &first);
	if (mids > 0)
		check_part(check, op, &mid);
	check_part(check, op, &last);
	nvdla_state(check, out == surface->dst_data.width, out, surface->dst_data.width,
		    NVDLA_FIELD(op->partial_width_last),
		    "the widths of the parts do not add up to the output");

	/* With two parts, shared columns are in the first part, and gaps in the last part. */
	if (mids > 0 || op->pool_width + 1 >= op->stride_x)
		check_overlap(check, op, &first);
	if (mids > 0)
		check_overlap(check, op, &mid);
	if (mids > 0 || op->pool_width + 1 < op->stride_x)
		check_overlap(check, op, &last);
}

static void check_parts(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
			const struct nvdla_pair_surface_desc *surface)
{
	bool flying = surface->src_data.type == NVDLA_MEM_HW;

	need_range(check, op->split_num, 1, PDP_MAX_SPLIT, "a cube is split into 1 to 64 parts");
	need(check, !flying || op->split_num == 1, op->split_num, 1, "a stream cannot be split");
	if (check->failed)
		return;

	if (op->split_num > 1)
		check_split(check, op, surface);
	else
		need_range(check, surface->dst_data.width, 0, max_width(check, op),
			   "the output is too wide for the line buffer");
}

/* Encodes widths of parts, 0 without a split. All registers for widths have the same fields. */
static u32 part_widths(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
		       const u16 *first, const u16 *mid, const u16 *last)
{
	if (op->split_num == 1)
		return 0;

	return nvdla_encode(check, NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_FIRST,
			    NVDLA_MINUS_ONE, NVDLA_FIELD(*first)) |
	       (op->split_num == 2 ? 0 :
		nvdla_encode(check, NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_MID,
			     NVDLA_MINUS_ONE, NVDLA_FIELD(*mid))) |
	       nvdla_encode(check, NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_LAST,
			    NVDLA_MINUS_ONE, NVDLA_FIELD(*last));
}

static void program_rdma(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
			 const struct nvdla_data_cube *src, u32 access, u32 widths_in)
{
	put_count(check, PDP_RDMA_D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH, src->width);
	put_count(check, PDP_RDMA_D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT, src->height);
	put_count(check, PDP_RDMA_D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL, src->channel);
	emit(check, PDP_RDMA_D_FLYING_MODE, NVDLA_PDP_RDMA_D_FLYING_MODE__FLYING_MODE__OFF_FLYING);
	emit_address(check, PDP_RDMA_D_SRC_BASE_ADDR, access);
	emit(check, PDP_RDMA_D_SRC_LINE_STRIDE, src->line_stride);
	emit(check, PDP_RDMA_D_SRC_SURFACE_STRIDE, src->surf_stride);
	emit(check, PDP_RDMA_D_SRC_RAM_CFG, nvdla_ram_type(src->type));
	emit(check, PDP_RDMA_D_DATA_FORMAT, op->precision);
	emit(check, PDP_RDMA_D_OPERATION_MODE_CFG, op->split_num - 1);
	put(check, PDP_RDMA_D_POOLING_KERNEL_CFG, KERNEL_WIDTH, op->pool_width);
	put_count(check, PDP_RDMA_D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH, op->stride_x);
	put(check, PDP_RDMA_D_POOLING_PADDING_CFG, PAD_WIDTH, op->pad_left);
	emit(check, PDP_RDMA_D_PARTIAL_WIDTH_IN, widths_in);
	emit_counting(check, PDP_RDMA_D_PERF_ENABLE, NVDLA_PDP_RDMA_D_PERF_ENABLE__DMA_EN);
}

static void program_cubes(struct nvdla_check *check, const struct nvdla_data_cube *src,
			  const struct nvdla_data_cube *dst, u32 src_access, u32 dst_access)
{
	put_count(check, PDP_D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH, src->width);
	put_count(check, PDP_D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT, src->height);
	put_count(check, PDP_D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL, src->channel);
	put_count(check, PDP_D_DATA_CUBE_OUT_WIDTH, CUBE_OUT_WIDTH, dst->width);
	put_count(check, PDP_D_DATA_CUBE_OUT_HEIGHT, CUBE_OUT_HEIGHT, dst->height);
	put_count(check, PDP_D_DATA_CUBE_OUT_CHANNEL, CUBE_OUT_CHANNEL, dst->channel);
	emit_address(check, PDP_D_SRC_BASE_ADDR, src_access);
	if (src->type != NVDLA_MEM_HW) {
		emit(check, PDP_D_SRC_LINE_STRIDE, src->line_stride);
		emit(check, PDP_D_SRC_SURFACE_STRIDE, src->surf_stride);
	}
	emit_address(check, PDP_D_DST_BASE_ADDR, dst_access);
	emit(check, PDP_D_DST_LINE_STRIDE, dst->line_stride);
	emit(check, PDP_D_DST_SURFACE_STRIDE, dst->surf_stride);
	emit(check, PDP_D_DST_RAM_CFG, nvdla_ram_type(dst->type));
}

/*
 * Returns the reciprocal of a kernel size for average pooling: 1/n in 16 fractional bits, rounded
 * down, or as FP17 (6 bits of exponent, 10 of mantissa).
 */
static u32 reciprocal(u32 precision, u32 size_minus_one)
{
	static const u16 fp17[PDP_MAX_KERNEL] = {
		0x7c00, 0x7800, 0x7555, 0x7400, 0x7266, 0x7155, 0x7092, 0x7000,
	};

	if (precision == NVDLA_PRECISION_FP16)
		return fp17[size_minus_one];

	return 0x10000 / (size_minus_one + 1);
}

static void program_pooling(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
			    bool flying)
{
	u32 i;

	put(check, PDP_D_POOLING_KERNEL_CFG, KERNEL_WIDTH, op->pool_width);
	put(check, PDP_D_POOLING_KERNEL_CFG, KERNEL_HEIGHT, op->pool_height);
	put_count(check, PDP_D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH, op->stride_x);
	put_count(check, PDP_D_POOLING_KERNEL_CFG, KERNEL_STRIDE_HEIGHT, op->stride_y);
	emit(check, PDP_D_RECIP_KERNEL_WIDTH, reciprocal(op->precision, op->pool_width));
	emit(check, PDP_D_RECIP_KERNEL_HEIGHT, reciprocal(op->precision, op->pool_height));
	put(check, PDP_D_POOLING_PADDING_CFG, PAD_LEFT, op->pad_left);
	put(check, PDP_D_POOLING_PADDING_CFG, PAD_RIGHT, op->pad_right);
	put(check, PDP_D_POOLING_PADDING_CFG, PAD_TOP, op->pad_top);
	put(check, PDP_D_POOLING_PADDING_CFG, PAD_BOTTOM, op->pad_bottom);

	/* The seven padding value registers are adjacent. */
	for (i = 0; i < ARRAY_SIZE(op->padding_value); i++)
		nvdla_emit_bits(check, NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG + i * sizeof(u32),
				nvdla_encode(check,
					     NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG__PAD_VALUE_1X,
					     NVDLA_AS_IT_IS, NVDLA_FIELD(op->padding_value[i])));

	put(check, PDP_D_OPERATION_MODE_CFG, POOLING_METHOD, op->pool_mode);
	emit(check, PDP_D_OPERATION_MODE_CFG,
	     nvdla_field_bits(NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE, !flying));
	put_count(check, PDP_D_OPERATION_MODE_CFG, SPLIT_NUM, op->split_num);
	emit(check, PDP_D_DATA_FORMAT, op->precision);
	emit(check, PDP_D_NAN_FLUSH_TO_ZERO, nvdla_nan_to_zero(check, op->precision));
	emit_counting(check, PDP_D_PERF_ENABLE, NVDLA_PDP_D_PERF_ENABLE__DMA_EN);
}

void nvdla_check_pdp(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
		     const struct nvdla_pair_surface_desc *surface)
{
	const struct nvdla_data_cube *src = &surface->src_data;
	const struct nvdla_data_cube *dst = &surface->dst_data;
	bool flying = src->type == NVDLA_MEM_HW;
	u32 src_access = NVDLA_NO_ACCESS;
	u32 dst_access, widths;

	check_op(check, op);
	need(check, dst->type != NVDLA_MEM_HW, dst->type, NVDLA_MEM_CV,
	     "the output goes to memory");
	if (check->failed)
		return;
	check_size(check, op, src, dst);
	if (check->failed)
		return;
	check_parts(check, op, surface);
	if (check->failed)
		return;

	if (!flying)
		src_access = nvdla_add_feature(check, src, NVDLA_ACCESS_READ, op->precision);
	dst_access = nvdla_add_feature(check, dst, NVDLA_ACCESS_WRITE, op->precision);

	check->current_op->flying_in = flying;
	check->current_op->uses_rdma = !flying;
	widths = part_widths(check, op, &op->partial_in_width_first, &op->partial_in_width_mid,
			     &op->partial_in_width_last);
	if (!flying)
		program_rdma(check, op, src, src_access, widths);
	emit(check, PDP_D_PARTIAL_WIDTH_IN, widths);
	widths = part_widths(check, op, &op->partial_width_first, &op->partial_width_mid,
			     &op->partial_width_last);
	emit(check, PDP_D_PARTIAL_WIDTH_OUT, widths);
	program_cubes(check, src, dst, src_access, dst_access);
	program_pooling(check, op, flying);
}
