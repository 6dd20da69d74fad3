/* SPDX-License-Identifier: MIT */
/* Deconvolutions: rules and sizes. */
#include <algorithm>

#include <fmt/core.h>

#include "conv_layer.h"
#include "deconv_phase.h"

namespace nvdla::assembly
{

DeconvPhase deconvPhase(const DeconvAxis &axis, uint32_t number)
{
	/*
	 * Number t of the outputs that a set of kernels computes, counted before axis.before
	 * elements are cut off, needs the inputs t - (axis.kernel - 1) to t.
	 */
	const uint32_t first = (number + axis.before) / axis.stride;
	const uint32_t reach = axis.kernel - 1;
	DeconvPhase phase{ .set = (number + axis.before) % axis.stride };

	if (number >= axis.out)
		return phase;
	phase.outputs = std::max(divideUp(axis.out - number, axis.stride),
				 std::min(axis.room, axis.in + reach - first));
	const uint32_t last = first + phase.outputs - 1;
	phase.firstInput = first > reach ? first - reach : 0;
	phase.before = first > reach ? 0 : reach - first;
	phase.inputs = std::min(last, axis.in - 1) - phase.firstInput + 1;
	phase.after = last < axis.in ? 0 : last - (axis.in - 1);
	return phase;
}

std::optional<DeconvLayer> deconvLayer(Lowering &lowering, const op::Deconvolution &op)
{
	const SurfaceState &in = lowering.input("input", op.input);
	const auto weights = lowering.symbols().weights.find(op.weights);
	auto size = [](uint32_t inputs, uint32_t stride, uint32_t kernel, uint32_t cut) {
		const uint32_t full = (inputs - 1) * stride + kernel;
		return full > cut ? full - cut : 0;
	};

	lowering.need(weights != lowering.symbols().weights.end(), "weights",
		      fmt::format("the graph has no weights '{}'", op.weights));
	if (lowering.failed())
		return {};
	const GraphWeights &given = *weights->second;
	const TensorDesc &desc = in.desc;
	checkElements(lowering, given);
	lowering.need(given.packed.empty(), "weights",
		      fmt::format("'{}' are packed for a convolution", op.weights));
	lowering.need(!in.planar && isFeature(desc.format), "input",
		      fmt::format("'{}' is no feature surface", op.input));
	lowering.need(
		op.stride.x >= 1 && op.stride.x <= 32 && op.stride.y >= 1 && op.stride.y <= 32,
		"stride", fmt::format("{} x {}; 1 to 32 are possible", op.stride.x, op.stride.y));
	lowering.need(given.c == desc.c, "weights",
		      fmt::format("'{}' have {} channels, '{}' has {}", op.weights, given.c,
				  op.input, desc.c));
	lowering.need(given.elements.type == desc.type, "weights",
		      fmt::format("'{}' are {}, '{}' is {}", op.weights,
				  dataTypeName(given.elements.type), op.input,
				  dataTypeName(desc.type)));
	if (lowering.failed())
		return {};
	const op::Padding &cut = op.padding;
	const Shape out{ given.k, size(desc.h, op.stride.y, given.r, cut.top + cut.bottom),
			 size(desc.w, op.stride.x, given.s, cut.left + cut.right), desc.n };
	lowering.need(out.h && out.w, "padding", "cuts off all of the output");
	if (lowering.failed())
		return {};
	return DeconvLayer{ given, desc, out };
}

} /* namespace nvdla::assembly */
