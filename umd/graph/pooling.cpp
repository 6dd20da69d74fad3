/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/core.h>

#include "lowering.h"

namespace nvdla::assembly
{

namespace
{

/* Bits that the sum of an unfinished window takes in PDP's line buffer (programming guide,
 * "calculate_pdp_max_width"). */
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

/* Output columns that fit the line buffer, in which PDP keeps unfinished windows. */
uint32_t widestPart(const Lowering &lowering, const op::Pooling &op, DataType type)
{
	const uint32_t lines = std::bit_ceil(divideUp(op.kernel.y, op.stride.y));
	const uint32_t bits = type == DataType::Int8 ? sumBitsInt8 : sumBits;

	return lowering.geometry().poolingLineBytes * 8 /
	       (lines * lowering.geometry().atomChannels(type) * bits);
}

/* Division of the output into vertical strips. */
struct Strips {
	uint32_t count;
	int64_t first;	/* output columns of the first strip */
	int64_t middle; /* output columns of each strip between the first and the last */
	int64_t last;

	/* Input columns that the first strip fetches; PDP keeps what the next strip needs. */
	int64_t firstIn(const op::Pooling &op) const
	{
		return (first - 1) * op.stride.x + op.kernel.x - op.padding.left;
	}
	int64_t middleIn(const op::Pooling &op) const { return middle * op.stride.x; }
	int64_t lastIn(const op::Pooling &op) const
	{
		return last * op.stride.x - op.padding.right;
	}
};

/* Whether each strip fits the line buffer and fetches enough input columns: at least those that the
 * windows beside a border of strips share, or one more than those that they leave out. */
bool arePossible(const Strips &strips, const op::Pooling &op, int64_t widest)
{
	const int64_t shared = int64_t{ op.kernel.x } - op.stride.x;
	const int64_t least = shared >= 0 ? std::max<int64_t>(shared, 1) : 1 - shared;
	const bool hasMiddle = strips.count > 2;
	const auto fits = [&](int64_t columns) { return columns >= 1 && columns <= widest; };

	return fits(strips.first) && fits(strips.last) &&
	       strips.firstIn(op) >= (hasMiddle || shared >= 0 ? least : 1) &&
	       strips.lastIn(op) >= (hasMiddle || shared < 0 ? least : 1) &&
	       (!hasMiddle || (fits(strips.middle) && strips.middleIn(op) >= least));
}

/*
 * Returns as few strips as the line buffer allows, or as many as the operation asks for. Strips are
 * equally wide and the last one narrower, unless padding leaves too few input columns to the last.
 */
std::optional<Strips> stripsOf(const op::Pooling &op, uint32_t columns, uint32_t fewest,
			       uint32_t widest)
{
	constexpr uint32_t most = 64;

	for (uint32_t count = fewest; count <= most; count++) {
		const int64_t width = divideUp(columns, count), others = int64_t{ count } - 2;
		Strips strips{ count, width, width, columns - (others + 1) * width };
		if (arePossible(strips, op, widest))
			return strips;
		for (strips.middle = width; strips.middle > 0; strips.middle--) {
			for (strips.last = widest; strips.last > 0; strips.last--) {
				strips.first = columns - others * strips.middle - strips.last;
				if (arePossible(strips, op, widest))
					return strips;
			}
		}
		if (op.parts)
			break;
	}
	return std::nullopt;
}

void split(Lowering &lowering, const op::Pooling &op, const TensorDesc &out, nvdla_pdp_op_desc &pdp)
{
	const uint32_t widest = widestPart(lowering, op, out.type);
	const uint32_t fewest = op.parts ? op.parts : divideUp(out.w, widest);

	pdp.split_num = 1;
	if (fewest == 1 && out.w <= widest)
		return;
	const auto strips = fewest > 1 ? stripsOf(op, out.w, fewest, widest) : std::nullopt;
	if (!lowering.need(strips.has_value(), "parts",
			   fmt::format("{} are impossible: of {} columns, the line buffer holds {}",
				       fewest, out.w, widest)))
		return;
	const bool hasMiddle = strips->count > 2;
	pdp.split_num = static_cast<__u8>(strips->count);
	pdp.partial_width_first = static_cast<__u16>(strips->first);
	pdp.partial_width_mid = hasMiddle ? static_cast<__u16>(strips->middle) : 0;
	pdp.partial_width_last = static_cast<__u16>(strips->last);
	pdp.partial_in_width_first = static_cast<__u16>(strips->firstIn(op));
	pdp.partial_in_width_mid = hasMiddle ? static_cast<__u16>(strips->middleIn(op)) : 0;
	pdp.partial_in_width_last = static_cast<__u16>(strips->lastIn(op));
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
	/* Entry n is the sum of n + 1 elements of padding, for rows with so many of them. */
	for (int32_t n = 0; n < 7; n++)
		pdp.padding_value[n] = (n + 1) * op.padValue;
	split(lowering, op, out.desc, pdp);
	lowering.node.surface.pdp.src_data = lowering.read("src_data", in);
	lowering.node.surface.pdp.dst_data = lowering.write("dst_data", out);
}

} /* namespace nvdla::assembly */
