/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/core.h>
#include <nvdla/converter.h>

#include "sdp.h"

namespace nvdla::compiler
{

namespace
{

/* Bits of the factors that bring both inputs to one scale; sums stay within 31 bits. */
int factorBits(DataType type)
{
	return type == DataType::Int8 ? 14 : 13;
}

/* With a smaller gain, an 8-bit zero point divided by it exceeds the converter's 32-bit offset. */
constexpr double leastGain = 0x1p-23;

int32_t negated(int64_t zeroPoint)
{
	return static_cast<int32_t>(-zeroPoint);
}

struct SumFactors {
	double a;
	double b;
	double gain; /* of the output converter */
};

/*
 * Factors of two inputs and a gain, whose products are as near to \a scaleA and \a scaleB as
 * operands allow. Tries each larger factor that uses all bits, for the least rounding error of
 * the others. Scales so large that any step saturates are reduced together; a sum that never
 * reaches a step of the output is 0.
 */
SumFactors sumFactors(double scaleA, double scaleB, int bits)
{
	const double limit = std::max(std::ldexp(std::max(scaleA, scaleB), -bits), 1.0);
	const double larger = std::max(scaleA, scaleB) / limit;
	const double smaller = std::min(scaleA, scaleB) / limit;
	const double most = std::floor(std::min(std::ldexp(1, bits), larger / leastGain));
	SumFactors best{ 0, 0, 1 };
	double least = HUGE_VAL;

	for (double first = std::max(1.0, std::ceil(most / 2)); first <= most; first++) {
		const double second = std::max(1.0, roundReal(first * smaller / larger));
		const auto converter = makeConverter(0, larger / first);
		if (!converter)
			continue;
		const double gain = converter->gain();
		const double error = std::max(std::fabs(first * gain - larger),
					      std::fabs(second * gain - smaller));
		if (error < least) {
			least = error;
			best = scaleA < scaleB ? SumFactors{ second, first, larger / first }
					       : SumFactors{ first, second, larger / first };
		}
	}
	return best;
}

bool isRelu(const op::Sdp &sdp)
{
	return sdp.x2 && sdp.x2->activation == op::Activation::Relu;
}

op::Alu aluOf(Elementwise::Function function)
{
	if (function == Elementwise::Function::Maximum)
		return op::Alu::Max;
	return function == Elementwise::Function::Minimum ? op::Alu::Min : op::Alu::Sum;
}

/* FP16 needs no conversion of stream or operand; Subtract is operand - stream, negated if needed.
 */
op::Sdp halfSdp(const Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting)
{
	constexpr int32_t minusOne = 0xbc00; /* FP16 */
	const auto minusOneInY = std::bit_cast<int32_t>(-1.0f);
	const bool relu = elementwise.activation.low == 0;
	op::Sdp sdp{ .name = {}, .input = lowerer.surface(meeting.stream), .output = {} };
	op::SdpUnit unit{ .operands = lowerer.surface(meeting.operand) };

	if (elementwise.function == Elementwise::Function::Multiply)
		unit.multiply = true;
	else
		unit.alu = aluOf(elementwise.function);
	if (elementwise.function == Elementwise::Function::Subtract)
		sdp.x1 = op::SdpUnit{ .multiply = true, .mulOperand = minusOne };
	if (elementwise.function == Elementwise::Function::Subtract && !meeting.turned) {
		sdp.y = op::SdpUnit{ .multiply = true, .mulOperand = minusOneInY };
		if (relu)
			sdp.y->alu = op::Alu::Max;
	} else if (relu) {
		unit.activation = op::Activation::Relu;
	}
	sdp.x2 = unit;
	return sdp;
}

/*
 * A sum with a ReLU: X2 adds the operand, times a power of two, and has the ReLU. X2 has no
 * converter for the operand, whose zero point has to be 0.
 */
bool sumWithRelu(const Quantization &stream, const Quantization &operand, DataType type,
		 op::Sdp &sdp, double &gain)
{
	const int bits = factorBits(type);
	const int shift =
		std::min(bits, bits + std::ilogb(operand.scale) - std::ilogb(stream.scale) - 1);

	if (operand.zeroPoint != 0 || shift < 0 || gain > 1)
		return false;
	sdp.x1->multiply = true;
	sdp.x1->mulOperand =
		static_cast<int32_t>(roundReal(std::ldexp(stream.scale / operand.scale, shift)));
	sdp.x2 = op::SdpUnit{ .alu = op::Alu::Sum,
			      .activation = op::Activation::Relu,
			      .operands = sdp.y->operands,
			      .aluShift = static_cast<uint8_t>(shift) };
	sdp.y.reset();
	gain = std::ldexp(gain, -shift);
	return true;
}

/* Maxima and minima with several numbers, which X1 reads as operands in the output's steps. */
void limitByConstant(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise,
		     ValueId x, const CubeNumbers &constant)
{
	const ValueId output = operation.outputs[0];
	const DataType type = lowerer.storage(output);
	std::vector<int16_t> limits;

	for (const double number : constant.numbers)
		limits.push_back(static_cast<int16_t>(lowerer.quantization(output).quantize(
			number, integerLimits(lowerer.range(output)))));
	const std::string name = lowerer.step("limits");
	ClampBehind clamp(lowerer, name, elementwise.activation, output,
			  lowerer.write(output, lowerer.cube(x)));
	lowerer.add(op::Sdp{
		.name = name,
		.input = inStepsOf(lowerer, x, output),
		.output = clamp.written(),
		.x1 = op::SdpUnit{ .alu = aluOf(elementwise.function),
				   .operands = addOperands(
					   lowerer, name, constant.shape,
					   type == DataType::Half ? lowerer.halves(constant.numbers)
								  : Elements::of(limits),
					   {}) },
		.type = type });
	clamp.finish();
}

/*
 * Bits behind the point that TFLite's kernels keep of a product with a constant of integers:
 * they multiply the integers first, then by the scale. Of sums they keep some twenty bits, with
 * which a second rounding changes nothing.
 */
int firstBitsOf(const Elementwise &elementwise, const Value &constant, double scale)
{
	int exponent = 0;

	if (elementwise.function != Elementwise::Function::Multiply || isFloat(constant.type))
		return 0;
	std::frexp(scale * constant.quantization.channel(0).scale, &exponent);
	return -exponent;
}

/* Lowers an operator with one constant input. */
void withConstant(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise)
{
	const bool first = lowerer.value(operation.inputs[0]).isConstant;
	const ValueId x = operation.inputs[first ? 1 : 0];
	lowerer.makeNatural(x);
	const ValueId output = operation.outputs[0];
	const Quantization in = lowerer.quantization(x), out = lowerer.quantization(output);
	const Extents &wanted = lowerer.value(output).shape, &shape = lowerer.value(x).shape;

	lowerer.need(elementCount(wanted) == elementCount(shape), "inputs",
		     fmt::format("are {} and a larger constant, which make {}; at most 64 "
				 "copies along lines and columns are possible",
				 toString(shape), toString(wanted)));
	const CubeNumbers constant = numbersFor(lowerer, x, operation.inputs[first ? 0 : 1]);
	const std::vector<double> &numbers = constant.numbers;
	const bool limits = elementwise.function >= Elementwise::Function::Maximum;
	const bool several = std::adjacent_find(numbers.begin(), numbers.end(),
						std::not_equal_to<>()) != numbers.end();
	if (limits && several) {
		limitByConstant(lowerer, operation, elementwise, x, constant);
		return;
	}
	Affine affine{ {}, {}, constant.shape, elementwise.activation };
	affine.firstBits = firstBitsOf(elementwise, lowerer.value(operation.inputs[first ? 0 : 1]),
				       in.scale / out.scale);
	Clamp &clamp = affine.activation;
	if (elementwise.function == Elementwise::Function::Maximum)
		clamp.low = std::min(std::max(clamp.low, numbers.front()), clamp.high);
	else if (elementwise.function == Elementwise::Function::Minimum)
		clamp.high = std::max(std::min(clamp.high, numbers.front()), clamp.low);
	const bool product = elementwise.function == Elementwise::Function::Multiply;
	const bool subtracts = elementwise.function == Elementwise::Function::Subtract;
	const double sign = subtracts && first ? -1 : 1;
	for (const double number : numbers) {
		const double added = subtracts && !first ? -number : number;
		affine.scale.push_back(in.scale / out.scale * (product ? number : sign));
		affine.bias.push_back((product || limits ? 0 : sign * added / in.scale) -
				      in.zeroPoint);
	}
	const std::string result = lowerer.write(output, lowerer.cube(x));
	lowerer.affine(lowerer.stage("affine", x, result, output), affine);
}

} /* namespace */

double splitGain(double gain, DataType type, op::SdpUnit &x)
{
	constexpr double smallGain = 0x1p-4, largestGain = 0x1p14;
	const bool is8Bits = type == DataType::Int8;
	const double least = is8Bits ? leastGain : 0x1p-32;
	const int most = is8Bits ? factorBits(type) : 0;
	int bits = 0;

	while (gain > smallGain && bits < most) {
		gain /= 2;
		bits++;
	}
	if (gain < least || bits > 0) {
		x.multiply = true;
		x.mulOperand = gain < least ? 0 : 1 << bits;
	}
	if (gain < least)
		return 1;
	return std::min(gain, is8Bits ? smallGain : largestGain);
}

std::string inStepsOf(Lowerer &lowerer, ValueId id, ValueId output)
{
	if (lowerer.quantization(id) == lowerer.quantization(output))
		return lowerer.surface(id);
	const std::string scaled = lowerer.intermediate(lowerer.value(id).name + " scaled",
							lowerer.storage(output), lowerer.cube(id));
	lowerer.turn("requantize", id, scaled, output);
	return scaled;
}

Meeting meet(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise)
{
	const ValueId a = operation.inputs[0], b = operation.inputs[1];
	const Extents &shapeA = lowerer.value(a).shape, &shapeB = lowerer.value(b).shape;

	if (shapeA != shapeB || lowerer.cube(a) != lowerer.cube(b)) {
		lowerer.makeNatural(a);
		lowerer.makeNatural(b);
	}
	const Cube all = shapeA == shapeB ? lowerer.cube(a)
					  : naturalCube(lowerer.value(operation.outputs[0]).shape);
	const bool wholeA = lowerer.cube(a) == all, wholeB = lowerer.cube(b) == all;
	auto fits = [&](ValueId id, bool whole) {
		return whole || lowerer.cube(id) == Cube{ all.c, 1, 1 };
	};
	lowerer.need(!lowerer.value(a).isConstant && (wholeA || wholeB) && fits(a, wholeA) &&
			     fits(b, wholeB),
		     "inputs",
		     fmt::format("are {} and {}; computed inputs have to have one shape, or "
				 "one of them a number for each channel",
				 toString(shapeA), toString(shapeB)));
	/* A difference in FP16 takes one operation fewer if its first input is the operand. */
	const bool turns = lowerer.storage(a) == DataType::Half &&
			   elementwise.function == Elementwise::Function::Subtract;
	if (wholeB && (!wholeA || turns))
		return { b, a, true };
	return { a, b, false };
}

op::Sdp integerSdp(Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting,
		   ValueId output)
{
	const IntegerClamp clamp = clampOf(elementwise.activation, lowerer.writing({}, output));
	const bool relu = clamp.cutsLow && !clamp.cutsHigh &&
			  clamp.low == lowerer.quantization(output).zeroPoint;

	if (!lowerer.core().has(Capability::SdpY))
		return integerSdpWithoutY(lowerer, elementwise, meeting, output, relu);
	const Quantization stream = lowerer.quantization(meeting.stream);
	const Quantization operand = lowerer.quantization(meeting.operand);
	const Quantization out = lowerer.quantization(output);
	const DataType type = lowerer.storage(meeting.stream);
	op::Sdp sdp{ .name = {}, .input = lowerer.surface(meeting.stream), .output = {} };
	op::SdpUnit &x = sdp.x1.emplace(
		op::SdpUnit{ .alu = op::Alu::Sum, .aluOperand = negated(stream.zeroPoint) });
	op::SdpUnit &y = sdp.y.emplace(op::SdpUnit{ .operands = lowerer.surface(meeting.operand) });
	double gain = operand.scale / out.scale;

	if (elementwise.function == Elementwise::Function::Multiply) {
		gain = splitGain(stream.scale * gain, type, x);
		y.multiply = true;
		y.mulConverter = Converter{ operand.zeroPoint, 1, 0 };
	} else if (!relu || elementwise.function != Elementwise::Function::Add ||
		   !sumWithRelu(stream, operand, type, sdp, gain)) {
		SumFactors factors = sumFactors(stream.scale / out.scale, operand.scale / out.scale,
						factorBits(type));
		if (elementwise.function == Elementwise::Function::Subtract)
			(meeting.turned ? factors.a : factors.b) *= -1;
		x.multiply = true;
		x.mulOperand = static_cast<int32_t>(factors.a);
		y.alu = aluOf(elementwise.function);
		y.aluConverter = Converter{ operand.zeroPoint, static_cast<int16_t>(factors.b), 0 };
		gain = factors.gain;
	}
	sdp.converter = lowerer.take(makeConverter(-out.zeroPoint / gain, gain));
	return sdp;
}

void lower(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise)
{
	const ValueId a = operation.inputs[0], output = operation.outputs[0];

	if (elementwise.function == Elementwise::Function::Divide) {
		divide(lowerer, operation, elementwise);
		return;
	}
	if (lowerer.value(a).isConstant != lowerer.value(operation.inputs[1]).isConstant) {
		withConstant(lowerer, operation, elementwise);
		return;
	}
	const Meeting meeting = meet(lowerer, operation, elementwise);
	const bool half = lowerer.storage(a) == DataType::Half;
	const Clamp &activation = elementwise.activation;
	op::Sdp sdp = half ? halfSdp(lowerer, elementwise, meeting)
			   : integerSdp(lowerer, elementwise, meeting, output);
	const bool isClamped = half ? activation == Clamp{ .low = 0 } : isRelu(sdp);
	sdp.name = lowerer.step("elementwise");
	ClampBehind clamp(lowerer, sdp.name, isClamped ? std::nullopt : std::optional(activation),
			  output, lowerer.write(output, lowerer.cube(meeting.stream)));
	sdp.output = clamp.written();
	sdp.type = lowerer.storage(output);
	lowerer.add(sdp);
	clamp.finish();
}

} /* namespace nvdla::compiler */
