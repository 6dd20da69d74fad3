/* SPDX-License-Identifier: MIT */
/*
 * Quotients of two tensors: the CPU makes reciprocals in FP16, the core multiplies.
 */
#include <cmath>

#include <fmt/core.h>

#include "sdp.h"

namespace nvdla::compiler
{

namespace
{

/* Adds a CPU step that computes (scale * x) ^ exponent in FP16. For an integer, x is the integer
 * minus its zero point. */
std::string onCpuInHalf(Lowerer &lowerer, ValueId id, const std::string &what, double scale,
			float exponent)
{
	const std::string name = lowerer.step(what);
	const std::string made = lowerer.intermediate(name, DataType::Half, lowerer.cube(id));
	const int32_t zero = lowerer.quantization(id).zeroPoint;

	lowerer.add(op::Unary{ .name = name,
			       .input = lowerer.surface(id),
			       .output = made,
			       .function = ElementFunction::Power,
			       .parameter = exponent,
			       .scale = static_cast<float>(scale),
			       .shift = static_cast<float>(-zero * scale),
			       .type = DataType::Half });
	return made;
}

} /* namespace */

/*
 * Integers minus their zero points are divided in FP16, and the quotient is quantized in the end.
 * Powers of two bring the integers and their reciprocals into FP16's range.
 */
void divide(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise)
{
	const ValueId a = operation.inputs[0], b = operation.inputs[1];
	const ValueId output = operation.outputs[0];
	const bool half = lowerer.storage(b) == DataType::Half;
	const int dividendBits = lowerer.storage(a) == DataType::Int16 ? 8 : 0;
	const int divisorBits = half ? 0 : 4;

	lowerer.support(!lowerer.value(a).isConstant, "input 0",
			"is a constant of several numbers");
	lowerer.support(!lowerer.value(b).isConstant, "input 1",
			"is a constant; multiply by its reciprocal");
	lowerer.support(half == (lowerer.storage(a) == DataType::Half) &&
				half == (lowerer.storage(output) == DataType::Half),
			"types", "are integers and float");
	needOwnStorage(lowerer, output);
	lowerer.support(lowerer.core().has(DataType::Half), "input 1",
			fmt::format("is computed: products with its reciprocal are FP16's, and {} "
				    "computes with {}",
				    lowerer.core().name, lowerer.core().typeNames()));
	lowerer.onCpu("the core has no quotient: the CPU makes reciprocals");
	const Meeting meeting = meet(lowerer, operation, elementwise);
	const std::string dividend =
		half ? lowerer.surface(a)
		     : onCpuInHalf(lowerer, a, "steps", std::ldexp(1, -dividendBits), 1);
	const std::string reciprocal =
		onCpuInHalf(lowerer, b, "reciprocal", std::ldexp(1, -divisorBits), -1);
	const std::string name = lowerer.step("product");
	const Cube cube = lowerer.cube(meeting.stream);
	const Lowerer::Stage result = lowerer.writing(lowerer.write(output, cube), output);
	op::Sdp product{ .name = name,
			 .input = meeting.turned ? reciprocal : dividend,
			 .output = {},
			 .x2 = op::SdpUnit{ .multiply = true,
					    .operands = meeting.turned ? dividend : reciprocal },
			 .type = DataType::Half };
	if (half) {
		addClamped(lowerer, product, elementwise.activation, result);
		return;
	}
	product.output = lowerer.intermediate(name + " in FP16", DataType::Half, cube);
	lowerer.add(product);
	const double worth =
		std::ldexp(lowerer.quantization(a).scale / lowerer.quantization(b).scale,
			   dividendBits - divisorBits);
	addClamped(lowerer,
		   op::Unary{ .name = lowerer.step("quantize"),
			      .input = product.output,
			      .scale = static_cast<float>(worth),
			      .outScale = static_cast<float>(result.result.scale),
			      .outZero = result.result.zeroPoint,
			      .type = result.to },
		   elementwise.activation, result);
}

} /* namespace nvdla::compiler */
