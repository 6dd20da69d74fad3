// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory accesses of convolutions. The other rules are in nvdla_conv_rules.c, the program is in
 * nvdla_conv_program.c.
 */

#include "nvdla_conv.h"

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"

#define INT8 NVDLA_PRECISION_INT8
#define INT16 NVDLA_PRECISION_INT16
#define FP16 NVDLA_PRECISION_FP16

/* Indexed by enum nvdla_data_format, in which similar formats have successive values. */
static const struct nvdla_pixel_format pixel_formats[] = {
	[0] = { INT8, 1, 1, 0 },		/* R8 */
	[1 ... 4] = { INT16, 1, 2, 0 },		/* R10, R12, R16, R16_I */
	[5] = { FP16, 1, 2, 0 },		/* R16_F */
	[6 ... 7] = { INT16, 4, 8, 0 },		/* A16B16G16R16, X16B16G16R16 */
	[8] = { FP16, 4, 8, 0 },		/* A16B16G16R16_F */
	[9 ... 10] = { INT16, 4, 8, 0 },	/* A16Y16U16V16, V16U16Y16A16 */
	[11] = { FP16, 4, 8, 0 },		/* A16Y16U16V16_F */
	[12 ... 19] = { INT8, 4, 4, 0 },	/* A8B8G8R8 to R8G8B8X8 */
	[20 ... 25] = { INT16, 4, 4, 0 },	/* A2B10G10R10 to V10U10Y10A2 */
	[26 ... 27] = { INT8, 4, 4, 0 },	/* A8Y8U8V8, V8U8Y8A8 */
	[28 ... 29] = { INT8, 3, 1, 2 },	/* Y8___U8V8_N444, Y8___V8U8_N444 */
	[30 ... 35] = { INT16, 3, 2, 4 },	/* Y10___U10V10_N444 to Y16___V16U16_N444 */
};

static_assert(ARRAY_SIZE(pixel_formats) == NVDLA_FORMAT_LAST_PIXEL + 1);

/* Properties of a pixel format, NVDLA_FORMAT_FIRST_PIXEL to NVDLA_FORMAT_LAST_PIXEL. */
const struct nvdla_pixel_format *nvdla_pixel_format(u32 format)
{
	return &pixel_formats[format];
}

/*
 * Records the access to one plane of a pitch linear image. CDMA reads lines in whole atoms (units
 * of atom_bytes), so the plane's address is that of the atom that contains the first pixel.
 */
static u32 add_plane(struct nvdla_check *check, const struct nvdla_data_cube *src, u64 offset,
		     const u32 *line_stride, u32 pixel_bytes, u32 pixel_x_offset)
{
	u32 atom = check->variant->atom_bytes;
	u64 skipped = pixel_x_offset * pixel_bytes % atom;
	u64 line_bytes = round_up(skipped + (u64)src->width * pixel_bytes, (u64)atom);
	const struct nvdla_dim dim = { src->height, *line_stride };
	struct nvdla_access_request request = nvdla_cube_access(src, NVDLA_ACCESS_READ);

	nvdla_need_cube(check, src);
	need_multiple(check, *line_stride, atom,
		      "the stride is not aligned as this kind of data needs");
	need_range(check, *line_stride, line_bytes, U32_MAX, "a line does not fit its stride");
	if (check->failed)
		return NVDLA_NO_ACCESS;

	request.offset = offset;
	request.alignment = atom;
	/* Fits 64 bits: a product of a 16-bit and a 32-bit number, plus the bytes of a line. */
	nvdla_walk_bytes(line_bytes, &dim, 1, &request.bytes);
	return nvdla_add_access(check, &request);
}

static void add_image(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
		      const struct nvdla_conv_surface_desc *surface, struct nvdla_conv_plan *plan)
{
	const struct nvdla_pixel_format *format = nvdla_pixel_format(op->data_format);
	const struct nvdla_data_cube *src = &surface->src_data;
	s64 uv_offset;

	plan->src_access = add_plane(check, src, src->offset, &src->line_stride, format->bytes,
				     plan->pixel_x_offset);
	if (!format->uv_bytes)
		return;

	if (nvdla_state(check, !check_add_overflow(surface->offset_u, (s64)src->offset,
						   &uv_offset) && uv_offset >= 0,
			surface->offset_u, src->offset, NVDLA_FIELD(surface->offset_u),
			"the size of the cube overflows"))
		plan->uv_access = add_plane(check, src, uv_offset, &surface->in_line_uv_stride,
					    format->uv_bytes, plan->pixel_x_offset);
}

static void add_source(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
		       const struct nvdla_conv_surface_desc *surface,
		       struct nvdla_conv_plan *plan)
{
	struct nvdla_feature_use use = nvdla_feature_use(check, &surface->src_data,
							 NVDLA_ACCESS_READ, op->in_precision);

	use.batches = op->batch;
	use.batch_stride = op->batch_stride;
	if (op->batch > 1)
		need_multiple(check, op->batch_stride, use.atom_bytes,
			      "the stride is not aligned as this kind of data needs");
	plan->src_access = nvdla_add_feature_use(check, &use);
}

static u32 add_weights(struct nvdla_check *check, const struct nvdla_data_cube *cube,
		       const struct nvdla_data_cube *weights, u64 bytes)
{
	struct nvdla_access_request request = nvdla_cube_access(cube, NVDLA_ACCESS_READ);

	need_equal(check, cube->type, weights->type,
		   "weights, their mask and group sizes lie in the same kind of memory");
	request.bytes = bytes;
	request.alignment = check->variant->weight_alignment;
	return nvdla_add_access(check, &request);
}

static void add_kernels(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			const struct nvdla_conv_surface_desc *surface,
			struct nvdla_conv_plan *plan)
{
	const struct nvdla_data_cube *weights = &surface->weight_data;
	u32 groups = DIV_ROUND_UP(surface->dst_data.channel,
				  nvdla_group_kernels(check->variant, op));
	u64 wgs_bytes = round_up((u64)groups * sizeof(u32), (u64)check->variant->atom_bytes);

	plan->weight_access = add_weights(check, weights, weights, weights->size);
	if (!plan->compressed)
		return;
	plan->wmb_access = add_weights(check, &surface->wmb_data, weights,
				       surface->wmb_data.size);
	plan->wgs_access = add_weights(check, &surface->wgs_data, weights, wgs_bytes);
}

void nvdla_check_conv(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
		      const struct nvdla_conv_surface_desc *surface)
{
	const u8 *pixel_x_offset =
		&check->source->operations[check->operation].extended.pixel_x_offset;
	struct nvdla_conv_plan plan = {
		.image = op->data_format < NVDLA_FORMAT_FEATURE,
		.winograd = op->conv_mode == NVDLA_CONV_MODE_WINOGRAD,
		.compressed = op->weight_format == NVDLA_WEIGHT_COMPRESSED,
		.pixel_x_offset = *pixel_x_offset,
		.uv_access = NVDLA_NO_ACCESS,
		.wmb_access = NVDLA_NO_ACCESS,
		.wgs_access = NVDLA_NO_ACCESS,
	};
	u32 limit = 0;

	nvdla_check_conv_op(check, op, surface, &plan);
	if (check->failed)
		return;
	/* Only images may skip pixels at the start of a line: fewer than fit into an atom. */
	if (plan.image)
		limit = check->variant->atom_bytes / nvdla_pixel_format(op->data_format)->bytes - 1;
	need_range(check, *pixel_x_offset, 0, limit,
		   "the first pixel of an image is in the atom that its address names");
	if (check->failed)
		return;

	if (plan.image)
		add_image(check, op, surface, &plan);
	else
		add_source(check, op, surface, &plan);
	add_kernels(check, op, surface, &plan);
	if (check->failed)
		return;

	check->current_op->flying_out = true;
	nvdla_program_conv(check, op, surface, &plan);
}
