// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * RUBIK: reshapes cubes. Contract finishes a deconvolution, split and merge
 * convert between feature and planar data.
 */

#include <nvdla/hw/registers.h>

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

/* Alignment of planar data (guide, Limitation, Rubik). */
#define RUBIK_PLANAR_ALIGNMENT 64

/* Width of a contracted cube, at most (guide, Limitation, Rubik). */
#define RUBIK_MAX_WIDTH 8192

/* Rules and extent of a planar cube; a line is touched in whole units of 64 bytes. */
static u32 bind_planar(struct nvdla_check *check, const struct nvdla_data_cube *cube, u32 access,
		       u32 precision)
{
	u64 line_bytes = round_up((u64)cube->width * nvdla_bytes_per_element(precision),
				  RUBIK_PLANAR_ALIGNMENT);
	const struct nvdla_dim dims[] = {
		{ cube->height, cube->line_stride },
		{ cube->channel, cube->plane_stride },
	};
	struct nvdla_access_request request = nvdla_cube_access(cube, access);

	nvdla_need(check, cube->width > 0, DRM_NVDLA_RULE_CUBE_EMPTY, 0, 1,
		   NVDLA_FIELD(cube->width));
	nvdla_need(check, cube->height > 0, DRM_NVDLA_RULE_CUBE_EMPTY, 0, 1,
		   NVDLA_FIELD(cube->height));
	nvdla_need(check, cube->channel > 0, DRM_NVDLA_RULE_CUBE_EMPTY, 0, 1,
		   NVDLA_FIELD(cube->channel));
	nvdla_need(check, IS_ALIGNED(cube->line_stride, RUBIK_PLANAR_ALIGNMENT),
		   DRM_NVDLA_RULE_CUBE_STRIDE_ALIGNMENT, cube->line_stride, RUBIK_PLANAR_ALIGNMENT,
		   NVDLA_FIELD(cube->line_stride));
	nvdla_need(check, IS_ALIGNED(cube->plane_stride, check->variant->atom_bytes),
		   DRM_NVDLA_RULE_CUBE_STRIDE_ALIGNMENT, cube->plane_stride,
		   check->variant->atom_bytes, NVDLA_FIELD(cube->plane_stride));
	nvdla_need(check, cube->line_stride >= line_bytes, DRM_NVDLA_RULE_CUBE_LINE_STRIDE,
		   cube->line_stride, line_bytes, NVDLA_FIELD(cube->line_stride));
	nvdla_need(check,
		   cube->channel == 1 ||
			   cube->plane_stride >= (u64)cube->height * cube->line_stride,
		   DRM_NVDLA_RULE_RUBIK_PLANE_STRIDE, cube->plane_stride,
		   (u64)cube->height * cube->line_stride, NVDLA_FIELD(cube->plane_stride));
	if (check->failed)
		return NVDLA_NO_ACCESS;

	request.alignment = RUBIK_PLANAR_ALIGNMENT;
	/* Cannot overflow: products of 16 and 32 bits. */
	nvdla_walk_bytes(line_bytes, dims, ARRAY_SIZE(dims), &request.bytes);
	return nvdla_add_access(check, &request);
}

static void check_size(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op,
		       const struct nvdla_rubik_surface_desc *surface)
{
	const struct nvdla_data_cube *src = &surface->src_data;
	const struct nvdla_data_cube *dst = &surface->dst_data;
	u32 stride_x = 1;
	u32 stride_y = 1;

	if (op->mode == NVDLA_RUBIK_CONTRACT) {
		stride_x = op->stride_x;
		stride_y = op->stride_y;
		nvdla_need(check, stride_x * src->width <= RUBIK_MAX_WIDTH,
			   DRM_NVDLA_RULE_RUBIK_WIDTH, stride_x * src->width, RUBIK_MAX_WIDTH,
			   NVDLA_FIELD(src->width));
	}

	nvdla_need(check, dst->width == stride_x * src->width, DRM_NVDLA_RULE_RUBIK_SIZE,
		   dst->width, stride_x * src->width, NVDLA_FIELD(dst->width));
	nvdla_need(check, dst->height == stride_y * src->height, DRM_NVDLA_RULE_RUBIK_SIZE,
		   dst->height, stride_y * src->height, NVDLA_FIELD(dst->height));
	nvdla_need(check, (u64)dst->channel * stride_x * stride_y == src->channel,
		   DRM_NVDLA_RULE_RUBIK_SIZE, (u64)dst->channel * stride_x * stride_y,
		   src->channel, NVDLA_FIELD(dst->channel));
}

static void check_op(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op)
{
	nvdla_need(check, op->mode <= NVDLA_RUBIK_MERGE, DRM_NVDLA_RULE_RUBIK_MODE, op->mode,
		   NVDLA_RUBIK_MERGE, NVDLA_FIELD(op->mode));
	nvdla_need(check,
		   op->precision <= NVDLA_PRECISION_FP16 &&
			   (check->variant->precisions & BIT(op->precision)),
		   DRM_NVDLA_RULE_RUBIK_PRECISION, op->precision, NVDLA_PRECISION_FP16,
		   NVDLA_FIELD(op->precision));
	if (check->failed || op->mode != NVDLA_RUBIK_CONTRACT)
		return;

	nvdla_need(check, op->stride_x >= 1 && op->stride_x <= 32, DRM_NVDLA_RULE_RUBIK_STRIDE,
		   op->stride_x, 32, NVDLA_FIELD(op->stride_x));
	nvdla_need(check, op->stride_y >= 1 && op->stride_y <= 32, DRM_NVDLA_RULE_RUBIK_STRIDE,
		   op->stride_y, 32, NVDLA_FIELD(op->stride_y));
}

/*
 * Contract reads stride_x * stride_y groups of whole surfaces, one per output
 * phase, even where the channels of a phase do not fill its last atom.
 */
static u32 bind_contract_src(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op,
			     const struct nvdla_rubik_surface_desc *surface, u32 phase_surfaces)
{
	struct nvdla_feature_use use;

	nvdla_feature_use_init(check, &use, &surface->src_data, NVDLA_ACCESS_READ, op->precision);
	use.surface_multiple = op->stride_x * op->stride_y * phase_surfaces;
	return nvdla_add_feature_access(check, &surface->src_data, &use);
}

static u32 bind_feature(struct nvdla_check *check, const struct nvdla_data_cube *cube, u32 access,
			u32 precision)
{
	struct nvdla_feature_use use;

	nvdla_feature_use_init(check, &use, cube, access, precision);
	return nvdla_add_feature_access(check, cube, &use);
}

static void program_strides(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op,
			    const struct nvdla_rubik_surface_desc *surface, u32 phase_surfaces)
{
	const struct nvdla_data_cube *src = &surface->src_data;
	const struct nvdla_data_cube *dst = &surface->dst_data;

	nvdla_emit(check, NVDLA_RBK_D_DAIN_LINE_STRIDE, src->line_stride);
	nvdla_emit(check, NVDLA_RBK_D_DAOUT_LINE_STRIDE, dst->line_stride);

	if (op->mode == NVDLA_RUBIK_MERGE)
		nvdla_emit(check, NVDLA_RBK_D_DAIN_PLANAR_STRIDE, src->plane_stride);
	else
		nvdla_emit(check, NVDLA_RBK_D_DAIN_SURF_STRIDE, src->surf_stride);

	if (op->mode == NVDLA_RUBIK_SPLIT)
		nvdla_emit(check, NVDLA_RBK_D_DAOUT_PLANAR_STRIDE, dst->plane_stride);
	else
		nvdla_emit(check, NVDLA_RBK_D_DAOUT_SURF_STRIDE, dst->surf_stride);

	if (op->mode != NVDLA_RUBIK_CONTRACT)
		return;

	nvdla_emit(check, NVDLA_RBK_D_CONTRACT_STRIDE_0,
		   nvdla_put(check, U32_MAX, (u64)phase_surfaces * src->surf_stride,
			     NVDLA_FIELD(src->surf_stride)));
	nvdla_emit(check, NVDLA_RBK_D_CONTRACT_STRIDE_1,
		   nvdla_put(check, U32_MAX, (u64)op->stride_y * dst->line_stride,
			     NVDLA_FIELD(dst->line_stride)));
	nvdla_emit(check, NVDLA_RBK_D_DECONV_STRIDE,
		   nvdla_put_minus_one(check, NVDLA_RBK_D_DECONV_STRIDE__DECONV_X_STRIDE,
				       op->stride_x, NVDLA_FIELD(op->stride_x)) |
		   nvdla_put_minus_one(check, NVDLA_RBK_D_DECONV_STRIDE__DECONV_Y_STRIDE,
				       op->stride_y, NVDLA_FIELD(op->stride_y)));
}

static void program(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op,
		    const struct nvdla_rubik_surface_desc *surface, u32 src_access,
		    u32 dst_access)
{
	const struct nvdla_data_cube *src = &surface->src_data;
	const struct nvdla_data_cube *dst = &surface->dst_data;

	nvdla_emit(check, NVDLA_RBK_D_MISC_CFG,
		   nvdla_put(check, NVDLA_RBK_D_MISC_CFG__RUBIK_MODE, op->mode,
			     NVDLA_FIELD(op->mode)) |
		   nvdla_put(check, NVDLA_RBK_D_MISC_CFG__IN_PRECISION, op->precision,
			     NVDLA_FIELD(op->precision)));
	nvdla_emit(check, NVDLA_RBK_D_DAIN_RAM_TYPE, nvdla_ram_type(src->type));
	nvdla_emit(check, NVDLA_RBK_D_DATAIN_SIZE_0,
		   nvdla_put_minus_one(check, NVDLA_RBK_D_DATAIN_SIZE_0__DATAIN_WIDTH, src->width,
				       NVDLA_FIELD(src->width)) |
		   nvdla_put_minus_one(check, NVDLA_RBK_D_DATAIN_SIZE_0__DATAIN_HEIGHT,
				       src->height, NVDLA_FIELD(src->height)));
	nvdla_emit(check, NVDLA_RBK_D_DATAIN_SIZE_1,
		   nvdla_put_minus_one(check, NVDLA_RBK_D_DATAIN_SIZE_1__DATAIN_CHANNEL,
				       src->channel, NVDLA_FIELD(src->channel)));
	nvdla_emit_address(check, NVDLA_RBK_D_DAIN_ADDR_HIGH, NVDLA_RBK_D_DAIN_ADDR_LOW,
			   src_access);
	nvdla_emit(check, NVDLA_RBK_D_DAOUT_RAM_TYPE, nvdla_ram_type(dst->type));
	nvdla_emit(check, NVDLA_RBK_D_DATAOUT_SIZE_1,
		   nvdla_put_minus_one(check, NVDLA_RBK_D_DATAOUT_SIZE_1__DATAOUT_CHANNEL,
				       dst->channel, NVDLA_FIELD(dst->channel)));
	nvdla_emit_address(check, NVDLA_RBK_D_DAOUT_ADDR_HIGH, NVDLA_RBK_D_DAOUT_ADDR_LOW,
			   dst_access);
	nvdla_emit_counting(check, NVDLA_RBK_D_PERF_ENABLE, NVDLA_RBK_D_PERF_ENABLE__PERF_EN);
}

void nvdla_check_rubik(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op,
		       const struct nvdla_rubik_surface_desc *surface)
{
	u32 phase_surfaces;
	u32 src_access;
	u32 dst_access;

	check_op(check, op);
	if (check->failed)
		return;
	check_size(check, op, surface);
	if (check->failed)
		return;

	phase_surfaces = DIV_ROUND_UP(surface->dst_data.channel *
				      nvdla_bytes_per_element(op->precision),
				      check->variant->atom_bytes);

	if (op->mode == NVDLA_RUBIK_CONTRACT)
		src_access = bind_contract_src(check, op, surface, max(phase_surfaces, 1U));
	else if (op->mode == NVDLA_RUBIK_MERGE)
		src_access =
			bind_planar(check, &surface->src_data, NVDLA_ACCESS_READ, op->precision);
	else
		src_access =
			bind_feature(check, &surface->src_data, NVDLA_ACCESS_READ, op->precision);

	if (op->mode == NVDLA_RUBIK_SPLIT)
		dst_access =
			bind_planar(check, &surface->dst_data, NVDLA_ACCESS_WRITE, op->precision);
	else
		dst_access =
			bind_feature(check, &surface->dst_data, NVDLA_ACCESS_WRITE, op->precision);

	program(check, op, surface, src_access, dst_access);
	program_strides(check, op, surface, phase_surfaces);
}
