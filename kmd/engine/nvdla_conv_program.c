// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Convolution: register programs of CDMA, CSC, CMAC and CACC. */

#include "nvdla_check.h"
#include "nvdla_conv.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

static void program_cacc_cmac(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			      const struct nvdla_data_cube *dst)
{
	bool point = dst->width == 1 && dst->height == 1;

	put(check, CACC_D_MISC_CFG, CONV_MODE, op->conv_mode);
	put(check, CACC_D_MISC_CFG, PROC_PRECISION, op->out_precision);
	put_count(check, CACC_D_DATAOUT_SIZE_0, DATAOUT_WIDTH, dst->width);
	put_count(check, CACC_D_DATAOUT_SIZE_0, DATAOUT_HEIGHT, dst->height);
	put_count(check, CACC_D_DATAOUT_SIZE_1, DATAOUT_CHANNEL, dst->channel);
	put_count(check, CACC_D_BATCH_NUMBER, BATCHES, op->batch);
	/* CACC's output goes to SDP: no address is written, and the strides have no effect. */
	emit(check, CACC_D_LINE_STRIDE, dst->line_stride & NVDLA_CACC_D_LINE_STRIDE__LINE_STRIDE);
	emit(check, CACC_D_SURF_STRIDE, dst->surf_stride & NVDLA_CACC_D_SURF_STRIDE__SURF_STRIDE);
	emit(check, CACC_D_DATAOUT_MAP, !point ? 0 :
	     NVDLA_CACC_D_DATAOUT_MAP__LINE_PACKED | NVDLA_CACC_D_DATAOUT_MAP__SURF_PACKED);
	put(check, CACC_D_CLIP_CFG, CLIP_TRUNCATE, op->out_cvt.truncate);
	put(check, CMAC_A_D_MISC_CFG, CONV_MODE, op->conv_mode);
	put(check, CMAC_A_D_MISC_CFG, PROC_PRECISION, op->out_precision);
	put(check, CMAC_B_D_MISC_CFG, CONV_MODE, op->conv_mode);
	put(check, CMAC_B_D_MISC_CFG, PROC_PRECISION, op->out_precision);
}

#define put_misc(field, member) \
	nvdla_emit_bits(check, misc_reg, \
			nvdla_encode(check, NVDLA_CDMA_D_MISC_CFG__##field, NVDLA_AS_IT_IS, \
				     NVDLA_FIELD(member)))

/* Writes the registers that CDMA and CSC both have; their values differ only in @in_precision. */
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
	emit(check, CSC_D_DATAIN_FORMAT,
	     plan->image ? NVDLA_CSC_D_DATAIN_FORMAT__DATAIN_FORMAT : 0);
	put_count(check, CSC_D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT, op->input_width_csc);
	put_count(check, CSC_D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT, op->input_height_csc);
	put_count(check, CSC_D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT, op->input_channel_csc);
	put_count(check, CSC_D_BATCH_NUMBER, BATCHES, op->batch);
	put(check, CSC_D_POST_Y_EXTENSION, Y_EXTENSION, op->post_extension);
	emit(check, CSC_D_RELEASE, 0);
	if (op->release)
		put_count(check, CSC_D_RELEASE, RLS_SLICES, op->release);
	put(check, CSC_D_WEIGHT_FORMAT, WEIGHT_FORMAT, op->weight_format);
	put_count(check, CSC_D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT, op->kernel_width_csc);
	put_count(check, CSC_D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT, op->kernel_height_csc);
	put_count(check, CSC_D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT, op->kernel_channel_csc);
	put_count(check, CSC_D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL, dst->channel);
	emit(check, CSC_D_WEIGHT_BYTES, surface->weight_data.size);
	need(check, !plan->compressed ||
	     !(surface->wmb_data.size & ~NVDLA_CSC_D_WMB_BYTES__WMB_BYTES),
	     surface->wmb_data.size, NVDLA_CSC_D_WMB_BYTES__WMB_BYTES,
	     "the value does not fit its register field");
	emit(check, CSC_D_WMB_BYTES, plan->compressed ? surface->wmb_data.size : 0);
	put_count(check, CSC_D_DATAOUT_SIZE_0, DATAOUT_WIDTH, op->input_width_cmac);
	put_count(check, CSC_D_DATAOUT_SIZE_0, DATAOUT_HEIGHT, op->input_height_cmac);
	put_count(check, CSC_D_DATAOUT_SIZE_1, DATAOUT_CHANNEL, dst->channel);
	need_room(check, atomics, NVDLA_CSC_D_ATOMICS__ATOMICS, dst->height,
		  "the value does not fit its register field");
	emit(check, CSC_D_ATOMICS, atomics);
	put_count(check, CSC_D_DILATION_EXT, X_DILATION_EXT, op->dilation_x);
	put_count(check, CSC_D_DILATION_EXT, Y_DILATION_EXT, op->dilation_y);
	put(check, CSC_D_ZERO_PADDING_VALUE, PAD_VALUE, op->pad_val);
	put(check, CSC_D_PRA_CFG, PRA_TRUNCATE, op->pra_truncate);

	/* In Winograd mode, CDMA has already applied stride and padding. */
	emit(check, CSC_D_CONV_STRIDE_EXT, 0);
	if (!plan->winograd) {
		put_count(check, CSC_D_CONV_STRIDE_EXT, CONV_X_STRIDE_EXT, op->conv_stride_x);
		put_count(check, CSC_D_CONV_STRIDE_EXT, CONV_Y_STRIDE_EXT, op->conv_stride_y);
	}
	emit(check, CSC_D_ZERO_PADDING, 0);
	if (!plan->winograd) {
		put(check, CSC_D_ZERO_PADDING, PAD_LEFT, op->pad_x_left);
		put(check, CSC_D_ZERO_PADDING, PAD_TOP, op->pad_y_top);
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
	emit(check, CDMA_D_DATAIN_FORMAT,
	     plan->image ? NVDLA_CDMA_D_DATAIN_FORMAT__DATAIN_FORMAT : 0);
	if (plan->image) {
		put(check, CDMA_D_DATAIN_FORMAT, PIXEL_FORMAT, op->data_format);
		put(check, CDMA_D_DATAIN_FORMAT, PIXEL_SIGN_OVERRIDE, op->pixel_override);
	}
	put_count(check, CDMA_D_DATAIN_SIZE_0, DATAIN_WIDTH, src->width);
	put_count(check, CDMA_D_DATAIN_SIZE_0, DATAIN_HEIGHT, src->height);
	put_count(check, CDMA_D_DATAIN_SIZE_1, DATAIN_CHANNEL, src->channel);
	put_count(check, CDMA_D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT, op->input_width_csc);
	put_count(check, CDMA_D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT, op->input_height_csc);
	emit(check, CDMA_D_PIXEL_OFFSET, plan->pixel_x_offset);
	emit(check, CDMA_D_NAN_FLUSH_TO_ZERO, nvdla_nan_to_zero(check, op->out_precision));
	put_count(check, CDMA_D_BATCH_NUMBER, BATCHES, op->batch);
	emit(check, CDMA_D_BATCH_STRIDE, op->batch > 1 ? op->batch_stride : 0);
	put_count(check, CDMA_D_FETCH_GRAIN, GRAINS, op->fetch_grain);

	if (!plan->image && src->line_stride == src->width * check->variant->atom_bytes)
		map |= NVDLA_CDMA_D_DAIN_MAP__LINE_PACKED;
	if (!plan->image && src->surf_stride == (u64)src->line_stride * src->height)
		map |= NVDLA_CDMA_D_DAIN_MAP__SURF_PACKED;
	emit(check, CDMA_D_DAIN_RAM_TYPE, nvdla_ram_type(src->type));
	nvdla_emit_access(check, NVDLA_CDMA_D_DAIN_ADDR_HIGH_0, NVDLA_CDMA_D_DAIN_ADDR_LOW_0,
			  plan->src_access);
	nvdla_emit_access(check, NVDLA_CDMA_D_DAIN_ADDR_HIGH_1, NVDLA_CDMA_D_DAIN_ADDR_LOW_1,
			  plan->uv_access);
	emit(check, CDMA_D_LINE_STRIDE, src->line_stride);
	emit(check, CDMA_D_LINE_UV_STRIDE,
	     plan->uv_access == NVDLA_NO_ACCESS ? 0 : surface->in_line_uv_stride);
	emit(check, CDMA_D_SURF_STRIDE, plan->image ? 0 : src->surf_stride);
	emit(check, CDMA_D_DAIN_MAP, map);
}

static void program_cdma_weights(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
				 const struct nvdla_conv_surface_desc *surface,
				 const struct nvdla_conv_plan *plan)
{
	put(check, CDMA_D_WEIGHT_FORMAT, WEIGHT_FORMAT, op->weight_format);
	put_count(check, CDMA_D_WEIGHT_SIZE_0, BYTE_PER_KERNEL, op->bytes_per_kernel);
	put_count(check, CDMA_D_WEIGHT_SIZE_1, WEIGHT_KERNEL, surface->dst_data.channel);
	emit(check, CDMA_D_WEIGHT_RAM_TYPE, nvdla_ram_type(surface->weight_data.type));
	emit_address(check, CDMA_D_WEIGHT_ADDR, plan->weight_access);
	emit(check, CDMA_D_WEIGHT_BYTES, surface->weight_data.size);
	emit_address(check, CDMA_D_WGS_ADDR, plan->wgs_access);
	emit_address(check, CDMA_D_WMB_ADDR, plan->wmb_access);
	emit(check, CDMA_D_WMB_BYTES, plan->compressed ? surface->wmb_data.size : 0);
}

static void program_cdma_data(struct nvdla_check *check, const struct nvdla_conv_op_desc *op)
{
	put(check, CDMA_D_MEAN_FORMAT, MEAN_FORMAT, op->mean_format);
	put(check, CDMA_D_MEAN_GLOBAL_0, MEAN_RY, op->mean_ry);
	put(check, CDMA_D_MEAN_GLOBAL_0, MEAN_GU, op->mean_gu);
	put(check, CDMA_D_MEAN_GLOBAL_1, MEAN_BV, op->mean_bv);
	put(check, CDMA_D_MEAN_GLOBAL_1, MEAN_AX, op->mean_ax);
	put(check, CDMA_D_CVT_CFG, CVT_EN, op->in_cvt.enable);
	if (op->in_cvt.enable) {
		put(check, CDMA_D_CVT_CFG, CVT_TRUNCATE, op->in_cvt.truncate);
		put(check, CDMA_D_CVT_OFFSET, CVT_OFFSET, op->in_cvt.offset);
		put(check, CDMA_D_CVT_SCALE, CVT_SCALE, op->in_cvt.scale);
	}
	put_count(check, CDMA_D_CONV_STRIDE, CONV_X_STRIDE, op->conv_stride_x);
	put_count(check, CDMA_D_CONV_STRIDE, CONV_Y_STRIDE, op->conv_stride_y);
	put(check, CDMA_D_ZERO_PADDING, PAD_LEFT, op->pad_x_left);
	put(check, CDMA_D_ZERO_PADDING, PAD_RIGHT, op->pad_x_right);
	put(check, CDMA_D_ZERO_PADDING, PAD_TOP, op->pad_y_top);
	put(check, CDMA_D_ZERO_PADDING, PAD_BOTTOM, op->pad_y_bottom);
	put(check, CDMA_D_ZERO_PADDING_VALUE, PAD_VALUE, op->pad_val);
	emit_counting(check, CDMA_D_PERF_ENABLE, NVDLA_CDMA_D_PERF_ENABLE__DMA_EN);
}

/* Writes the program of a checked convolution. */
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
