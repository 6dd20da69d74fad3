/* SPDX-License-Identifier: MIT */
/*
 * Functions over all channels, and transposes: most are CPU steps of the same network.
 */
#include <algorithm>

#include <fmt/core.h>

#include "kernels.h"

namespace nvdla::compiler
{

namespace
{

/* The values that a function of channels works on, and how their integers are to be read. */
void overChannels(Lowerer &lowerer, const Operator &operation, op::OverChannels step)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	const Extents &shape = lowerer.value(input).shape;
	const Quantization in = lowerer.quantization(input), out = lowerer.quantization(output);

	if (!shape.empty() && lowerer.cube(input).c != shape.back())
		lowerer.makeNatural(input);
	Cube cube = lowerer.cube(input);
	if (step.function == OverChannels::Function::ArgMax ||
	    step.function == OverChannels::Function::Largest ||
	    step.function == OverChannels::Function::Smallest)
		cube.c = 1;
	lowerer.setCube(output, cube);
	lowerer.onCpu("the core computes no function of all channels");
	step.name = lowerer.step("over channels");
	step.input = lowerer.surface(input);
	step.inScale = static_cast<float>(in.scale);
	step.inZero = in.zeroPoint;
	step.outScale = static_cast<float>(out.scale);
	step.outZero = out.zeroPoint;
	step.type = lowerer.storage(output);
	step.output = lowerer.write(output);
	lowerer.add(step);
}

} /* namespace */

void lower(Lowerer &lowerer, const Operator &operation, const OverChannels &over)
{
	using Function = OverChannels::Function;
	const bool twice = over.function == Function::Normalize &&
			   lowerer.roundsTwice(operation.inputs[0]) &&
			   lowerer.is8Bits(operation.outputs[0]);

	overChannels(lowerer, operation,
		     { .function = twice ? Function::NormalizeTwice : over.function,
		       .window = over.window,
		       .power = static_cast<float>(over.power),
		       .scale = static_cast<float>(over.scale),
		       .shift = static_cast<float>(over.shift) });
}

void lower(Lowerer &lowerer, const Operator &operation, const Softmax &softmax)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	const Extents &shape = lowerer.value(input).shape;
	const Quantization in = lowerer.quantization(input), out = lowerer.quantization(output);

	lowerer.need(lowerer.storage(input) != DataType::Half || softmax.beta == 1, "beta",
		     "is not 1, with float");
	if (softmax.isLogarithm) {
		overChannels(lowerer, operation,
			     { .function = OverChannels::Function::LogSoftmax });
		return;
	}
	if (lowerer.cube(input).c != (shape.empty() ? 1 : shape.back()))
		lowerer.makeNatural(input);
	lowerer.setCube(output, lowerer.cube(input));
	lowerer.onCpu("the core has no exponential and no sum over channels");
	const std::string result = lowerer.write(output);
	lowerer.add(op::Softmax{ .name = lowerer.step("softmax"),
				 .input = lowerer.surface(input),
				 .output = result,
				 .inScale = static_cast<float>(in.scale * softmax.beta),
				 .outScale = static_cast<float>(out.scale),
				 .outZero = out.zeroPoint,
				 .type = lowerer.storage(output) });
}

/* Maximum and minimum run on the CPU; a sum is a convolution with a kernel of ones. */
void lower(Lowerer &lowerer, const Operator &operation, const ChannelReduction &reduction)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];

	if (isExtreme(reduction.method)) {
		overChannels(lowerer, operation,
			     { .function = reduction.method == Pool::Method::Max
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

/* Drop axes of one element, and merge axes that stay adjacent. */
void lower(Lowerer &lowerer, const Operator &operation, const Transpose &transpose)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	std::vector<std::vector<uint32_t>> groups;
	AxisOrder axes;

	for (const uint32_t axis : transpose.order) {
		if (transpose.extents[axis] == 1)
			continue;
		uint32_t before = axis;
		while (before > 0 && transpose.extents[before - 1] == 1)
			before--;
		if (!groups.empty() && before > 0 && groups.back().back() == before - 1)
			groups.back().push_back(axis);
		else
			groups.push_back({ axis });
	}
	lowerer.need(groups.size() <= AxisOrder::most, "perm",
		     fmt::format("moves {} axes; {} are possible", groups.size(), AxisOrder::most));
	lowerer.need(lowerer.storage(input) == lowerer.storage(output) &&
			     lowerer.quantization(input) == lowerer.quantization(output),
		     "quantization", "of input and output differ");
	std::vector<size_t> sorted(groups.size());
	for (size_t i = 0; i < groups.size(); i++)
		sorted[i] = i;
	std::sort(sorted.begin(), sorted.end(),
		  [&](size_t a, size_t b) { return groups[a].front() < groups[b].front(); });
	for (size_t i = 0; i < groups.size(); i++) {
		uint32_t extent = 1;
		for (const uint32_t axis : groups[sorted[i]])
			extent *= transpose.extents[axis];
		lowerer.need(extent <= UINT16_MAX, "perm",
			     fmt::format("moves an axis of {} elements", extent));
		axes.extents[i] = static_cast<uint16_t>(extent);
		axes.order[sorted[i]] = static_cast<uint8_t>(i);
	}
	if (std::is_sorted(axes.order.begin(),
			   axes.order.begin() + static_cast<ptrdiff_t>(groups.size())))
		axes = {};
	Cube cube = naturalCube(lowerer.value(output).shape);
	/* With more than three axes only the order of the elements counts: a reshape follows. */
	cube.h = static_cast<uint32_t>(elementCount(lowerer.value(output).shape) / cube.c / cube.w);
	lowerer.need(cube.h <= mostOfSurface, "output",
		     fmt::format("has {} lines; {} are possible", cube.h, mostOfSurface));
	lowerer.setCube(output, cube);
	lowerer.onCpu("the core cannot move elements between channels, lines and columns");
	const std::string name = lowerer.step("transpose");
	const std::string from = lowerer.surface(input);
	lowerer.add(op::Reshape{
		.name = name, .input = from, .output = lowerer.write(output), .axes = axes });
}

} /* namespace nvdla::compiler */
