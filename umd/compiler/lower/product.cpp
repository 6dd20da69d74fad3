/* SPDX-License-Identifier: MIT */
/*
 * Products of two computed tensors: a step of the CPU packs the second one as the kernels of a
 * convolution.
 */
#include <algorithm>

#include <fmt/core.h>

#include "kernels.h"

namespace nvdla::compiler
{

namespace
{

/* The shape of the part of a surface that has one of several matrices; partOf() names the part. */
Cube cubeOf(const Matrices &matrices)
{
	return matrices.areBeside ? Cube{ matrices.columns, matrices.rows, 1 }
				  : Cube{ matrices.columns, 1, matrices.rows };
}

std::string partOf(Lowerer &lowerer, const std::string &surface, const Matrices &matrices,
		   uint32_t number)
{
	PartOf part{ surface };

	if (matrices.count == 1)
		return surface;
	(matrices.areBeside ? part.column : part.line) = number;
	return lowerer.part(part, cubeOf(matrices));
}

/* Kernels that a CPU step packs: size, scale, bias and, as element, the largest possible sum. */
Kernels kernelsOf(Lowerer &lowerer, const Operator &operation, uint32_t count, uint32_t channels,
		  const op::Axes &taps)
{
	const ValueId b = operation.inputs[1];
	const Quantization quantization = lowerer.quantization(b);
	Kernels kernels = uniformKernels({ count, 1, taps.y, taps.x }, 0);

	if (lowerer.storage(b) != DataType::Half) {
		const IntegerLimits limits = integerLimits(lowerer.range(b));
		const int64_t largest = std::max(limits.highest - quantization.zeroPoint,
						 quantization.zeroPoint - limits.lowest);
		for (uint32_t k = 0; k < count; k++)
			kernels.one(k).front() = static_cast<float>(largest * channels);
	}
	std::ranges::fill(kernels.scales, quantization.scale);
	if (operation.inputs.size() > 2)
		kernels.bias = biasOf(lowerer, operation, kernels);
	return kernels;
}

} /* namespace */

/*
 * Padding subtracts the zero point of a: kernels have a second tap, which repeats the first one and
 * lies over padding only, whose value is the negative zero point. The value 128 does not fit
 * 8 bits: two such taps lie over padding of 64 instead.
 */
void lower(Lowerer &lowerer, const Operator &operation, const Product &product)
{
	const ValueId a = operation.inputs[0], b = operation.inputs[1];
	const ValueId output = operation.outputs[0];
	for (const ValueId id : { a, b })
		lowerer.makeNatural(id);
	const Matrices rows(lowerer.value(a).cubeShape(), product.besideA);
	const Matrices columns(lowerer.value(b).cubeShape(), product.besideB);
	const Cube whole = naturalCube(lowerer.value(output).cubeShape());
	const Matrices made(lowerer.value(output).cubeShape(), product.besideA);
	const int32_t zero = -lowerer.quantization(a).zeroPoint;
	const int32_t pads = zero == 0						? 0
			     : zero > integerLimits(lowerer.storage(a)).highest ? 2
										: 1;
	op::Axes taps;
	(rows.areBeside ? taps.x : taps.y) += static_cast<uint32_t>(pads);

	lowerer.support(lowerer.storage(a) == lowerer.storage(b), "inputs", "have different types");
	lowerer.support(made.count == 1 || !isAlone(cubeOf(made), whole), "inputs",
			"have matrices of one row, which the core cannot address among others");
	ConvolutionPass pass{ .input = a,
			      .output = output,
			      .padding = { .right = taps.x - 1, .bottom = taps.y - 1 },
			      .padValue = static_cast<int16_t>(zero / std::max(pads, 1)),
			      .activation = product.activation,
			      .channels = rows.columns };
	const Kernels kernels = kernelsOf(lowerer, operation, made.columns, rows.columns, taps);
	const auto pack = [&](uint32_t number) {
		const std::string name = lowerer.step("packing");
		pass.packed = lowerer.unique(name + " result");
		lowerer.add(op::PackWeights{
			.name = name,
			.input = partOf(lowerer, lowerer.surface(b), columns, number),
			.output = pass.packed,
			.ofChannels = product.ofChannels,
			.lines = taps.y,
			.columns = taps.x,
			.zero = lowerer.quantization(b).zeroPoint });
	};
	/* Without padding, one convolution by a single matrix b takes all matrices of a. */
	if (columns.count == 1 && (rows.count == 1 || pads == 0)) {
		pass.out = whole;
		pass.canFuse = true;
		pack(0);
		convolve(lowerer, kernels, pass);
		return;
	}
	const std::string surface = lowerer.write(output, whole);
	pass.in = cubeOf(rows);
	pass.out = cubeOf(made);
	for (uint32_t number = 0; number < made.count; number++) {
		if (number < columns.count)
			pack(number);
		pass.from = partOf(lowerer, lowerer.surface(a), rows, number);
		pass.to = partOf(lowerer, surface, made, number);
		convolve(lowerer, kernels, pass);
	}
}

} /* namespace nvdla::compiler */
