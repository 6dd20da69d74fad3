// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Convolution: register programs of CDMA, CSC, CMAC and CACC.
 */

#include "nvdla_check.h"
#include "nvdla_conv.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

static void program_cacc_cmac(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			      const struct nvdla_data_cube *dst)
{
	bool point = dst->width == 1 && dst->height == 1;

	nvdla_put(check, CACC_D_MISC_CFG, CONV_MODE, op->conv_mode);
	nvdla_put(check, CACC_D_MISC_CFG, PROC_PRECISION, op->out_precision);
	nvdla_put_count(check, CACC_D_DATAOUT_SIZE_0, DATAOUT_WIDTH, dst->width);
	nvdla_put_count(check, CACC_D_DATAOUT_SIZE_0, DATAOUT_HEIGHT, dst->height);
	nvdla_put_count(check, CACC_D_DATAOUT_SIZE_1, DATAOUT_CHANNEL, dst->channel);
	nvdla_put_count(check, CACC_D_BATCH_NUMBER, BATCHES, op->batch);
	/* CACC writes no memory: its address is left alone, strides are informative. */
	nvdla_emit(check, CACC_D_LINE_STRIDE,
		   dst->line_stride & NVDLA_CACC_D_LINE_STRIDE__LINE_STRIDE);
	nvdla_emit(check, CACC_D_SURF_STRIDE,
		   dst->surf_stride & NVDLA_CACC_D_SURF_STRIDE__SURF_STRIDE);
	nvdla_emit(check, CACC_D_DATAOUT_MAP, !point ? 0 :
		   NVDLA_CACC_D_DATAOUT_MAP__LINE_PACKED | NVDLA_CACC_D_DATAOUT_MAP__SURF_PACKED);
	nvdla_put(check, CACC_D_CLIP_CFG, CLIP_TRUNCATE, op->out_cvt.truncate);
	nvdla_put(check, CMAC_A_D_MISC_CFG, CONV_MODE, op->conv_mode);
	nvdla_put(check, CMAC_A_D_MISC_CFG, PROC_PRECISION, op->out_precision);
	nvdla_put(check, CMAC_B_D_MISC_CFG, CONV_MODE, op->conv_mode);
	nvdla_put(check, CMAC_B_D_MISC_CFG, PROC_PRECISION, op->out_precision);
}

#define put_misc(field, member) \
	nvdla_emit_bits(check, misc_reg, \
			nvdla_encode(check, NVDLA_CDMA_D_MISC_CFG__##field, NVDLA_AS_IT_IS, \
				     NVDLA_FIELD(member)))

/* Register values that CDMA and CSC share, without the input's precision. */
static void program_both(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			 const u8 *in_precision, u32 misc_reg, u32 bank_reg, u32 entries_reg)
{
	put_misc(CONV_MODE, op->conv_mode);
	put_misc(IN_PRECISION, *in_precision);
	put_misc(PROC_PRECISION, op->out_precision);
	put_misc(DATA_REUSE, op->data_reuse);
	put_misc(WEIGHT_REUSE, op->weight_reuse);
	put_misc(SKIP_DATA_RLS, op->skip_data_rls);
	put_misc(SKIP_WEIGHT_RLS, op->skip_weight_rls);
	nvdla_emit_bits(check, bank_reg,
			nvdla_encode(check, NVDLA_CONV_DATA_BANK, NVDLA_MINUS_ONE,
				     NVDLA_FIELD(op->data_bank)));
	nvdla_emit_bits(check, bank_reg,
			nvdla_encode(check, NVDLA_CONV_WEIGHT_BANK, NVDLA_MINUS_ONE,
				     NVDLA_FIELD(op->weight_bank)));
	nvdla_emit_bits(check, entries_reg,
			nvdla_encode(check, NVDLA_CONV_ENTRIES, NVDLA_MINUS_ONE,
				     NVDLA_FIELD(op->entry_per_slice)));
}

static void program_csc(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			const struct nvdla_conv_surface_desc *surface,
			const struct nvdla_conv_plan *plan)
{
	const struct nvdla_data_cube *dst = &surface->dst_data;
	const u32 atomics = (u32)dst->width * dst->height - 1;

	program_both(check, op, &op->out_precision, NVDLA_CSC_D_MISC_CFG, NVDLA_CSC_D_BANK,
		     NVDLA_CSC_D_ENTRY_PER_SLICE);
	nvdla_emit(check, CSC_D_DATAIN_FORMAT,
		   plan->image ? NVDLA_CSC_D_DATAIN_FORMAT__DATAIN_FORMAT : 0);
	nvdla_put_count(check, CSC_D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT, op->input_width_csc);
	nvdla_put_count(check, CSC_D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT, op->input_height_csc);
	nvdla_put_count(check, CSC_D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT, op->input_channel_csc);
	nvdla_put_count(check, CSC_D_BATCH_NUMBER, BATCHES, op->batch);
	nvdla_put(check, CSC_D_POST_Y_EXTENSION, Y_EXTENSION, op->post_extension);
	nvdla_emit(check, CSC_D_RELEASE, 0);
	if (op->release)
		nvdla_put_count(check, CSC_D_RELEASE, RLS_SLICES, op->release);
	nvdla_put(check, CSC_D_WEIGHT_FORMAT, WEIGHT_FORMAT, op->weight_format);
	nvdla_put_count(check, CSC_D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT, op->kernel_width_csc);
	nvdla_put_count(check, CSC_D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT, op->kernel_height_csc);
	nvdla_put_count(check, CSC_D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT,
			op->kernel_channel_csc);
	nvdla_put_count(check, CSC_D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL, dst->channel);
	nvdla_emit(check, CSC_D_WEIGHT_BYTES, surface->weight_data.size);
	nvdla_need(check, !plan->compressed ||
		   !(surface->wmb_data.size & ~NVDLA_CSC_D_WMB_BYTES__WMB_BYTES),
		   surface->wmb_data.size, NVDLA_CSC_D_WMB_BYTES__WMB_BYTES,
		   "the value does not fit its register field");
	nvdla_emit(check, CSC_D_WMB_BYTES, plan->compressed ? surface->wmb_data.size : 0);
	nvdla_put_count(check, CSC_D_DATAOUT_SIZE_0, DATAOUT_WIDTH, op->input_width_cmac);
	nvdla_put_count(check, CSC_D_DATAOUT_SIZE_0, DATAOUT_HEIGHT, op->input_height_cmac);
	nvdla_put_count(check, CSC_D_DATAOUT_SIZE_1, DATAOUT_CHANNEL, dst->channel);
	nvdla_need_room(check, atomics, NVDLA_CSC_D_ATOMICS__ATOMICS, dst->height,
			"the value does not fit its register field");
	nvdla_emit(check, CSC_D_ATOMICS, atomics);
	nvdla_put_count(check, CSC_D_DILATION_EXT, X_DILATION_EXT, op->dilation_x);
	nvdla_put_count(check, CSC_D_DILATION_EXT, Y_DILATION_EXT, op->dilation_y);
	nvdla_put(check, CSC_D_ZERO_PADDING_VALUE, PAD_VALUE, op->pad_val);
	nvdla_put(check, CSC_D_PRA_CFG, PRA_TRUNCATE, op->pra_truncate);

	/* Winograd's CDMA has already applied stride and padding. */
	nvdla_emit(check, CSC_D_CONV_STRIDE_EXT, 0);
	if (!plan->winograd) {
		nvdla_put_count(check, CSC_D_CONV_STRIDE_EXT, CONV_X_STRIDE_EXT,
				op->conv_stride_x);
		nvdla_put_count(check, CSC_D_CONV_STRIDE_EXT, CONV_Y_STRIDE_EXT,
				op->conv_stride_y);
	}
	nvdla_emit(check, CSC_D_ZERO_PADDING, 0);
	if (!plan->winograd) {
		nvdla_put(check, CSC_D_ZERO_PADDING, PAD_LEFT, op->pad_x_left);
		nvdla_put(check, CSC_D_ZERO_PADDING, PAD_TOP, op->pad_y_top);
	}
}

static void program_cdma_input(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			       const struct nvdla_conv_surface_desc *surface,
			       const struct nvdla_conv_plan *plan)
{
	const struct nvdla_data_cube *src = &surface->src_data;
	u32 map = 0;

	program_both(check, op, &op->in_precision, NVDLA_CDMA_D_MISC_CFG, NVDLA_CDMA_D_BANK,
		     NVDLA_CDMA_D_ENTRY_PER_SLICE);
	nvdla_emit(check, CDMA_D_DATAIN_FORMAT,
		   plan->image ? NVDLA_CDMA_D_DATAIN_FORMAT__DATAIN_FORMAT : 0);
	if (plan->image) {
		nvdla_put(check, CDMA_D_DATAIN_FORMAT, PIXEL_FORMAT, op->data_format);
		nvdla_put(check, CDMA_D_DATAIN_FORMAT, PIXEL_SIGN_OVERRIDE, op->pixel_override);
	}
	nvdla_put_count(check, CDMA_D_DATAIN_SIZE_0, DATAIN_WIDTH, src->width);
	nvdla_put_count(check, CDMA_D_DATAIN_SIZE_0, DATAIN_HEIGHT, src->height);
	nvdla_put_count(check, CDMA_D_DATAIN_SIZE_1, DATAIN_CHANNEL, src->channel);
	nvdla_put_count(check, CDMA_D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT, op->input_width_csc);
	nvdla_put_count(check, CDMA_D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT, op->input_height_csc);
	nvdla_emit(check, CDMA_D_PIXEL_OFFSET, plan->pixel_x_offset);
	nvdla_emit(check, CDMA_D_NAN_FLUSH_TO_ZERO, nvdla_nan_to_zero(check, op->out_precision));
	nvdla_put_count(check, CDMA_D_BATCH_NUMBER, BATCHES, op->batch);
	nvdla_emit(check, CDMA_D_BATCH_STRIDE, op->batch > 1 ? op->batch_stride : 0);
	nvdla_put_count(check, CDMA_D_FETCH_GRAIN, GRAINS, op->fetch_grain);

	if (!plan->image && src->line_stride == src->width * check->variant->atom_bytes)
		map |= NVDLA_CDMA_D_DAIN_MAP__LINE_PACKED;
	if (!plan->image && src->surf_stride == (u64)src->line_stride * src->height)
		map |= NVDLA_CDMA_D_DAIN_MAP__SURF_PACKED;
	nvdla_emit(check, CDMA_D_DAIN_RAM_TYPE, nvdla_ram_type(src->type));
	nvdla_emit_access(check, NVDLA_CDMA_D_DAIN_ADDR_HIGH_0, NVDLA_CDMA_D_DAIN_ADDR_LOW_0,
			  plan->src_access);
	nvdla_emit_access(check, NVDLA_CDMA_D_DAIN_ADDR_HIGH_1, NVDLA_CDMA_D_DAIN_ADDR_LOW_1,
			  plan->uv_access);
	nvdla_emit(check, CDMA_D_LINE_STRIDE, src->line_stride);
	nvdla_emit(check, CDMA_D_LINE_UV_STRIDE,
		   plan->uv_access == NVDLA_NO_ACCESS ? 0 : surface->in_line_uv_stride);
	nvdla_emit(check, CDMA_D_SURF_STRIDE, plan->image ? 0 : src->surf_stride);
	nvdla_emit(check, CDMA_D_DAIN_MAP, map);
}

static void program_cdma_weights(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
				 const struct nvdla_conv_surface_desc *surface,
				 const struct nvdla_conv_plan *plan)
{
	nvdla_put(check, CDMA_D_WEIGHT_FORMAT, WEIGHT_FORMAT, op->weight_format);
	nvdla_put_count(check, CDMA_D_WEIGHT_SIZE_0, BYTE_PER_KERNEL, op->bytes_per_kernel);
	nvdla_put_count(check, CDMA_D_WEIGHT_SIZE_1, WEIGHT_KERNEL, surface->dst_data.channel);
	nvdla_emit(check, CDMA_D_WEIGHT_RAM_TYPE, nvdla_ram_type(surface->weight_data.type));
	nvdla_emit_address(check, CDMA_D_WEIGHT_ADDR, plan->weight_access);
	nvdla_emit(check, CDMA_D_WEIGHT_BYTES, surface->weight_data.size);
	nvdla_emit_address(check, CDMA_D_WGS_ADDR, plan->wgs_access);
	nvdla_emit_address(check, CDMA_D_WMB_ADDR, plan->wmb_access);
	nvdla_emit(check, CDMA_D_WMB_BYTES, plan->compressed ? surface->wmb_data.size : 0);
}

static void program_cdma_data(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	nvdla_put(check, CDMA_D_MEAN_FORMAT, MEAN_FORMAT, op->mean_format);
	nvdla_put(check, CDMA_D_MEAN_GLOBAL_0, MEAN_RY, op->mean_ry);
	nvdla_put(check, CDMA_D_MEAN_GLOBAL_0, MEAN_GU, op->mean_gu);
	nvdla_put(check, CDMA_D_MEAN_GLOBAL_1, MEAN_BV, op->mean_bv);
	nvdla_put(check, CDMA_D_MEAN_GLOBAL_1, MEAN_AX, op->mean_ax);
	nvdla_put(check, CDMA_D_CVT_CFG, CVT_EN, op->in_cvt.enable);
	if (op->in_cvt.enable) {
		nvdla_put(check, CDMA_D_CVT_CFG, CVT_TRUNCATE, op->in_cvt.truncate);
		nvdla_put(check, CDMA_D_CVT_OFFSET, CVT_OFFSET, op->in_cvt.offset);
		nvdla_put(check, CDMA_D_CVT_SCALE, CVT_SCALE, op->in_cvt.scale);
	}
	nvdla_put_count(check, CDMA_D_CONV_STRIDE, CONV_X_STRIDE, op->conv_stride_x);
	nvdla_put_count(check, CDMA_D_CONV_STRIDE, CONV_Y_STRIDE, op->conv_stride_y);
	nvdla_put(check, CDMA_D_ZERO_PADDING, PAD_LEFT, op->pad_x_left);
	nvdla_put(check, CDMA_D_ZERO_PADDING, PAD_RIGHT, op->pad_x_right);
	nvdla_put(check, CDMA_D_ZERO_PADDING, PAD_TOP, op->pad_y_top);
	nvdla_put(check, CDMA_D_ZERO_PADDING, PAD_BOTTOM, op->pad_y_bottom);
	nvdla_put(check, CDMA_D_ZERO_PADDING_VALUE, PAD_VALUE, op->pad_val);
	nvdla_emit_counting(check, CDMA_D_PERF_ENABLE, NVDLA_CDMA_D_PERF_ENABLE__DMA_EN);
}

/**
 * nvdla_program_conv() - write the program of a checked convolution
 * @check: examination
 * @op: operation
 * @surface: its cubes
 * @plan: result of the check
 */
void nvdla_program_conv(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			const struct nvdla_conv_surface_desc *surface,
			const struct nvdla_conv_plan *plan)
{
	program_cacc_cmac(check, op, &surface->dst_data);
	program_csc(check, op, surface, plan);
	program_cdma_input(check, op, surface, plan);
	program_cdma_weights(check, op, surface, plan);
	program_cdma_data(check, op);
}
