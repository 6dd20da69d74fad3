/* SPDX-License-Identifier: MIT */
/*
 * Functions over all channels, and transposes: most are CPU steps of the same network.
 */
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "kernels.h"

namespace nvdla::compiler
{

namespace
{

/* Sets the surfaces, scales and types of a CPU step that works on all channels, and adds it. */
template<typename Step>
void addOverChannels(Lowerer &lowerer, const Operator &operation, Step step)
{
	constexpr bool isSoftmax = std::is_same_v<Step, op::Softmax>;
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	const Extents &shape = lowerer.value(input).shape;
	const Quantization in = lowerer.quantization(input), out = lowerer.quantization(output);

	if (!shape.empty() && lowerer.cube(input).c != shape.back())
		lowerer.makeNatural(input);
	Cube cube = lowerer.cube(input);
	cube.c = static_cast<uint32_t>(elementCount(lowerer.value(output).cubeShape()) / cube.h /
				       cube.w);
	lowerer.onCpu(isSoftmax ? "the core has no exponential and no sum over channels"
				: "the core computes no function of all channels");
	step.name = lowerer.step(isSoftmax ? "softmax" : "over channels");
	step.input = lowerer.surface(input);
	step.inScale = static_cast<float>(step.inScale * in.scale);
	if constexpr (!isSoftmax)
		step.inZero = in.zeroPoint;
	step.outScale = static_cast<float>(out.scale);
	step.outZero = out.zeroPoint;
	step.type = lowerer.storage(output);
	step.output = lowerer.write(output, cube);
	lowerer.add(step);
}

} /* namespace */

void lower(Lowerer &lowerer, const Operator &operation, const OverChannels &over)
{
	using Function = OverChannels::Function;
	const bool twice = over.function == Function::Normalize &&
			   lowerer.roundsTwice(operation.inputs[0]) &&
			   lowerer.is8Bits(operation.outputs[0]);

	addOverChannels(
		lowerer, operation,
		op::OverChannels{ .function = twice ? Function::NormalizeTwice : over.function,
				  .window = over.window,
				  .power = static_cast<float>(over.power),
				  .scale = static_cast<float>(over.scale),
				  .shift = static_cast<float>(over.shift) });
}

void lower(Lowerer &lowerer, const Operator &operation, const Softmax &softmax)
{
	lowerer.support(lowerer.storage(operation.inputs[0]) != DataType::Half || softmax.beta == 1,
			"beta", "is not 1, with float");
	if (softmax.isLogarithm)
		addOverChannels(lowerer, operation,
				op::OverChannels{ .function = OverChannels::Function::LogSoftmax });
	else
		addOverChannels(lowerer, operation,
				op::Softmax{ .inScale = static_cast<float>(softmax.beta) });
}

/* Maximum and minimum run on the CPU; sums and averages are convolutions with a kernel of ones. */
void lower(Lowerer &lowerer, const Operator &operation, const ChannelReduction &reduction)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];

	if (isExtreme(reduction.method)) {
		addOverChannels(
			lowerer, operation,
			op::OverChannels{ .function = reduction.method == Pool::Method::Max
							      ? OverChannels::Function::Largest
							      : OverChannels::Function::Smallest });
		return;
	}
	if (lowerer.cube(input).c != lowerer.value(input).shape.back())
		lowerer.makeNatural(input);
	const Cube in = lowerer.cube(input);
	const bool divides = reduction.method == Pool::Method::Average;
	convolve(lowerer, uniformKernels({ 1, in.c, 1, 1 }, 1),
		 { .input = input,
		   .output = output,
		   .out = { 1, in.h, in.w },
		   .factors = { divides ? 1.0 / in.c : 1.0 },
		   .firstBits = sumBits(lowerer, input, output, divides ? in.c : 0) });
}

/* Axes of one element are left out, and axes that stay side by side are merged into one. */
void lower(Lowerer &lowerer, const Operator &operation, const Transpose &transpose)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	std::vector<uint64_t> extents(transpose.extents.begin(), transpose.extents.end());
	std::vector<uint32_t> order; /* the last axis of each group of merged axes */
	AxisOrder axes;

	for (const uint32_t axis : transpose.order) {
		if (transpose.extents[axis] == 1)
			continue;
		const uint32_t last = order.empty() ? axis : order.back();
		if (last < axis && std::all_of(extents.begin() + last + 1, extents.begin() + axis,
					       [](uint64_t extent) { return extent == 1; })) {
			extents[axis] *= std::exchange(extents[last], 1);
			order.pop_back();
		}
		order.push_back(axis);
	}
	lowerer.support(
		order.size() <= AxisOrder::most, "perm",
		fmt::format("moves {} axes; {} are possible", order.size(), AxisOrder::most));
	lowerer.support(lowerer.storage(input) == lowerer.storage(output) &&
				lowerer.quantization(input) == lowerer.quantization(output),
			"quantization", "of input and output differ");
	uint8_t at = 0;
	for (uint32_t axis = 0; axis < extents.size(); axis++) {
		if (extents[axis] == 1)
			continue;
		lowerer.support(extents[axis] <= UINT16_MAX, "perm",
				fmt::format("moves an axis of {} elements", extents[axis]));
		axes.extents[at] = static_cast<uint16_t>(extents[axis]);
		axes.order[static_cast<size_t>(std::ranges::find(order, axis) - order.begin())] =
			at++;
	}
	if (order.size() < 2)
		axes = {};
	Cube cube = naturalCube(lowerer.value(output).shape);
	/* All axes before the last two become lines. A result of more than three axes can only be
	 * read by operators that ignore axes, such as a reshape. */
	cube.h = static_cast<uint32_t>(elementCount(lowerer.value(output).shape) / cube.c / cube.w);
	lowerer.support(cube.h <= mostOfSurface, "output",
			fmt::format("has {} lines; {} are possible", cube.h, mostOfSurface));
	lowerer.onCpu("the core cannot move elements between channels, lines and columns");
	const std::string name = lowerer.step("transpose");
	const std::string from = lowerer.surface(input);
	lowerer.add(op::Reshape{
		.name = name, .input = from, .output = lowerer.write(output, cube), .axes = axes });
}

} /* namespace nvdla::compiler */
