/* SPDX-License-Identifier: MIT */
/*
 * Transposed convolutions with phases that the core cannot make: those that read one element of a
 * larger surface, or write one into it. Without anything cut off, and with kernels of whole phases,
 * there are none; a slice does the cutting.
 */
#include "kernel_window.h"
#include "passes.h"

#include <algorithm>

namespace nvdla::compiler
{

namespace
{

/* An axis of a transposed convolution. */
struct UpAxis {
	uint32_t in, kernel, stride, before, out;

	uint32_t taps() const { return (kernel + stride - 1) / stride; }
	uint32_t phases() const { return std::min(stride, out); }
	/* Elements that a phase makes. */
	uint32_t outputs(uint32_t phase) const { return (out - phase + stride - 1) / stride; }
	/* Elements that a phase reads, which are side by side. */
	uint32_t inputs(uint32_t phase) const
	{
		const int64_t first = (int64_t{ phase } + before) / stride;
		const int64_t last = std::min<int64_t>(first + outputs(phase), in);

		return static_cast<uint32_t>(
			std::max<int64_t>(last - std::max<int64_t>(first + 1 - taps(), 0), 0));
	}
	template<typename Test>
	bool anyPhase(Test test) const
	{
		for (uint32_t phase = 0; phase < phases(); phase++) {
			if (test(phase))
				return true;
		}
		return false;
	}
	bool readsOne() const
	{
		return anyPhase([this](uint32_t phase) { return inputs(phase) <= 1; });
	}
	bool makesOne() const
	{
		return anyPhase([this](uint32_t phase) { return outputs(phase) == 1; });
	}
};

bool hasLonePhase(const UpAxis &y, const UpAxis &x)
{
	const bool reads = y.readsOne() && x.readsOne() && (y.in > 1 || x.in > 1);
	const bool narrow = x.out == 1 && (x.stride > 1 || (y.out > 1 && y.makesOne()));
	const bool makes = x.stride > 1 && y.makesOne() && x.makesOne() && x.outputs(0) > 1;

	return reads || narrow || makes;
}

/* Others are refused when they are lowered. */
bool canBeExtended(const Extents &kernels, uint32_t r, uint32_t s)
{
	constexpr uint64_t mostElements = uint64_t{ 1 } << 25;
	constexpr uint32_t mostLines = 1024;

	return r <= mostLines && s <= mostLines &&
	       uint64_t{ kernels[0] } * kernels[1] <= mostElements / (uint64_t{ r } * s);
}

uint32_t wholePhases(const UpAxis &axis)
{
	return axis.taps() * axis.stride;
}

} /* namespace */

void uncutTransposed(Model &model)
{
	for (size_t i = 0; i < model.operators.size(); i++) {
		Operator &operation = model.operators[i];
		auto *conv = std::get_if<TransposedConvolution>(&operation.kind);
		if (!conv)
			continue;
		const Extents in = model.values[operation.inputs[0]].shape;
		const Value kernels = model.values[operation.inputs[1]];
		const ValueId output = operation.outputs.front();
		const Extents out = model.values[output].shape;
		const UpAxis y{ in[1], kernels.shape[2], conv->stride.y, conv->padding.top,
				out[1] };
		const UpAxis x{ in[2], kernels.shape[3], conv->stride.x, conv->padding.left,
				out[2] };
		if (!hasLonePhase(y, x))
			continue;
		const uint32_t r = wholePhases(y);
		const uint32_t s = std::max(wholePhases(x), in[2] == 1 ? 2U : 1U);
		if (!canBeExtended(kernels.shape, r, s))
			continue;
		const Extents uncut{ 1, (in[1] - 1) * y.stride + r, (in[2] - 1) * x.stride + s,
				     out[3] };
		const Slice slice{ { 0, y.before, x.before, 0 }, { 1, 1, 1, 1 } };
		conv->padding = {};
		operation.inputs[1] = model.add(inWindow(kernels, { r, s }));
		operation.outputs.front() = model.addLike(output, " uncut", uncut);
		Operator cut{ operation.name,	 operation.type, slice,
			      operation.outputs, { output },	 operation.index };
		model.operators.insert(model.operators.begin() + static_cast<ptrdiff_t>(i) + 1,
				       std::move(cut));
	}
}

} /* namespace nvdla::compiler */
