// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Convolution: register programs of CDMA, CSC, CMAC and CACC.
 */

#include <nvdla/hw/registers.h>

#include "nvdla_check.h"
#include "nvdla_conv.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

static void program_cacc(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			 const struct nvdla_data_cube *dst)
{
	bool point = dst->width == 1 && dst->height == 1;

	nvdla_emit(check, NVDLA_CACC_D_MISC_CFG,
		   nvdla_put(check, NVDLA_CACC_D_MISC_CFG__CONV_MODE, op->conv_mode,
			     NVDLA_FIELD(op->conv_mode)) |
		   nvdla_put(check, NVDLA_CACC_D_MISC_CFG__PROC_PRECISION,
			     op->out_precision, NVDLA_FIELD(op->out_precision)));
	nvdla_emit(check, NVDLA_CACC_D_DATAOUT_SIZE_0,
		   nvdla_put_minus_one(check, NVDLA_CACC_D_DATAOUT_SIZE_0__DATAOUT_WIDTH,
				       dst->width, NVDLA_FIELD(dst->width)) |
		   nvdla_put_minus_one(check, NVDLA_CACC_D_DATAOUT_SIZE_0__DATAOUT_HEIGHT,
				       dst->height, NVDLA_FIELD(dst->height)));
	nvdla_emit(check, NVDLA_CACC_D_DATAOUT_SIZE_1,
		   nvdla_put_minus_one(check, NVDLA_CACC_D_DATAOUT_SIZE_1__DATAOUT_CHANNEL,
				       dst->channel, NVDLA_FIELD(dst->channel)));
	nvdla_emit(check, NVDLA_CACC_D_BATCH_NUMBER,
		   nvdla_put_minus_one(check, NVDLA_CACC_D_BATCH_NUMBER__BATCHES, op->batch,
				       NVDLA_FIELD(op->batch)));
	/* CACC writes no memory: its address is left alone, strides are informative. */
	nvdla_emit(check, NVDLA_CACC_D_LINE_STRIDE,
		   dst->line_stride & NVDLA_CACC_D_LINE_STRIDE__LINE_STRIDE);
	nvdla_emit(check, NVDLA_CACC_D_SURF_STRIDE,
		   dst->surf_stride & NVDLA_CACC_D_SURF_STRIDE__SURF_STRIDE);
	nvdla_emit(check, NVDLA_CACC_D_DATAOUT_MAP, point ?
		   NVDLA_CACC_D_DATAOUT_MAP__LINE_PACKED |
		   NVDLA_CACC_D_DATAOUT_MAP__SURF_PACKED : 0);
	nvdla_emit(check, NVDLA_CACC_D_CLIP_CFG,
		   nvdla_put(check, NVDLA_CACC_D_CLIP_CFG__CLIP_TRUNCATE, op->out_cvt.truncate,
			     NVDLA_FIELD(op->out_cvt.truncate)));
}

static void program_cmac(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	u32 misc = nvdla_put(check, NVDLA_CMAC_A_D_MISC_CFG__CONV_MODE, op->conv_mode,
			     NVDLA_FIELD(op->conv_mode)) |
		   nvdla_put(check, NVDLA_CMAC_A_D_MISC_CFG__PROC_PRECISION, op->out_precision,
			     NVDLA_FIELD(op->out_precision));

	nvdla_emit(check, NVDLA_CMAC_A_D_MISC_CFG, misc);
	nvdla_emit(check, NVDLA_CMAC_B_D_MISC_CFG, misc);
}

/* CDMA and CSC have the same fields here, but for the input's precision. */
static u32 misc_cfg(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
		    u32 in_precision)
{
	return nvdla_put(check, NVDLA_CDMA_D_MISC_CFG__CONV_MODE, op->conv_mode,
			 NVDLA_FIELD(op->conv_mode)) |
	       nvdla_put(check, NVDLA_CDMA_D_MISC_CFG__IN_PRECISION, in_precision,
			 NVDLA_FIELD(op->in_precision)) |
	       nvdla_put(check, NVDLA_CDMA_D_MISC_CFG__PROC_PRECISION, op->out_precision,
			 NVDLA_FIELD(op->out_precision)) |
	       nvdla_put(check, NVDLA_CDMA_D_MISC_CFG__DATA_REUSE, op->data_reuse,
			 NVDLA_FIELD(op->data_reuse)) |
	       nvdla_put(check, NVDLA_CDMA_D_MISC_CFG__WEIGHT_REUSE, op->weight_reuse,
			 NVDLA_FIELD(op->weight_reuse)) |
	       nvdla_put(check, NVDLA_CDMA_D_MISC_CFG__SKIP_DATA_RLS, op->skip_data_rls,
			 NVDLA_FIELD(op->skip_data_rls)) |
	       nvdla_put(check, NVDLA_CDMA_D_MISC_CFG__SKIP_WEIGHT_RLS, op->skip_weight_rls,
			 NVDLA_FIELD(op->skip_weight_rls));
}

static u32 bank_cfg(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	return nvdla_put_minus_one(check, NVDLA_CONV_DATA_BANK, op->data_bank,
				   NVDLA_FIELD(op->data_bank)) |
	       nvdla_put_minus_one(check, NVDLA_CONV_WEIGHT_BANK, op->weight_bank,
				   NVDLA_FIELD(op->weight_bank));
}

static u32 size_ext(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	return nvdla_put_minus_one(check, NVDLA_CSC_D_DATAIN_SIZE_EXT_0__DATAIN_WIDTH_EXT,
				   op->input_width_csc, NVDLA_FIELD(op->input_width_csc)) |
	       nvdla_put_minus_one(check, NVDLA_CSC_D_DATAIN_SIZE_EXT_0__DATAIN_HEIGHT_EXT,
				   op->input_height_csc, NVDLA_FIELD(op->input_height_csc));
}

static void program_csc_input(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			      const struct nvdla_conv_plan *plan)
{
	nvdla_emit(check, NVDLA_CSC_D_MISC_CFG, misc_cfg(check, op, op->out_precision));
	nvdla_emit(check, NVDLA_CSC_D_DATAIN_FORMAT, plan->image ?
		   NVDLA_CSC_D_DATAIN_FORMAT__DATAIN_FORMAT : 0);
	nvdla_emit(check, NVDLA_CSC_D_DATAIN_SIZE_EXT_0, size_ext(check, op));
	nvdla_emit(check, NVDLA_CSC_D_DATAIN_SIZE_EXT_1,
		   nvdla_put_minus_one(check, NVDLA_CSC_D_DATAIN_SIZE_EXT_1__DATAIN_CHANNEL_EXT,
				       op->input_channel_csc, NVDLA_FIELD(op->input_channel_csc)));
	nvdla_emit(check, NVDLA_CSC_D_BATCH_NUMBER,
		   nvdla_put_minus_one(check, NVDLA_CSC_D_BATCH_NUMBER__BATCHES, op->batch,
				       NVDLA_FIELD(op->batch)));
	nvdla_emit(check, NVDLA_CSC_D_POST_Y_EXTENSION,
		   nvdla_put(check, NVDLA_CSC_D_POST_Y_EXTENSION__Y_EXTENSION, op->post_extension,
			     NVDLA_FIELD(op->post_extension)));
	nvdla_emit(check, NVDLA_CSC_D_ENTRY_PER_SLICE,
		   nvdla_put_minus_one(check, NVDLA_CONV_ENTRIES, op->entry_per_slice,
				       NVDLA_FIELD(op->entry_per_slice)));
	nvdla_emit(check, NVDLA_CSC_D_RELEASE, op->release == 0 ? 0 :
		   nvdla_put_minus_one(check, NVDLA_CSC_D_RELEASE__RLS_SLICES, op->release,
				       NVDLA_FIELD(op->release)));
}

/* CDMA and CSC have the same field. */
static u32 wmb_bytes(struct nvdla_check *check, const struct nvdla_conv_surface_desc *surface,
		     const struct nvdla_conv_plan *plan)
{
	return plan->compressed ? nvdla_put_stride(check, NVDLA_CSC_D_WMB_BYTES__WMB_BYTES,
						   surface->wmb_data.size,
						   NVDLA_FIELD(surface->wmb_data.size)) : 0;
}

static void program_csc_kernel(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			       const struct nvdla_conv_surface_desc *surface,
			       const struct nvdla_conv_plan *plan)
{
	nvdla_emit(check, NVDLA_CSC_D_WEIGHT_FORMAT,
		   nvdla_put(check, NVDLA_CSC_D_WEIGHT_FORMAT__WEIGHT_FORMAT, op->weight_format,
			     NVDLA_FIELD(op->weight_format)));
	nvdla_emit(check, NVDLA_CSC_D_WEIGHT_SIZE_EXT_0,
		   nvdla_put_minus_one(check, NVDLA_CSC_D_WEIGHT_SIZE_EXT_0__WEIGHT_WIDTH_EXT,
				       op->kernel_width_csc, NVDLA_FIELD(op->kernel_width_csc)) |
		   nvdla_put_minus_one(check, NVDLA_CSC_D_WEIGHT_SIZE_EXT_0__WEIGHT_HEIGHT_EXT,
				       op->kernel_height_csc,
				       NVDLA_FIELD(op->kernel_height_csc)));
	nvdla_emit(check, NVDLA_CSC_D_WEIGHT_SIZE_EXT_1,
		   nvdla_put_minus_one(check, NVDLA_CSC_D_WEIGHT_SIZE_EXT_1__WEIGHT_CHANNEL_EXT,
				       op->kernel_channel_csc,
				       NVDLA_FIELD(op->kernel_channel_csc)) |
		   nvdla_put_minus_one(check, NVDLA_CSC_D_WEIGHT_SIZE_EXT_1__WEIGHT_KERNEL,
				       surface->dst_data.channel,
				       NVDLA_FIELD(surface->dst_data.channel)));
	nvdla_emit(check, NVDLA_CSC_D_WEIGHT_BYTES, surface->weight_data.size);
	nvdla_emit(check, NVDLA_CSC_D_WMB_BYTES, wmb_bytes(check, surface, plan));
}

static void program_csc_output(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			       const struct nvdla_data_cube *dst,
			       const struct nvdla_conv_plan *plan)
{
	nvdla_emit(check, NVDLA_CSC_D_DATAOUT_SIZE_0,
		   nvdla_put_minus_one(check, NVDLA_CSC_D_DATAOUT_SIZE_0__DATAOUT_WIDTH,
				       op->input_width_cmac, NVDLA_FIELD(op->input_width_cmac)) |
		   nvdla_put_minus_one(check, NVDLA_CSC_D_DATAOUT_SIZE_0__DATAOUT_HEIGHT,
				       op->input_height_cmac,
				       NVDLA_FIELD(op->input_height_cmac)));
	nvdla_emit(check, NVDLA_CSC_D_DATAOUT_SIZE_1,
		   nvdla_put_minus_one(check, NVDLA_CSC_D_DATAOUT_SIZE_1__DATAOUT_CHANNEL,
				       dst->channel, NVDLA_FIELD(dst->channel)));
	nvdla_emit(check, NVDLA_CSC_D_ATOMICS,
		   nvdla_put_minus_one(check, NVDLA_CSC_D_ATOMICS__ATOMICS,
				       (u64)dst->width * dst->height, NVDLA_FIELD(dst->height)));

	/* Winograd's CDMA has already applied stride and padding. */
	nvdla_emit(check, NVDLA_CSC_D_CONV_STRIDE_EXT, plan->winograd ? 0 :
		   nvdla_put_minus_one(check, NVDLA_CSC_D_CONV_STRIDE_EXT__CONV_X_STRIDE_EXT,
				       op->conv_stride_x, NVDLA_FIELD(op->conv_stride_x)) |
		   nvdla_put_minus_one(check, NVDLA_CSC_D_CONV_STRIDE_EXT__CONV_Y_STRIDE_EXT,
				       op->conv_stride_y, NVDLA_FIELD(op->conv_stride_y)));
	nvdla_emit(check, NVDLA_CSC_D_DILATION_EXT,
		   nvdla_put_minus_one(check, NVDLA_CSC_D_DILATION_EXT__X_DILATION_EXT,
				       op->dilation_x, NVDLA_FIELD(op->dilation_x)) |
		   nvdla_put_minus_one(check, NVDLA_CSC_D_DILATION_EXT__Y_DILATION_EXT,
				       op->dilation_y, NVDLA_FIELD(op->dilation_y)));
	nvdla_emit(check, NVDLA_CSC_D_ZERO_PADDING, plan->winograd ? 0 :
		   nvdla_put(check, NVDLA_CSC_D_ZERO_PADDING__PAD_LEFT, op->pad_x_left,
			     NVDLA_FIELD(op->pad_x_left)) |
		   nvdla_put(check, NVDLA_CSC_D_ZERO_PADDING__PAD_TOP, op->pad_y_top,
			     NVDLA_FIELD(op->pad_y_top)));
	nvdla_emit(check, NVDLA_CSC_D_ZERO_PADDING_VALUE,
		   nvdla_put_signed(check, NVDLA_CSC_D_ZERO_PADDING_VALUE__PAD_VALUE, op->pad_val,
				    NVDLA_FIELD(op->pad_val)));
	nvdla_emit(check, NVDLA_CSC_D_BANK, bank_cfg(check, op));
	nvdla_emit(check, NVDLA_CSC_D_PRA_CFG,
		   nvdla_put(check, NVDLA_CSC_D_PRA_CFG__PRA_TRUNCATE, op->pra_truncate,
			     NVDLA_FIELD(op->pra_truncate)));
}

static void program_cdma_input(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			       const struct nvdla_data_cube *src,
			       const struct nvdla_conv_plan *plan)
{
	nvdla_emit(check, NVDLA_CDMA_D_MISC_CFG, misc_cfg(check, op, op->in_precision));
	nvdla_emit(check, NVDLA_CDMA_D_DATAIN_FORMAT, plan->image ?
		   NVDLA_CDMA_D_DATAIN_FORMAT__DATAIN_FORMAT |
		   nvdla_put(check, NVDLA_CDMA_D_DATAIN_FORMAT__PIXEL_FORMAT, op->data_format,
			     NVDLA_FIELD(op->data_format)) |
		   nvdla_put(check, NVDLA_CDMA_D_DATAIN_FORMAT__PIXEL_SIGN_OVERRIDE,
			     op->pixel_override, NVDLA_FIELD(op->pixel_override)) : 0);
	nvdla_emit(check, NVDLA_CDMA_D_DATAIN_SIZE_0,
		   nvdla_put_minus_one(check, NVDLA_CDMA_D_DATAIN_SIZE_0__DATAIN_WIDTH, src->width,
				       NVDLA_FIELD(src->width)) |
		   nvdla_put_minus_one(check, NVDLA_CDMA_D_DATAIN_SIZE_0__DATAIN_HEIGHT,
				       src->height, NVDLA_FIELD(src->height)));
	nvdla_emit(check, NVDLA_CDMA_D_DATAIN_SIZE_1,
		   nvdla_put_minus_one(check, NVDLA_CDMA_D_DATAIN_SIZE_1__DATAIN_CHANNEL,
				       src->channel, NVDLA_FIELD(src->channel)));
	nvdla_emit(check, NVDLA_CDMA_D_DATAIN_SIZE_EXT_0, size_ext(check, op));
	nvdla_emit(check, NVDLA_CDMA_D_PIXEL_OFFSET, plan->pixel_x_offset);
	nvdla_emit(check, NVDLA_CDMA_D_NAN_FLUSH_TO_ZERO,
		   nvdla_nan_to_zero(check, op->out_precision));
	nvdla_emit(check, NVDLA_CDMA_D_BATCH_NUMBER,
		   nvdla_put_minus_one(check, NVDLA_CDMA_D_BATCH_NUMBER__BATCHES, op->batch,
				       NVDLA_FIELD(op->batch)));
	nvdla_emit(check, NVDLA_CDMA_D_BATCH_STRIDE, op->batch > 1 ? op->batch_stride : 0);
	nvdla_emit(check, NVDLA_CDMA_D_ENTRY_PER_SLICE,
		   nvdla_put_minus_one(check, NVDLA_CONV_ENTRIES, op->entry_per_slice,
				       NVDLA_FIELD(op->entry_per_slice)));
	nvdla_emit(check, NVDLA_CDMA_D_FETCH_GRAIN,
		   nvdla_put_minus_one(check, NVDLA_CDMA_D_FETCH_GRAIN__GRAINS, op->fetch_grain,
				       NVDLA_FIELD(op->fetch_grain)));
}

static void program_cdma_memory(struct nvdla_check *check,
				const struct nvdla_conv_surface_desc *surface,
				const struct nvdla_conv_plan *plan)
{
	const struct nvdla_data_cube *src = &surface->src_data;
	u32 atom = check->variant->atom_bytes;
	u32 map = 0;

	if (!plan->image && src->line_stride == src->width * atom)
		map |= NVDLA_CDMA_D_DAIN_MAP__LINE_PACKED;
	if (!plan->image && src->surf_stride == (u64)src->line_stride * src->height)
		map |= NVDLA_CDMA_D_DAIN_MAP__SURF_PACKED;

	nvdla_emit(check, NVDLA_CDMA_D_DAIN_RAM_TYPE, nvdla_ram_type(src->type));
	nvdla_emit_address(check, NVDLA_CDMA_D_DAIN_ADDR_HIGH_0, NVDLA_CDMA_D_DAIN_ADDR_LOW_0,
			   plan->src_access);
	nvdla_emit_address(check, NVDLA_CDMA_D_DAIN_ADDR_HIGH_1, NVDLA_CDMA_D_DAIN_ADDR_LOW_1,
			   plan->uv_access);
	nvdla_emit(check, NVDLA_CDMA_D_LINE_STRIDE, src->line_stride);
	nvdla_emit(check, NVDLA_CDMA_D_LINE_UV_STRIDE, plan->uv_access != NVDLA_NO_ACCESS ?
		   surface->in_line_uv_stride : 0);
	nvdla_emit(check, NVDLA_CDMA_D_SURF_STRIDE, plan->image ? 0 : src->surf_stride);
	nvdla_emit(check, NVDLA_CDMA_D_DAIN_MAP, map);
}

static void program_cdma_weights(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
				 const struct nvdla_conv_surface_desc *surface,
				 const struct nvdla_conv_plan *plan)
{
	nvdla_emit(check, NVDLA_CDMA_D_WEIGHT_FORMAT,
		   nvdla_put(check, NVDLA_CDMA_D_WEIGHT_FORMAT__WEIGHT_FORMAT, op->weight_format,
			     NVDLA_FIELD(op->weight_format)));
	nvdla_emit(check, NVDLA_CDMA_D_WEIGHT_SIZE_0,
		   nvdla_put_minus_one(check, NVDLA_CDMA_D_WEIGHT_SIZE_0__BYTE_PER_KERNEL,
				       op->bytes_per_kernel, NVDLA_FIELD(op->bytes_per_kernel)));
	nvdla_emit(check, NVDLA_CDMA_D_WEIGHT_SIZE_1,
		   nvdla_put_minus_one(check, NVDLA_CDMA_D_WEIGHT_SIZE_1__WEIGHT_KERNEL,
				       surface->dst_data.channel,
				       NVDLA_FIELD(surface->dst_data.channel)));
	nvdla_emit(check, NVDLA_CDMA_D_WEIGHT_RAM_TYPE,
		   nvdla_ram_type(surface->weight_data.type));
	nvdla_emit_address(check, NVDLA_CDMA_D_WEIGHT_ADDR_HIGH, NVDLA_CDMA_D_WEIGHT_ADDR_LOW,
			   plan->weight_access);
	nvdla_emit(check, NVDLA_CDMA_D_WEIGHT_BYTES, surface->weight_data.size);
	nvdla_emit_address(check, NVDLA_CDMA_D_WGS_ADDR_HIGH, NVDLA_CDMA_D_WGS_ADDR_LOW,
			   plan->wgs_access);
	nvdla_emit_address(check, NVDLA_CDMA_D_WMB_ADDR_HIGH, NVDLA_CDMA_D_WMB_ADDR_LOW,
			   plan->wmb_access);
	nvdla_emit(check, NVDLA_CDMA_D_WMB_BYTES, wmb_bytes(check, surface, plan));
}

static void program_cdma_converter(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	nvdla_emit(check, NVDLA_CDMA_D_MEAN_FORMAT,
		   nvdla_put(check, NVDLA_CDMA_D_MEAN_FORMAT__MEAN_FORMAT, op->mean_format,
			     NVDLA_FIELD(op->mean_format)));
	nvdla_emit(check, NVDLA_CDMA_D_MEAN_GLOBAL_0,
		   nvdla_put_signed(check, NVDLA_CDMA_D_MEAN_GLOBAL_0__MEAN_RY, op->mean_ry,
				    NVDLA_FIELD(op->mean_ry)) |
		   nvdla_put_signed(check, NVDLA_CDMA_D_MEAN_GLOBAL_0__MEAN_GU,
				    op->mean_gu, NVDLA_FIELD(op->mean_gu)));
	nvdla_emit(check, NVDLA_CDMA_D_MEAN_GLOBAL_1,
		   nvdla_put_signed(check, NVDLA_CDMA_D_MEAN_GLOBAL_1__MEAN_BV, op->mean_bv,
				    NVDLA_FIELD(op->mean_bv)) |
		   nvdla_put_signed(check, NVDLA_CDMA_D_MEAN_GLOBAL_1__MEAN_AX,
				    op->mean_ax, NVDLA_FIELD(op->mean_ax)));
	if (!op->in_cvt.enable) {
		nvdla_emit(check, NVDLA_CDMA_D_CVT_CFG, 0);
		return;
	}
	nvdla_emit(check, NVDLA_CDMA_D_CVT_CFG, NVDLA_CDMA_D_CVT_CFG__CVT_EN |
		   nvdla_put(check, NVDLA_CDMA_D_CVT_CFG__CVT_TRUNCATE, op->in_cvt.truncate,
			     NVDLA_FIELD(op->in_cvt.truncate)));
	nvdla_emit(check, NVDLA_CDMA_D_CVT_OFFSET,
		   nvdla_put_signed(check, NVDLA_CDMA_D_CVT_OFFSET__CVT_OFFSET, op->in_cvt.offset,
				    NVDLA_FIELD(op->in_cvt.offset)));
	nvdla_emit(check, NVDLA_CDMA_D_CVT_SCALE,
		   nvdla_put_signed(check, NVDLA_CDMA_D_CVT_SCALE__CVT_SCALE, op->in_cvt.scale,
				    NVDLA_FIELD(op->in_cvt.scale)));
}

static void program_cdma_window(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	nvdla_emit(check, NVDLA_CDMA_D_CONV_STRIDE,
		   nvdla_put_minus_one(check, NVDLA_CDMA_D_CONV_STRIDE__CONV_X_STRIDE,
				       op->conv_stride_x, NVDLA_FIELD(op->conv_stride_x)) |
		   nvdla_put_minus_one(check, NVDLA_CDMA_D_CONV_STRIDE__CONV_Y_STRIDE,
				       op->conv_stride_y, NVDLA_FIELD(op->conv_stride_y)));
	nvdla_emit(check, NVDLA_CDMA_D_ZERO_PADDING,
		   nvdla_put(check, NVDLA_CDMA_D_ZERO_PADDING__PAD_LEFT, op->pad_x_left,
			     NVDLA_FIELD(op->pad_x_left)) |
		   nvdla_put(check, NVDLA_CDMA_D_ZERO_PADDING__PAD_RIGHT, op->pad_x_right,
			     NVDLA_FIELD(op->pad_x_right)) |
		   nvdla_put(check, NVDLA_CDMA_D_ZERO_PADDING__PAD_TOP, op->pad_y_top,
			     NVDLA_FIELD(op->pad_y_top)) |
		   nvdla_put(check, NVDLA_CDMA_D_ZERO_PADDING__PAD_BOTTOM,
			     op->pad_y_bottom, NVDLA_FIELD(op->pad_y_bottom)));
	nvdla_emit(check, NVDLA_CDMA_D_ZERO_PADDING_VALUE,
		   nvdla_put_signed(check, NVDLA_CDMA_D_ZERO_PADDING_VALUE__PAD_VALUE, op->pad_val,
				    NVDLA_FIELD(op->pad_val)));
	nvdla_emit(check, NVDLA_CDMA_D_BANK, bank_cfg(check, op));
	nvdla_emit_counting(check, NVDLA_CDMA_D_PERF_ENABLE, NVDLA_CDMA_D_PERF_ENABLE__DMA_EN);
}

void nvdla_program_conv(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			const struct nvdla_conv_surface_desc *surface,
			const struct nvdla_conv_plan *plan)
{
	program_cacc(check, op, &surface->dst_data);
	program_cmac(check, op);
	program_csc_input(check, op, plan);
	program_csc_kernel(check, op, surface, plan);
	program_csc_output(check, op, &surface->dst_data, plan);
	program_cdma_input(check, op, &surface->src_data, plan);
	program_cdma_memory(check, surface, plan);
	program_cdma_weights(check, op, surface, plan);
	program_cdma_converter(check, op);
	program_cdma_window(check, op);
}
