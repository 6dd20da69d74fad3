// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * PDP: pooling, from memory or from SDP's stream.
 */

#include <nvdla/hw/registers.h>

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

#define PDP_MAX_KERNEL 8
#define PDP_MAX_STRIDE 16
#define PDP_MAX_SPLIT 64

/* Part of the output that is computed in one pass over the input's lines. */
struct pdp_part {
	const u16 *in;
	const u16 *out;
	u32 pad;	/* columns of padding that this part sees */
	bool first;
};

static void check_op(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op)
{
	u32 i;

	nvdla_need(check,
		   op->precision <= NVDLA_PRECISION_FP16 &&
			   (check->variant->precisions & BIT(op->precision)),
		   DRM_NVDLA_RULE_PDP_PRECISION, op->precision, NVDLA_PRECISION_FP16,
		   NVDLA_FIELD(op->precision));
	nvdla_need(check, op->pool_mode <= NVDLA_POOL_MIN, DRM_NVDLA_RULE_PDP_POOL_MODE,
		   op->pool_mode, NVDLA_POOL_MIN, NVDLA_FIELD(op->pool_mode));
	nvdla_need(check, op->pool_width < PDP_MAX_KERNEL, DRM_NVDLA_RULE_PDP_KERNEL,
		   op->pool_width, PDP_MAX_KERNEL - 1, NVDLA_FIELD(op->pool_width));
	nvdla_need(check, op->pool_height < PDP_MAX_KERNEL, DRM_NVDLA_RULE_PDP_KERNEL,
		   op->pool_height, PDP_MAX_KERNEL - 1, NVDLA_FIELD(op->pool_height));
	nvdla_need(check, op->stride_x >= 1 && op->stride_x <= PDP_MAX_STRIDE,
		   DRM_NVDLA_RULE_PDP_STRIDE, op->stride_x, PDP_MAX_STRIDE,
		   NVDLA_FIELD(op->stride_x));
	nvdla_need(check, op->stride_y >= 1 && op->stride_y <= PDP_MAX_STRIDE,
		   DRM_NVDLA_RULE_PDP_STRIDE, op->stride_y, PDP_MAX_STRIDE,
		   NVDLA_FIELD(op->stride_y));

	/* pool_width and pool_height are already one less than the kernel. */
	nvdla_need(check, op->pad_left <= op->pool_width, DRM_NVDLA_RULE_PDP_PADDING, op->pad_left,
		   op->pool_width, NVDLA_FIELD(op->pad_left));
	nvdla_need(check, op->pad_right <= op->pool_width, DRM_NVDLA_RULE_PDP_PADDING,
		   op->pad_right, op->pool_width, NVDLA_FIELD(op->pad_right));
	nvdla_need(check, op->pad_top <= op->pool_height, DRM_NVDLA_RULE_PDP_PADDING, op->pad_top,
		   op->pool_height, NVDLA_FIELD(op->pad_top));
	nvdla_need(check, op->pad_bottom <= op->pool_height, DRM_NVDLA_RULE_PDP_PADDING,
		   op->pad_bottom, op->pool_height, NVDLA_FIELD(op->pad_bottom));

	if (op->precision != NVDLA_PRECISION_FP16)
		return;
	for (i = 0; i < ARRAY_SIZE(op->padding_value); i++)
		nvdla_need(check, op->padding_value[i] == 0, DRM_NVDLA_RULE_PDP_PADDING_VALUE,
			   op->padding_value[i], 0, NVDLA_FIELD(op->padding_value[i]));
}

static void check_size(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
		       const struct nvdla_data_cube *src, const struct nvdla_data_cube *dst)
{
	s32 used_width = (dst->width - 1) * op->stride_x + op->pool_width + 1;
	s32 used_height = (dst->height - 1) * op->stride_y + op->pool_height + 1;
	s32 width = op->pad_left + src->width + op->pad_right;
	s32 height = op->pad_top + src->height + op->pad_bottom;

	nvdla_need(check, dst->channel == src->channel, DRM_NVDLA_RULE_PDP_CHANNELS, dst->channel,
		   src->channel, NVDLA_FIELD(dst->channel));
	nvdla_need(check, dst->width > 0 && width == used_width, DRM_NVDLA_RULE_PDP_WINDOW_WIDTH,
		   used_width, width, NVDLA_FIELD(dst->width));
	nvdla_need(check, dst->height > 0 && height == used_height,
		   DRM_NVDLA_RULE_PDP_WINDOW_HEIGHT, used_height, height,
		   NVDLA_FIELD(dst->height));
}

/*
 * Output columns that the buffer for unfinished windows holds. The buffer is
 * divided by the number of lines that overlap, which the hardware rounds up to
 * a power of two; an INT8 sum has 14 bits, others have 28.
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
 * A part's input begins where the previous one's last window has left off: with
 * kernels larger than the stride the overlap is kept inside PDP.
 */
static void check_part(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
		       const struct pdp_part *part)
{
	s32 kernel = op->pool_width + 1;
	s32 columns = *part->out * op->stride_x;
	s32 expected = columns - (s32)part->pad;
	u32 limit = max_width(check, op);

	if (part->first)
		expected += kernel - op->stride_x;

	nvdla_need(check, *part->out >= 1 && *part->out <= limit, DRM_NVDLA_RULE_PDP_LINE_BUFFER,
		   *part->out, limit, NVDLA_FIELD(*part->out));
	nvdla_need(check, *part->in >= 1 && (s32)*part->in == expected,
		   DRM_NVDLA_RULE_PDP_SPLIT_IN, *part->in, expected, NVDLA_FIELD(*part->in));
}

/* What windows share with those of the next part, or skip, lies in one part. */
static void check_overlap(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
			  const struct pdp_part *part)
{
	s32 shared = op->pool_width + 1 - op->stride_x;
	s32 least = shared >= 0 ? shared : 1 - shared;

	nvdla_need(check, (s32)*part->in >= least, DRM_NVDLA_RULE_PDP_SPLIT_OVERLAP, *part->in,
		   least, NVDLA_FIELD(*part->in));
}

static void check_split(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
			const struct nvdla_pdp_surface_desc *surface)
{
	const struct pdp_part first = { &op->partial_in_width_first, &op->partial_width_first,
					op->pad_left, true };
	const struct pdp_part mid = { &op->partial_in_width_mid, &op->partial_width_mid, 0,
				      false };
	const struct pdp_part last = { &op->partial_in_width_last, &op->partial_width_last,
				       op->pad_right, false };
	u32 mids = op->split_num - 2;
	u32 out = *first.out + *last.out + mids * *mid.out;

	/* The input widths then add up, since the windows use each column. */
	check_part(check, op, &first);
	if (mids > 0)
		check_part(check, op, &mid);
	check_part(check, op, &last);
	nvdla_need(check, out == surface->dst_data.width, DRM_NVDLA_RULE_PDP_SPLIT_OUT, out,
		   surface->dst_data.width, NVDLA_FIELD(op->partial_width_last));

	/* Of two parts, the first has what is shared and the last what is skipped. */
	if (mids > 0 || op->pool_width + 1 >= op->stride_x)
		check_overlap(check, op, &first);
	if (mids > 0)
		check_overlap(check, op, &mid);
	if (mids > 0 || op->pool_width + 1 < op->stride_x)
		check_overlap(check, op, &last);
}

static void check_parts(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
			const struct nvdla_pdp_surface_desc *surface)
{
	bool flying = surface->src_data.type == NVDLA_MEM_HW;
	u32 limit;

	nvdla_need(check, op->split_num >= 1 && op->split_num <= PDP_MAX_SPLIT,
		   DRM_NVDLA_RULE_PDP_SPLIT, op->split_num, PDP_MAX_SPLIT,
		   NVDLA_FIELD(op->split_num));
	nvdla_need(check, !flying || op->split_num == 1, DRM_NVDLA_RULE_PDP_SPLIT_FLYING,
		   op->split_num, 1, NVDLA_FIELD(op->split_num));
	if (check->failed)
		return;

	if (op->split_num > 1) {
		check_split(check, op, surface);
		return;
	}
	limit = max_width(check, op);
	nvdla_need(check, surface->dst_data.width <= limit, DRM_NVDLA_RULE_PDP_LINE_BUFFER,
		   surface->dst_data.width, limit, NVDLA_FIELD(surface->dst_data.width));
}

static u32 partial_width_in(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op)
{
	bool mids = op->split_num > 2;

	return nvdla_put_minus_one(check, NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_FIRST,
				   op->partial_in_width_first,
				   NVDLA_FIELD(op->partial_in_width_first)) |
	       nvdla_put_minus_one(check, NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_MID,
				   mids ? op->partial_in_width_mid : 1,
				   NVDLA_FIELD(op->partial_in_width_mid)) |
	       nvdla_put_minus_one(check, NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_LAST,
				   op->partial_in_width_last,
				   NVDLA_FIELD(op->partial_in_width_last));
}

static u32 partial_width_out(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op)
{
	bool mids = op->split_num > 2;

	return nvdla_put_minus_one(check, NVDLA_PDP_D_PARTIAL_WIDTH_OUT__PARTIAL_WIDTH_OUT_FIRST,
				   op->partial_width_first, NVDLA_FIELD(op->partial_width_first)) |
	       nvdla_put_minus_one(check, NVDLA_PDP_D_PARTIAL_WIDTH_OUT__PARTIAL_WIDTH_OUT_MID,
				   mids ? op->partial_width_mid : 1,
				   NVDLA_FIELD(op->partial_width_mid)) |
	       nvdla_put_minus_one(check, NVDLA_PDP_D_PARTIAL_WIDTH_OUT__PARTIAL_WIDTH_OUT_LAST,
				   op->partial_width_last, NVDLA_FIELD(op->partial_width_last));
}

static void program_rdma(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
			 const struct nvdla_data_cube *src, u32 access, u32 partial_in)
{
	nvdla_emit(check, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH,
		   nvdla_put_minus_one(check, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH__CUBE_IN_WIDTH,
				       src->width, NVDLA_FIELD(src->width)));
	nvdla_emit(check, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT,
		   nvdla_put_minus_one(check, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT__CUBE_IN_HEIGHT,
				       src->height, NVDLA_FIELD(src->height)));
	nvdla_emit(check, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL,
		   nvdla_put_minus_one(check,
				       NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL__CUBE_IN_CHANNEL,
				       src->channel, NVDLA_FIELD(src->channel)));
	nvdla_emit(check, NVDLA_PDP_RDMA_D_FLYING_MODE,
		   NVDLA_PDP_RDMA_D_FLYING_MODE__FLYING_MODE__OFF_FLYING);
	nvdla_emit_address(check, NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_HIGH,
			   NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW, access);
	nvdla_emit(check, NVDLA_PDP_RDMA_D_SRC_LINE_STRIDE, src->line_stride);
	nvdla_emit(check, NVDLA_PDP_RDMA_D_SRC_SURFACE_STRIDE, src->surf_stride);
	nvdla_emit(check, NVDLA_PDP_RDMA_D_SRC_RAM_CFG, nvdla_ram_type(src->type));
	nvdla_emit(check, NVDLA_PDP_RDMA_D_DATA_FORMAT, op->precision);
	nvdla_emit(check, NVDLA_PDP_RDMA_D_OPERATION_MODE_CFG, op->split_num - 1);
	nvdla_emit(check, NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG,
		   nvdla_put(check, NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG__KERNEL_WIDTH,
			     op->pool_width, NVDLA_FIELD(op->pool_width)) |
		   nvdla_put_minus_one(check,
				       NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG__KERNEL_STRIDE_WIDTH,
				       op->stride_x,
				       NVDLA_FIELD(op->stride_x)));
	nvdla_emit(check, NVDLA_PDP_RDMA_D_POOLING_PADDING_CFG,
		   nvdla_put(check, NVDLA_PDP_RDMA_D_POOLING_PADDING_CFG__PAD_WIDTH, op->pad_left,
			     NVDLA_FIELD(op->pad_left)));
	nvdla_emit(check, NVDLA_PDP_RDMA_D_PARTIAL_WIDTH_IN, partial_in);
	nvdla_emit_counting(check, NVDLA_PDP_RDMA_D_PERF_ENABLE,
			    NVDLA_PDP_RDMA_D_PERF_ENABLE__DMA_EN);
}

static void program_cubes(struct nvdla_check *check, const struct nvdla_pdp_surface_desc *surface,
			  u32 src_access, u32 dst_access)
{
	const struct nvdla_data_cube *src = &surface->src_data;
	const struct nvdla_data_cube *dst = &surface->dst_data;

	nvdla_emit(check, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH,
		   nvdla_put_minus_one(check, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH__CUBE_IN_WIDTH,
				       src->width, NVDLA_FIELD(src->width)));
	nvdla_emit(check, NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT,
		   nvdla_put_minus_one(check, NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT__CUBE_IN_HEIGHT,
				       src->height, NVDLA_FIELD(src->height)));
	nvdla_emit(check, NVDLA_PDP_D_DATA_CUBE_IN_CHANNEL,
		   nvdla_put_minus_one(check, NVDLA_PDP_D_DATA_CUBE_IN_CHANNEL__CUBE_IN_CHANNEL,
				       src->channel, NVDLA_FIELD(src->channel)));
	nvdla_emit(check, NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH,
		   nvdla_put_minus_one(check, NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH__CUBE_OUT_WIDTH,
				       dst->width, NVDLA_FIELD(dst->width)));
	nvdla_emit(check, NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT,
		   nvdla_put_minus_one(check, NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT__CUBE_OUT_HEIGHT,
				       dst->height, NVDLA_FIELD(dst->height)));
	nvdla_emit(check, NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL,
		   nvdla_put_minus_one(check, NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL__CUBE_OUT_CHANNEL,
				       dst->channel, NVDLA_FIELD(dst->channel)));

	nvdla_emit_address(check, NVDLA_PDP_D_SRC_BASE_ADDR_HIGH, NVDLA_PDP_D_SRC_BASE_ADDR_LOW,
			   src_access);
	if (src->type != NVDLA_MEM_HW) {
		nvdla_emit(check, NVDLA_PDP_D_SRC_LINE_STRIDE, src->line_stride);
		nvdla_emit(check, NVDLA_PDP_D_SRC_SURFACE_STRIDE, src->surf_stride);
	}
	nvdla_emit_address(check, NVDLA_PDP_D_DST_BASE_ADDR_HIGH, NVDLA_PDP_D_DST_BASE_ADDR_LOW,
			   dst_access);
	nvdla_emit(check, NVDLA_PDP_D_DST_LINE_STRIDE, dst->line_stride);
	nvdla_emit(check, NVDLA_PDP_D_DST_SURFACE_STRIDE, dst->surf_stride);
	nvdla_emit(check, NVDLA_PDP_D_DST_RAM_CFG, nvdla_ram_type(dst->type));
}

/*
 * Reciprocals of kernel sizes for average pooling: 1/n in 16 fractional bits,
 * rounded down, or as FP17 (6 bits of exponent, 10 of mantissa).
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

static void program_pooling(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op)
{
	u32 i;

	nvdla_emit(check, NVDLA_PDP_D_POOLING_KERNEL_CFG,
		   nvdla_put(check, NVDLA_PDP_D_POOLING_KERNEL_CFG__KERNEL_WIDTH, op->pool_width,
			     NVDLA_FIELD(op->pool_width)) |
		   nvdla_put(check, NVDLA_PDP_D_POOLING_KERNEL_CFG__KERNEL_HEIGHT,
			     op->pool_height, NVDLA_FIELD(op->pool_height)) |
		   nvdla_put_minus_one(check,
				       NVDLA_PDP_D_POOLING_KERNEL_CFG__KERNEL_STRIDE_WIDTH,
				       op->stride_x, NVDLA_FIELD(op->stride_x)) |
		   nvdla_put_minus_one(check, NVDLA_PDP_D_POOLING_KERNEL_CFG__KERNEL_STRIDE_HEIGHT,
				       op->stride_y,
				       NVDLA_FIELD(op->stride_y)));
	nvdla_emit(check, NVDLA_PDP_D_RECIP_KERNEL_WIDTH,
		   reciprocal(op->precision, op->pool_width));
	nvdla_emit(check, NVDLA_PDP_D_RECIP_KERNEL_HEIGHT,
		   reciprocal(op->precision, op->pool_height));
	nvdla_emit(check, NVDLA_PDP_D_POOLING_PADDING_CFG,
		   nvdla_put(check, NVDLA_PDP_D_POOLING_PADDING_CFG__PAD_LEFT, op->pad_left,
			     NVDLA_FIELD(op->pad_left)) |
		   nvdla_put(check, NVDLA_PDP_D_POOLING_PADDING_CFG__PAD_RIGHT,
			     op->pad_right, NVDLA_FIELD(op->pad_right)) |
		   nvdla_put(check, NVDLA_PDP_D_POOLING_PADDING_CFG__PAD_TOP, op->pad_top,
			     NVDLA_FIELD(op->pad_top)) |
		   nvdla_put(check, NVDLA_PDP_D_POOLING_PADDING_CFG__PAD_BOTTOM,
			     op->pad_bottom, NVDLA_FIELD(op->pad_bottom)));

	/* The seven registers follow each other. */
	for (i = 0; i < ARRAY_SIZE(op->padding_value); i++)
		nvdla_emit(check, NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG + i * sizeof(u32),
			   nvdla_put_signed(check,
					    NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG__PAD_VALUE_1X,
					    op->padding_value[i],
					    NVDLA_FIELD(op->padding_value[i])));
}

void nvdla_check_pdp(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
		     const struct nvdla_pdp_surface_desc *surface)
{
	const struct nvdla_data_cube *src = &surface->src_data;
	const struct nvdla_data_cube *dst = &surface->dst_data;
	bool flying = src->type == NVDLA_MEM_HW;
	struct nvdla_feature_use use;
	u32 src_access = NVDLA_NO_ACCESS;
	u32 partial_out = 0;
	u32 partial_in = 0;
	u32 dst_access;

	check_op(check, op);
	nvdla_need(check, dst->type != NVDLA_MEM_HW, DRM_NVDLA_RULE_PDP_DST_TYPE, dst->type,
		   NVDLA_MEM_CV, NVDLA_FIELD(dst->type));
	if (check->failed)
		return;
	check_size(check, op, src, dst);
	if (check->failed)
		return;
	check_parts(check, op, surface);
	if (check->failed)
		return;

	if (!flying) {
		nvdla_feature_use_init(check, &use, src, NVDLA_ACCESS_READ, op->precision);
		src_access = nvdla_add_feature_access(check, src, &use);
	}
	nvdla_feature_use_init(check, &use, dst, NVDLA_ACCESS_WRITE, op->precision);
	dst_access = nvdla_add_feature_access(check, dst, &use);

	/* Without a split the widths of parts are not looked at. */
	if (op->split_num > 1) {
		partial_in = partial_width_in(check, op);
		partial_out = partial_width_out(check, op);
	}

	check->current_op->flying_in = flying;
	check->current_op->uses_rdma = !flying;
	if (!flying)
		program_rdma(check, op, src, src_access, partial_in);

	program_cubes(check, surface, src_access, dst_access);
	program_pooling(check, op);
	nvdla_emit(check, NVDLA_PDP_D_OPERATION_MODE_CFG,
		   nvdla_put(check, NVDLA_PDP_D_OPERATION_MODE_CFG__POOLING_METHOD, op->pool_mode,
			     NVDLA_FIELD(op->pool_mode)) |
		   nvdla_put(check, NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE,
			     flying ? 0 : 1, NVDLA_FIELD(src->type)) |
		   nvdla_put_minus_one(check, NVDLA_PDP_D_OPERATION_MODE_CFG__SPLIT_NUM,
				       op->split_num, NVDLA_FIELD(op->split_num)));
	nvdla_emit(check, NVDLA_PDP_D_PARTIAL_WIDTH_IN, partial_in);
	nvdla_emit(check, NVDLA_PDP_D_PARTIAL_WIDTH_OUT, partial_out);
	nvdla_emit(check, NVDLA_PDP_D_DATA_FORMAT, op->precision);
	nvdla_emit(check, NVDLA_PDP_D_NAN_FLUSH_TO_ZERO, nvdla_nan_to_zero(check, op->precision));
	nvdla_emit_counting(check, NVDLA_PDP_D_PERF_ENABLE, NVDLA_PDP_D_PERF_ENABLE__DMA_EN);
}
