/* SPDX-License-Identifier: MIT */
#include <bit>

#include <fmt/core.h>

#include "lowering.h"

namespace nvdla::assembly
{

namespace
{

/* Bits of a sum in the line buffer (programming guide, "calculate_pdp_max_width"). */
constexpr uint32_t sumBitsInt8 = 14;
constexpr uint32_t sumBits = 28;

struct Axis {
	const char *name;
	uint32_t in;
	uint32_t before;
	uint32_t after;
	uint32_t kernel;
	uint32_t stride;
};

uint32_t outputSize(Lowering &lowering, const Axis &axis)
{
	const uint32_t padded = axis.before + axis.in + axis.after;

	lowering.need(axis.kernel >= 1 && axis.kernel <= 8, "kernel",
		      fmt::format("is {} in {}; 1 to 8 are possible", axis.kernel, axis.name));
	lowering.need(axis.stride >= 1 && axis.stride <= 16, "stride",
		      fmt::format("is {} in {}; 1 to 16 are possible", axis.stride, axis.name));
	lowering.need(axis.before < axis.kernel && axis.after < axis.kernel, "padding",
		      fmt::format("{} and {} are not less than the kernel, {} in {}", axis.before,
				  axis.after, axis.kernel, axis.name));
	if (lowering.failed())
		return 0;
	if (!lowering.need(
		    padded >= axis.kernel && (padded - axis.kernel) % axis.stride == 0, "padding",
		    fmt::format("windows of {} with stride {} do not use {} + {} + {} elements "
				"exactly in {}; change the padding",
				axis.kernel, axis.stride, axis.before, axis.in, axis.after,
				axis.name)))
		return 0;
	return (padded - axis.kernel) / axis.stride + 1;
}

/* Output columns that the buffer for unfinished windows holds. */
uint32_t widestPart(const Lowering &lowering, const op::Pooling &op, DataType type)
{
	const uint32_t lines = std::bit_ceil(divideUp(op.kernel.y, op.stride.y));
	const uint32_t bits = type == DataType::Int8 ? sumBitsInt8 : sumBits;

	return lowering.geometry().poolingLineBytes * 8 /
	       (lines * lowering.geometry().atomChannels(type) * bits);
}

/* Divides the output into vertical strips of equal width; the last one may be narrower. */
void split(Lowering &lowering, const op::Pooling &op, const TensorDesc &out, nvdla_pdp_op_desc &pdp)
{
	const uint32_t widest = widestPart(lowering, op, out.type);
	uint32_t parts = op.parts ? op.parts : divideUp(out.w, widest);
	if (!lowering.need(parts <= 64 && parts <= out.w, "parts",
			   fmt::format("{} parts of {} columns", parts, out.w)))
		return;
	const uint32_t part = divideUp(out.w, parts);
	parts = divideUp(out.w, part);

	pdp.split_num = static_cast<__u8>(parts);
	if (!lowering.need(
		    part <= widest, "parts",
		    fmt::format("{} columns in a part, the line buffer holds {}", part, widest)) ||
	    parts == 1)
		return;
	const uint32_t last = out.w - (parts - 1) * part;
	const int64_t firstIn = int64_t{ part - 1 } * op.stride.x + op.kernel.x - op.padding.left;
	const int64_t lastIn = int64_t{ last } * op.stride.x - op.padding.right;
	lowering.need(firstIn >= 1 && lastIn >= 1, "parts",
		      "one of the parts would be made of padding alone");
	pdp.partial_width_first = static_cast<__u16>(part);
	pdp.partial_width_mid = parts > 2 ? static_cast<__u16>(part) : 0;
	pdp.partial_width_last = static_cast<__u16>(last);
	pdp.partial_in_width_first = static_cast<__u16>(firstIn);
	pdp.partial_in_width_mid = parts > 2 ? static_cast<__u16>(part * op.stride.x) : 0;
	pdp.partial_in_width_last = static_cast<__u16>(lastIn);
}

uint8_t poolMode(op::Pool method)
{
	switch (method) {
	case op::Pool::Average:
		return NVDLA_POOL_AVG;
	case op::Pool::Max:
		return NVDLA_POOL_MAX;
	case op::Pool::Min:
		break;
	}
	return NVDLA_POOL_MIN;
}

} /* namespace */

bool poolsOnTheFly(const Lowering &lowering, const op::Pooling &op, const TensorDesc &stream)
{
	const uint32_t padded = op.padding.left + stream.w + op.padding.right;

	/* Errors of the operation are reported when it is lowered. */
	if (!op.stride.x || !op.stride.y || padded < op.kernel.x)
		return true;
	return op.parts <= 1 && stream.n == 1 &&
	       (padded - op.kernel.x) / op.stride.x + 1 <= widestPart(lowering, op, stream.type);
}

void lower(Lowering &lowering, const op::Pooling &op)
{
	SurfaceState &in = lowering.input("input", op.input);
	if (lowering.failed())
		return;
	lowering.need(!in.planar && isFeature(in.desc.format) && in.desc.n == 1, "input",
		      fmt::format("'{}' is no single feature surface", op.input));
	lowering.need(op.padValue == 0 || in.desc.type != DataType::Half, "padValue",
		      "is zero with FP16");
	const uint32_t w = outputSize(lowering, { "x", in.desc.w, op.padding.left, op.padding.right,
						  op.kernel.x, op.stride.x });
	const uint32_t h = outputSize(lowering, { "y", in.desc.h, op.padding.top, op.padding.bottom,
						  op.kernel.y, op.stride.y });
	if (lowering.failed())
		return;
	SurfaceState &out = lowering.output(op.output, in.desc.type, { in.desc.c, h, w, 1 });
	if (lowering.failed())
		return;

	nvdla_pdp_op_desc &pdp = lowering.node.operation.pdp;
	pdp.pool_mode = poolMode(op.method);
	pdp.pool_width = static_cast<__u8>(op.kernel.x - 1);
	pdp.pool_height = static_cast<__u8>(op.kernel.y - 1);
	pdp.stride_x = static_cast<__u8>(op.stride.x);
	pdp.stride_y = static_cast<__u8>(op.stride.y);
	pdp.pad_left = static_cast<__u8>(op.padding.left);
	pdp.pad_right = static_cast<__u8>(op.padding.right);
	pdp.pad_top = static_cast<__u8>(op.padding.top);
	pdp.pad_bottom = static_cast<__u8>(op.padding.bottom);
	pdp.precision = lowering.precision(in.desc.type, "input");
	lowering.node.operation.extended.nan_to_zero = op.nanToZero;
	/* Entry n is the sum of n + 1 padded columns of a row. */
	for (int32_t n = 0; n < 7; n++)
		pdp.padding_value[n] = (n + 1) * op.padValue;
	split(lowering, op, out.desc, pdp);
	lowering.node.surface.pdp.src_data = lowering.read("src_data", in);
	lowering.node.surface.pdp.dst_data = lowering.write("dst_data", out);
}

} /* namespace nvdla::assembly */
