/* SPDX-License-Identifier: MIT */
/*
 * Quotients of two tensors: the CPU makes reciprocals in FP16, the core multiplies.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "sdp.h"

namespace nvdla::compiler
{

namespace
{

/* Integers are divided as steps from zero: these and their reciprocals are in FP16's range. */
constexpr int reciprocalBits = 4;

bool isHalf(const Lowerer &lowerer, ValueId id)
{
	return lowerer.storage(id) == DataType::Half;
}

/* Power of two by which steps are divided, to fit FP16. */
int stepBits(const Lowerer &lowerer, ValueId id)
{
	return lowerer.storage(id) == DataType::Int16 ? 8 : 0;
}

/* (scale * x) ^ exponent in FP16 on the CPU; x is steps from zero, or a float value's numbers. */
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

std::string reciprocalOf(Lowerer &lowerer, ValueId id)
{
	return onCpuInHalf(lowerer, id, "reciprocal",
			   isHalf(lowerer, id) ? 1 : std::ldexp(1, -reciprocalBits), -1);
}

std::string stepsOf(Lowerer &lowerer, ValueId id)
{
	if (isHalf(lowerer, id))
		return lowerer.surface(id);
	return onCpuInHalf(lowerer, id, "steps", std::ldexp(1, -stepBits(lowerer, id)), 1);
}

/* Surface of a product: that of the result if no activation follows. */
std::string productOf(Lowerer &lowerer, const Operator &operation, const std::string &name,
		      const Cube &cube)
{
	const ValueId output = operation.outputs[0];

	lowerer.setCube(output, cube);
	if (isHalf(lowerer, output) && std::get<Elementwise>(operation.kind).activation.isNone())
		return lowerer.write(output);
	return lowerer.intermediate(name, DataType::Half, cube);
}

/* Surface of a product in FP16, and the real number that a step of it stands for. */
struct HalfProduct {
	std::string surface;
	double worth = 1;
};

/* A constant times a reciprocal: an affine function, of numbers up to 1 for integers. */
HalfProduct constantTimes(Lowerer &lowerer, const Operator &operation)
{
	const ValueId divisor = operation.inputs[1];
	const Cube cube = lowerer.cube(divisor);

	lowerer.need(elementCount(lowerer.value(divisor).shape) ==
			     elementCount(lowerer.value(operation.outputs[0]).shape),
		     "input 0", "is a constant that is larger than the divisor");
	const CubeNumbers constant = numbersFor(lowerer, divisor, operation.inputs[0]);
	double largest = 1;
	if (!isHalf(lowerer, divisor)) {
		largest = 0;
		for (const double number : constant.numbers)
			largest = std::max(largest, std::fabs(number));
		largest = largest > 0 ? largest : 1;
	}
	Affine affine{ {}, std::vector<double>(constant.numbers.size(), 0), constant.shape, {} };
	for (const double number : constant.numbers)
		affine.scale.push_back(number / largest);
	const std::string reciprocal = reciprocalOf(lowerer, divisor);
	const std::string name = lowerer.step("product");
	HalfProduct product{ productOf(lowerer, operation, name, cube), largest };
	Lowerer::Stage stage{ .name = name, .input = reciprocal, .output = product.surface };
	stage.from = stage.to = stage.range = DataType::Half;
	stage.cube = cube;
	lowerer.affine(stage, affine);
	if (!isHalf(lowerer, divisor))
		product.worth /= std::ldexp(lowerer.quantization(divisor).scale, reciprocalBits);
	return product;
}

HalfProduct timesReciprocal(Lowerer &lowerer, const Operator &operation)
{
	const ValueId a = operation.inputs[0], b = operation.inputs[1];
	const Meeting meeting = meet(lowerer, operation, { Elementwise::Function::Divide, {} });
	const std::string dividend = stepsOf(lowerer, a), reciprocal = reciprocalOf(lowerer, b);
	const std::string name = lowerer.step("product");
	const Cube cube = lowerer.cube(meeting.stream);
	HalfProduct product{ productOf(lowerer, operation, name, cube), 1 };
	const bool streamsA = meeting.stream == a;
	lowerer.add(op::Sdp{
		.name = name,
		.input = streamsA ? dividend : reciprocal,
		.output = product.surface,
		.x2 = op::SdpUnit{ .multiply = true, .operands = streamsA ? reciprocal : dividend },
		.type = DataType::Half });
	if (!isHalf(lowerer, a))
		product.worth =
			std::ldexp(lowerer.quantization(a).scale / lowerer.quantization(b).scale,
				   stepBits(lowerer, a) - reciprocalBits);
	return product;
}

/* Quantizes a product and applies its activation. */
void quantize(Lowerer &lowerer, const HalfProduct &product, const Clamp &activation, ValueId output)
{
	const Quantization out = lowerer.quantization(output);
	const std::string name = lowerer.step("quantize");
	ClampBehind clamp(lowerer, name, activation, output);

	lowerer.add(op::Unary{ .name = name,
			       .input = product.surface,
			       .output = clamp.written(),
			       .scale = static_cast<float>(product.worth),
			       .outScale = static_cast<float>(out.scale),
			       .outZero = out.zeroPoint,
			       .type = lowerer.storage(output) });
	clamp.finish();
}

} /* namespace */

void divide(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise)
{
	const ValueId a = operation.inputs[0], b = operation.inputs[1];
	const ValueId output = operation.outputs[0];
	const bool isConstant = lowerer.value(a).isConstant, half = isHalf(lowerer, b);

	lowerer.need(!lowerer.value(b).isConstant, "input 1",
		     "is a constant; multiply by its reciprocal");
	lowerer.need((isConstant || half == isHalf(lowerer, a)) && half == isHalf(lowerer, output),
		     "types", "are integers and float");
	lowerer.need(half || lowerer.storage(output) == lowerer.range(output), "types",
		     "are 8 bits held in 16, for kernels that do not fit 8 bits without their zero "
		     "point; quantize the kernels symmetrically");
	lowerer.need(lowerer.core().has(DataType::Half), "input 1",
		     fmt::format("is computed: products with its reciprocal are FP16's, and {} "
				 "computes with {}",
				 lowerer.core().name, lowerer.core().typeNames()));
	lowerer.onCpu("the core has no quotient: the CPU makes reciprocals");
	if (isConstant)
		lowerer.makeNatural(b);
	const HalfProduct product = isConstant ? constantTimes(lowerer, operation)
					       : timesReciprocal(lowerer, operation);
	if (!half) {
		quantize(lowerer, product, elementwise.activation, output);
		return;
	}
	if (elementwise.activation.isNone())
		return;
	const std::string result = lowerer.write(output);
	lowerer.affine(lowerer.stage(lowerer.step("clamp"), product.surface, DataType::Half, result,
				     output),
		       lowerer.turning(output, output, elementwise.activation));
}

} /* namespace nvdla::compiler */
