/* SPDX-License-Identifier: MIT */
/*
 * Operators that move elements: reshapes, pads, slices and concatenations.
 */
#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "kernels.h"

namespace nvdla::compiler
{

namespace
{

constexpr uint32_t maxPadding = 31; /* before plus behind an axis: at most 32 taps */
constexpr uint32_t maxPoolingStride = 8;

/* The number for channels (inside 0), columns (1) or lines (2); \a usual for missing axes */
uint32_t along(const Extents &numbers, size_t inside, uint32_t usual)
{
	return inside < numbers.size() ? numbers[numbers.size() - 1 - inside] : usual;
}

/* Copies a value to a part of a surface, with the quantization of \a like. */
void copy(Lowerer &lowerer, ValueId from, const PartOf &to, ValueId like, Clamp activation)
{
	const Quantization in = lowerer.quantization(from), out = lowerer.quantization(like);
	const Cube whole = lowerer.cube(from);
	const uint32_t atom = lowerer.core().atomChannels(lowerer.storage(from));
	const bool alone = isAlone(whole, lowerer.cube(like));
	/* The multiplication that converts each 8-bit integer exactly, if there is one. */
	const auto product = lowerer.is8Bits(from) && lowerer.is8Bits(like) && activation.isNone()
				     ? requantization(in, out)
				     : std::nullopt;
	op::Sdp sdp{ .name = {}, .input = {}, .output = {} };
	if (product) {
		sdp.x1 = op::SdpUnit{ .alu = op::Alu::Sum,
				      .multiply = true,
				      .aluOperand = -in.zeroPoint,
				      .mulOperand = product->multiply,
				      .shift = product->shift };
		sdp.converter = { -out.zeroPoint, 1, 0 };
	}

	/* A single position of a larger surface is written atom by atom. */
	for (uint32_t c = 0; c < whole.c; c += alone ? atom : whole.c) {
		const Cube cube{ alone ? std::min(atom, whole.c - c) : whole.c, whole.h, whole.w };
		PartOf target = to;
		target.channel += c;
		Lowerer::Stage stage =
			lowerer.stage("copy", from, lowerer.part(target, cube), like);
		if (cube != whole)
			stage.input = lowerer.part({ stage.input, c }, cube);
		stage.cube = cube;
		if (product) {
			sdp.name = stage.name;
			sdp.input = stage.input;
			sdp.output = stage.output;
			lowerer.add(sdp);
			continue;
		}
		lowerer.affine(stage, { std::vector<double>(cube.c, in.scale / out.scale),
					std::vector<double>(cube.c, -in.zeroPoint),
					{ cube.c, 1, 1 },
					activation });
	}
}

/* Enlarges kernels of 1 x 1 to r x s: their tap is at \a line and \a column, other taps are 0. */
Kernels oneTap(const Kernels &kernels, uint32_t r, uint32_t s, uint32_t line, uint32_t column)
{
	const size_t plane = size_t{ r } * s;
	Kernels wide = kernels;

	wide.r = r;
	wide.s = s;
	wide.elements.assign(kernels.elements.size() * plane, 0);
	for (size_t i = 0; i < kernels.elements.size(); i++)
		wide.elements[i * plane + size_t{ line } * s + column] = kernels.elements[i];
	return wide;
}

} /* namespace */

std::vector<PartOf> partsOf(const Lowerer &lowerer, const Operator &operation,
			    const Concatenation &concatenation)
{
	const Value &output = lowerer.value(operation.outputs.front());
	/* 0: channels, 1: columns, 2: lines */
	const size_t inside = output.shape.size() - 1 - concatenation.axis;
	const bool isBatch = concatenation.axis == 0 && output.batch > 1;
	std::vector<PartOf> parts;
	uint32_t at = 0;

	for (const ValueId input : operation.inputs) {
		parts.push_back(lowerer.placeOf(operation.outputs.front()));
		PartOf &part = parts.back();
		(isBatch       ? part.sample
		 : inside == 0 ? part.channel
		 : inside == 1 ? part.column
			       : part.line) += at;
		at += along(lowerer.value(input).shape, inside, 1);
	}
	return parts;
}

void lower(Lowerer &lowerer, const Operator &operation, const Reshape &)
{
	lowerer.alias(operation.outputs[0], operation.inputs[0]);
}

void lower(Lowerer &lowerer, const Operator &operation, const Concatenation &concatenation)
{
	const ValueId output = operation.outputs.front();

	for (const ValueId input : operation.inputs) {
		lowerer.support(!lowerer.value(input).isConstant, "input",
				"is a constant; pad, or multiply and add instead");
		lowerer.makeNatural(input);
	}
	const std::vector<PartOf> parts = partsOf(lowerer, operation, concatenation);
	/* Parts that are not atom-aligned need kernels for all channels of the output. */
	const uint64_t channels = lowerer.cube(output).c;
	if (!std::ranges::all_of(
		    parts, [&](const PartOf &part) { return lowerer.isAligned(part, output); }))
		lowerer.needRoom(channels * channels);
	for (size_t i = 0; i < parts.size(); i++) {
		const ValueId input = operation.inputs[i];
		if (!lowerer.isPlaced(input))
			copy(lowerer, input, parts[i], output, concatenation.activation);
	}
}

void lower(Lowerer &lowerer, const Operator &operation, const Slice &slice)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];

	if (lowerer.value(input).batch > 1) {
		PartOf sample{ lowerer.surface(input) };
		sample.sample = slice.begin.front();
		lowerer.view(output, sample, lowerer.cube(input));
		return;
	}
	takeSlice(lowerer, operation, slice, {});
}

void takeSlice(Lowerer &lowerer, const Operator &operation, const Slice &slice,
	       const Clamp &activation)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	lowerer.makeNatural(input);
	const Cube in = lowerer.cube(input), out = naturalCube(lowerer.value(output).shape);
	const uint32_t firstC = along(slice.begin, 0, 0), strideC = along(slice.stride, 0, 1);
	const op::Axes stride{ along(slice.stride, 1, 1), along(slice.stride, 2, 1) };
	PartOf at{ lowerer.surface(input), 0, along(slice.begin, 2, 0), along(slice.begin, 1, 0),
		   0 };
	Cube read{ in.c, (out.h - 1) * stride.y + 1, (out.w - 1) * stride.x + 1 };
	/* The core cannot read a single position of a larger surface: read one beside it, too. */
	const bool alone = isAlone(read, in);
	const bool moves =
		!alone && activation.isNone() && stride.x == 1 && stride.y == 1 && strideC == 1;

	lowerer.support(stride.x <= maxPoolingStride && stride.y <= maxPoolingStride, "stride",
			fmt::format("is {} x {}; up to {} are possible", stride.y, stride.x,
				    maxPoolingStride));
	lowerer.support(lowerer.storage(input) == DataType::Half ||
				lowerer.quantization(input) == lowerer.quantization(output),
			"quantization", "of input and output differ");
	const bool isView =
		moves && firstC % lowerer.core().atomChannels(lowerer.storage(input)) == 0;
	lowerer.needRoom(isView ? 0 : uint64_t{ in.c } * out.c);
	if (moves && !lowerer.isPlaced(output)) {
		PartOf part = at;
		part.channel = firstC;
		lowerer.view(output, part, out);
		return;
	}
	std::vector<int64_t> channels;
	for (uint32_t c = 0; c < out.c; c++)
		channels.push_back(int64_t{ firstC } + int64_t{ c } * strideC);
	Kernels kernels = selection(in.c, channels);
	if (alone) {
		const bool isWide = in.w > 1;
		uint32_t &place = isWide ? at.column : at.line;
		const uint32_t last = place + 1 == (isWide ? in.w : in.h);
		kernels = isWide ? oneTap(kernels, 1, 2, 0, last) : oneTap(kernels, 2, 1, last, 0);
		place -= last;
		(isWide ? read.w : read.h) = 2;
	}
	const std::string from = read == in ? at.surface : lowerer.part(at, read);
	convolve(lowerer, kernels,
		 { .input = input,
		   .output = output,
		   .out = out,
		   .stride = stride,
		   .activation = activation,
		   .from = from,
		   .in = read });
}

/* Pads by a convolution with one-tap kernels, whose own padding adds the elements. */
void lower(Lowerer &lowerer, const Operator &operation, const Pad &pad)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	lowerer.makeNatural(input);
	const Cube in = lowerer.cube(input), out = naturalCube(lowerer.value(output).shape);
	const uint32_t left = along(pad.before, 1, 0), right = along(pad.after, 1, 0);
	const uint32_t top = along(pad.before, 2, 0), bottom = along(pad.after, 2, 0);
	const uint32_t front = along(pad.before, 0, 0);

	lowerer.support(left + right <= maxPadding && top + bottom <= maxPadding, "paddings",
			fmt::format("of {} columns and {} lines; {} are possible", left + right,
				    top + bottom, maxPadding));
	lowerer.support(pad.value == 0, "value",
			fmt::format("is {}; only zeros are padded", pad.value));
	lowerer.needRoom(uint64_t{ out.c } * in.c * (top + bottom + 1) * (left + right + 1));
	std::vector<int64_t> channels(out.c, -1);
	std::iota(channels.begin() + front, channels.begin() + front + in.c, 0);
	/* For the output's line `top`, kernel line `bottom` lies over the input's first line. */
	const Kernels wide = oneTap(selection(in.c, channels), top + bottom + 1, left + right + 1,
				    bottom, right);
	convolve(lowerer, wide,
		 { .input = input,
		   .output = output,
		   .out = out,
		   .padding = { left + right, left + right, top + bottom, top + bottom } });
}

} /* namespace nvdla::compiler */
