// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * RUBIK: reshapes cubes. Contract finishes a deconvolution, split and merge convert between feature
 * and planar data (programming guide, "Limitation", Rubik).
 */

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

/* Alignment of planar data, in bytes. */
#define RUBIK_PLANAR_ALIGNMENT 64

/* Width of a contracted cube in elements, at most. */
#define RUBIK_MAX_WIDTH 8192

#define RUBIK_MAX_STRIDE 32

/* Checks a planar cube and records its memory access. Lines are accessed in units of 64 bytes. */
static u32 add_planar(struct nvdla_check *check, const struct nvdla_data_cube *cube, u32 access,
		      u32 precision)
{
	const char *multiple = "the stride is not aligned as this kind of data needs";
	u64 line_bytes = round_up((u64)cube->width * nvdla_bytes_per_element(precision),
				  RUBIK_PLANAR_ALIGNMENT);
	u64 plane_bytes = (u64)cube->height * cube->line_stride;
	const struct nvdla_dim dims[] = {
		{ cube->height, cube->line_stride },
		{ cube->channel, cube->plane_stride },
	};
	struct nvdla_access_request request = nvdla_cube_access(cube, access);

	nvdla_need_cube(check, cube);
	need_multiple(check, cube->line_stride, RUBIK_PLANAR_ALIGNMENT, multiple);
	need_multiple(check, cube->plane_stride, check->variant->atom_bytes, multiple);
	need_range(check, cube->line_stride, line_bytes, U32_MAX, "a line does not fit its stride");
	need(check, cube->channel == 1 || cube->plane_stride >= plane_bytes,
	     cube->plane_stride, plane_bytes, "a plane does not fit its stride");
	if (check->failed)
		return NVDLA_NO_ACCESS;

	request.alignment = RUBIK_PLANAR_ALIGNMENT;
	/* Fits 64 bits: two products of a 16-bit and a 32-bit number, plus the bytes of a line. */
	nvdla_walk_bytes(line_bytes, dims, ARRAY_SIZE(dims), &request.bytes);
	return nvdla_add_access(check, &request);
}

static void check_op(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op,
		     const struct nvdla_data_cube *src, const struct nvdla_data_cube *dst)
{
	const char *size = "the output's size does not follow from the input's";
	bool contracts = op->mode == NVDLA_RUBIK_CONTRACT;
	u32 x = contracts ? op->stride_x : 1;
	u32 y = contracts ? op->stride_y : 1;

	need_range(check, op->mode, 0, NVDLA_RUBIK_MERGE, "no such mode");
	need_precision(check, op->precision);
	if (contracts) {
		need_range(check, op->stride_x, 1, RUBIK_MAX_STRIDE, "strides are 1 to 32");
		need_range(check, op->stride_y, 1, RUBIK_MAX_STRIDE, "strides are 1 to 32");
		need_room(check, x * src->width, RUBIK_MAX_WIDTH, src->width,
			  "the output is wider than 8192");
	}
	need_equal(check, dst->width, x * src->width, size);
	need_equal(check, dst->height, y * src->height, size);
	nvdla_state(check, dst->channel * x * y == src->channel, dst->channel * x * y,
		    src->channel, NVDLA_FIELD(dst->channel), size);
}

static void program(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op,
		    const struct nvdla_data_cube *src, const struct nvdla_data_cube *dst,
		    u32 src_access, u32 dst_access)
{
	put(check, RBK_D_MISC_CFG, RUBIK_MODE, op->mode);
	put(check, RBK_D_MISC_CFG, IN_PRECISION, op->precision);
	emit(check, RBK_D_DAIN_RAM_TYPE, nvdla_ram_type(src->type));
	put_count(check, RBK_D_DATAIN_SIZE_0, DATAIN_WIDTH, src->width);
	put_count(check, RBK_D_DATAIN_SIZE_0, DATAIN_HEIGHT, src->height);
	put_count(check, RBK_D_DATAIN_SIZE_1, DATAIN_CHANNEL, src->channel);
	emit_address(check, RBK_D_DAIN_ADDR, src_access);
	emit(check, RBK_D_DAOUT_RAM_TYPE, nvdla_ram_type(dst->type));
	put_count(check, RBK_D_DATAOUT_SIZE_1, DATAOUT_CHANNEL, dst->channel);
	emit_address(check, RBK_D_DAOUT_ADDR, dst_access);
	emit(check, RBK_D_DAIN_LINE_STRIDE, src->line_stride);
	emit(check, RBK_D_DAOUT_LINE_STRIDE, dst->line_stride);
	if (op->mode == NVDLA_RUBIK_MERGE)
		emit(check, RBK_D_DAIN_PLANAR_STRIDE, src->plane_stride);
	else
		emit(check, RBK_D_DAIN_SURF_STRIDE, src->surf_stride);
	if (op->mode == NVDLA_RUBIK_SPLIT)
		emit(check, RBK_D_DAOUT_PLANAR_STRIDE, dst->plane_stride);
	else
		emit(check, RBK_D_DAOUT_SURF_STRIDE, dst->surf_stride);
	emit_counting(check, RBK_D_PERF_ENABLE, NVDLA_RBK_D_PERF_ENABLE__PERF_EN);
}

static void program_contract(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op,
			     const struct nvdla_data_cube *src, const struct nvdla_data_cube *dst,
			     u32 phase_surfaces)
{
	const char *rule = "the value does not fit its register field";
	u64 phase_stride = (u64)phase_surfaces * src->surf_stride;
	u64 lines_stride = (u64)op->stride_y * dst->line_stride;

	need_room(check, phase_stride, U32_MAX, src->surf_stride, rule);
	need_room(check, lines_stride, U32_MAX, dst->line_stride, rule);
	emit(check, RBK_D_CONTRACT_STRIDE_0, phase_stride);
	emit(check, RBK_D_CONTRACT_STRIDE_1, lines_stride);
	put_count(check, RBK_D_DECONV_STRIDE, DECONV_X_STRIDE, op->stride_x);
	put_count(check, RBK_D_DECONV_STRIDE, DECONV_Y_STRIDE, op->stride_y);
}

void nvdla_check_rubik(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op,
		       const struct nvdla_pair_surface_desc *surface)
{
	const struct nvdla_data_cube *src = &surface->src_data;
	const struct nvdla_data_cube *dst = &surface->dst_data;
	struct nvdla_feature_use use;
	u32 src_access, dst_access;
	u32 phase_surfaces;

	check_op(check, op, src, dst);
	if (check->failed)
		return;

	phase_surfaces = DIV_ROUND_UP(dst->channel * nvdla_bytes_per_element(op->precision),
				      check->variant->atom_bytes);
	if (op->mode == NVDLA_RUBIK_MERGE) {
		src_access = add_planar(check, src, NVDLA_ACCESS_READ, op->precision);
	} else {
		use = nvdla_feature_use(check, src, NVDLA_ACCESS_READ, op->precision);
		/*
		 * Contract reads stride_x * stride_y groups of whole surfaces, one for each place
		 * in an output block, even if its channels do not fill the last atom.
		 */
		if (op->mode == NVDLA_RUBIK_CONTRACT)
			use.surface_multiple = op->stride_x * op->stride_y *
					       max(phase_surfaces, 1U);
		src_access = nvdla_add_feature_use(check, &use);
	}
	if (op->mode == NVDLA_RUBIK_SPLIT)
		dst_access = add_planar(check, dst, NVDLA_ACCESS_WRITE, op->precision);
	else
		dst_access = nvdla_add_feature(check, dst, NVDLA_ACCESS_WRITE, op->precision);

	program(check, op, src, dst, src_access, dst_access);
	if (op->mode == NVDLA_RUBIK_CONTRACT)
		program_contract(check, op, src, dst, phase_surfaces);
}
