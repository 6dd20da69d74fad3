/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/core.h>
#include <nvdla/converter.h>
#include <nvdla/rounding.h>

#include "base/number/channel_scaling.h"
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

/* X1 and X2 multiply SDP's input minus its zero point by any number up to 2^15. */
void multiplyBy(op::Sdp &sdp, double factor, int32_t zero, DataType type)
{
	const int shift = 28 - std::ilogb(std::max(std::fabs(factor), 0x1p-19)); /* 47 at most */
	const FactorPair pair = nearestFactors(std::ldexp(factor, shift), 14);
	const uint8_t coarseShift = type == DataType::Int8 ? 0 : 3; /* X1's results have 32 bits */

	sdp.x1 = op::SdpUnit{ .alu = op::Alu::Sum,
			      .multiply = true,
			      .aluOperand = -zero,
			      .mulOperand = static_cast<int32_t>(pair.coarse),
			      .shift = coarseShift };
	sdp.x2 = op::SdpUnit{ .multiply = true,
			      .mulOperand = static_cast<int32_t>(pair.fine),
			      .shift = static_cast<uint8_t>(shift - coarseShift) };
}

/* With a smaller gain, the converter's offset (8-bit zero point / gain) could exceed 32 bits. */
constexpr double leastGain = 0x1p-23;

/* Factors for gain * (a * x + b * y) of two inputs x, y: the output converter applies the gain. */
struct SumFactors {
	double a, b, gain;
};

/*
 * Finds factors with a * gain near \a scaleA, and b * gain near \a scaleB: b is an integer of at
 * most \a bits bits, a any number. Tries all integers of \a bits bits as the larger factor, and
 * takes the most exact result. Scales so large that one step saturates are reduced together.
 */
SumFactors sumFactors(double scaleA, double scaleB, int bits)
{
	const double limit = std::max(std::ldexp(std::max(scaleA, scaleB), -bits), 1.0);
	const double a = scaleA / limit, b = scaleB / limit, larger = std::max(a, b);
	const double most = std::floor(std::min(std::ldexp(1, bits) - 1, larger / leastGain));
	SumFactors best{ 0, 0, 1 };
	double least = HUGE_VAL;

	for (double first = std::max(1.0, std::ceil(most / 2)); first <= most; first++) {
		const double factor = std::max(1.0, std::floor(first * b / larger));
		const auto converter =
			makeConverter(0, first * b < larger ? larger / first : b / factor);
		if (!converter)
			continue;
		const double gain = converter->gain();
		const double error = std::fabs(factor * gain - b);
		if (error < least) {
			least = error;
			best = { a / gain, factor, gain };
		}
	}
	return best;
}

op::Alu aluOf(Elementwise::Function function)
{
	if (function == Elementwise::Function::Maximum)
		return op::Alu::Max;
	return function == Elementwise::Function::Minimum ? op::Alu::Min : op::Alu::Sum;
}

/* FP16 operands need no conversion. Subtract computes operand - stream. If the stream is the
 * operator's first input, Y negates this difference. */
op::Sdp halfSdp(const Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting)
{
	constexpr int32_t minusOne = 0xbc00; /* -1 in FP16 */
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
 * The sum gain * (factor * stream + 2^shift * operand), and its error in steps of the output. X1
 * multiplies the stream. X2, which has no converter for operands, shifts and adds the operand.
 */
struct Sum {
	Meeting meeting;
	double factor = 0;
	int shift = 0;
	double gain = 0;
	double error = HUGE_VAL;
};

/* Tries several shifts for the least error: a larger one leaves the factor more bits, but the
 * converter's scale fewer. */
Sum sumOf(const Lowerer &lowerer, const Meeting &meeting, const Quantization &out)
{
	constexpr int triedShifts = 8;
	const DataType type = lowerer.storage(meeting.stream);
	const int bits = factorBits(type), mostShift = type == DataType::Int8 ? 20 : bits;
	const double stream = lowerer.quantization(meeting.stream).scale / out.scale;
	const double operand = lowerer.quantization(meeting.operand).scale / out.scale;
	const int most = std::clamp(bits - std::ilogb(stream / operand), 0, mostShift);
	Sum best{ meeting };

	for (int shift = most; shift >= std::max(most - triedShifts, 0); shift--) {
		const auto converter = makeConverter(0, std::ldexp(operand, -shift));
		if (!converter)
			continue;
		const double gain = converter->gain();
		const auto factor =
			static_cast<double>(integerLimits(16U).saturate(roundReal(stream / gain)));
		const double error = std::max(std::fabs(factor * gain - stream),
					      std::fabs(std::ldexp(gain, shift) - operand));
		if (error < best.error)
			best = { meeting, factor, shift, gain, error };
	}
	return best;
}

/*
 * Splits a product's gain into X1's factor, a power of two, and the converter's factor, which is
 * returned. The converter's factor should be small: its offset, the zero point divided by this
 * factor, then has fraction bits. A gain above the largest factor is reduced, because every product
 * but 0 saturates anyway. If no product reaches one step, X1's factor is 0.
 */
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

/* Returns a surface with \a id in the quantization of \a output; adds an operation if needed. */
std::string inStepsOf(Lowerer &lowerer, ValueId id, ValueId output)
{
	if (lowerer.quantization(id) == lowerer.quantization(output))
		return lowerer.surface(id);
	const std::string scaled = lowerer.intermediate(lowerer.value(id).name + " scaled",
							lowerer.storage(output), lowerer.cube(id));
	lowerer.turn("requantize", id, scaled, output);
	return scaled;
}

/* For stream - operand, X1 and X2 compute operand - stream, and the gain is negative. */
op::Sdp sdpOf(Lowerer &lowerer, bool subtracts, const Sum &sum, ValueId output, bool relu)
{
	const Quantization out = lowerer.quantization(output);
	const Quantization stream = lowerer.quantization(sum.meeting.stream);
	const Quantization operand = lowerer.quantization(sum.meeting.operand);
	const double gain = subtracts && !sum.meeting.turned ? -sum.gain : sum.gain;
	op::Sdp sdp{ .name = {}, .input = lowerer.surface(sum.meeting.stream), .output = {} };

	sdp.x1 = op::SdpUnit{ .alu = op::Alu::Sum,
			      .multiply = true,
			      .aluOperand = -stream.zeroPoint,
			      .mulOperand =
				      static_cast<int32_t>(subtracts ? -sum.factor : sum.factor) };
	sdp.x2 = op::SdpUnit{ .alu = op::Alu::Sum,
			      .operands = lowerer.surface(sum.meeting.operand),
			      .aluShift = static_cast<uint8_t>(sum.shift) };
	/* X2 can apply a ReLU only if the sum's zero point, that of the operand, is 0. */
	if (relu && operand.zeroPoint == 0 && gain > 0)
		sdp.x2->activation = op::Activation::Relu;
	sdp.converter = lowerer.take(makeConverter(
		std::ldexp(operand.zeroPoint, sum.shift) - out.zeroPoint / gain, gain));
	return sdp;
}

/* An operand with a zero point is exchanged with the stream if their shapes are equal, because X1
 * subtracts the stream's zero point. X2 multiplies by the operand; if the operand then still has a
 * zero point, Y multiplies instead, and Y's converter subtracts the zero point. */
op::Sdp product(Lowerer &lowerer, const Meeting &given, ValueId output)
{
	const bool turns = lowerer.quantization(given.operand).zeroPoint != 0 &&
			   lowerer.cube(given.stream) == lowerer.cube(given.operand);
	const Meeting meeting =
		turns ? Meeting{ given.operand, given.stream, !given.turned } : given;
	const Quantization stream = lowerer.quantization(meeting.stream);
	const Quantization operand = lowerer.quantization(meeting.operand);
	const Quantization out = lowerer.quantization(output);
	op::Sdp sdp{ .name = {}, .input = lowerer.surface(meeting.stream), .output = {} };
	op::SdpUnit unit{ .multiply = true, .operands = lowerer.surface(meeting.operand) };

	lowerer.support(operand.zeroPoint == 0 || lowerer.core().has(Capability::SdpY), "inputs",
			fmt::format("have zero points, of which SDP takes one away; the other is "
				    "for its unit Y, which {} has not; quantize one input "
				    "symmetrically",
				    lowerer.core().name));
	op::SdpUnit &x =
		sdp.x1.emplace(op::SdpUnit{ .alu = op::Alu::Sum, .aluOperand = -stream.zeroPoint });
	const double gain = splitGain(stream.scale * operand.scale / out.scale,
				      lowerer.storage(meeting.stream), x);
	if (operand.zeroPoint != 0)
		unit.mulConverter = Converter{ operand.zeroPoint, 1, 0 };
	(operand.zeroPoint == 0 ? sdp.x2 : sdp.y) = unit;
	sdp.converter = lowerer.take(makeConverter(-out.zeroPoint / gain, gain));
	return sdp;
}

/* Maximum or minimum in the output's quantization, to which the stream is converted first. */
op::Sdp extreme(Lowerer &lowerer, const Elementwise &elementwise, ValueId stream,
		const std::string &operands, ValueId output)
{
	return { .name = {},
		 .input = inStepsOf(lowerer, stream, output),
		 .output = {},
		 .x1 = op::SdpUnit{ .alu = aluOf(elementwise.function), .operands = operands } };
}

/* Adds an operation and, if \a isLeft, the activation, which the operation itself lacks. */
void addElementwise(Lowerer &lowerer, op::Sdp sdp, const Clamp &activation, ValueId output,
		    const Cube &cube, bool isLeft)
{
	sdp.name = lowerer.step("elementwise");
	sdp.type = lowerer.storage(output);
	addClamped(lowerer, sdp, activation, lowerer.writing(lowerer.write(output, cube), output),
		   isLeft);
}

/* Maxima and minima with a constant of several numbers: X1 reads them, in the output's steps. */
void limitByConstant(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise,
		     ValueId x, const CubeNumbers &constant)
{
	const ValueId output = operation.outputs[0];
	std::vector<int16_t> limits;

	for (const double number : constant.numbers)
		limits.push_back(static_cast<int16_t>(lowerer.quantization(output).quantize(
			number, integerLimits(lowerer.range(output)))));
	const std::string operands = addOperands(lowerer, lowerer.step("limits"), constant.shape,
						 lowerer.storage(output) == DataType::Half
							 ? lowerer.halves(constant.numbers)
							 : Elements::of(limits),
						 {});
	addElementwise(lowerer, extreme(lowerer, elementwise, x, operands, output),
		       elementwise.activation, output, lowerer.cube(x), true);
}

/*
 * Returns Affine::firstBits. For a product with a constant, TFLite multiplies the integers, then
 * the product by the scale, and rounds to this number of fraction bits. Sums get 0, a single
 * rounding: TFLite keeps some twenty bits of them, so that its second rounding changes nothing.
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

	lowerer.support(elementCount(wanted) == elementCount(shape), "inputs",
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
	lowerer.support(!lowerer.value(a).isConstant && (wholeA || wholeB) && fits(a, wholeA) &&
				fits(b, wholeB),
			"inputs",
			fmt::format("are {} and {}; computed inputs have to have one shape, or "
				    "one of them a number for each channel",
				    toString(shapeA), toString(shapeB)));
	/* A difference in FP16 needs no unit Y if its first input is the operand: see halfSdp(). */
	const bool turns = lowerer.storage(a) == DataType::Half &&
			   elementwise.function == Elementwise::Function::Subtract;
	if (wholeB && (!wholeA || turns))
		return { b, a, true };
	return { a, b, false };
}

op::Sdp integerSum(Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting,
		   ValueId output)
{
	const Quantization stream = lowerer.quantization(meeting.stream);
	const Quantization operand = lowerer.quantization(meeting.operand);
	const Quantization out = lowerer.quantization(output);
	const bool subtracts = elementwise.function == Elementwise::Function::Subtract;
	const IntegerClamp clamp = clampOf(elementwise.activation, lowerer.writing({}, output));
	const bool relu = clamp.cutsLow && !clamp.cutsHigh && clamp.low == out.zeroPoint;

	if (!lowerer.core().has(Capability::SdpY)) {
		Sum sum = sumOf(lowerer, meeting, out);
		/* Either of two tensors of one shape can be the operand. */
		if (lowerer.cube(meeting.stream) == lowerer.cube(meeting.operand))
			sum = std::min(
				sum,
				sumOf(lowerer, { meeting.operand, meeting.stream, !meeting.turned },
				      out),
				[](const Sum &a, const Sum &b) { return a.error < b.error; });
		lowerer.support(sum.error < HUGE_VAL, "scales",
				"of the inputs are too far from that of the output");
		return sdpOf(lowerer, subtracts, sum, output, relu);
	}
	/* In sdpOf(), X2 applies the ReLU. That needs a small gain, so that the converter's offset,
	 * the zero point divided by the gain, has fraction bits. */
	if (relu && !subtracts && operand.zeroPoint == 0 && operand.scale <= out.scale) {
		const Sum sum = sumOf(lowerer, meeting, out);
		if (sum.error < 0x1p-12 * std::max(stream.scale, operand.scale) / out.scale)
			return sdpOf(lowerer, subtracts, sum, output, relu);
	}
	const DataType type =
		std::min(lowerer.range(meeting.stream), lowerer.range(meeting.operand));
	auto [a, b, gain] = sumFactors(stream.scale / out.scale, operand.scale / out.scale,
				       factorBits(type) + (type == DataType::Int8));
	if (subtracts)
		(meeting.turned ? a : b) *= -1;
	op::Sdp sdp{ .name = {},
		     .input = lowerer.surface(meeting.stream),
		     .output = {},
		     .y = op::SdpUnit{ .alu = op::Alu::Sum,
				       .operands = lowerer.surface(meeting.operand),
				       .aluConverter = Converter{ operand.zeroPoint,
								  static_cast<int16_t>(b), 0 } },
		     .converter = lowerer.take(makeConverter(-out.zeroPoint / gain, gain)) };
	multiplyBy(sdp, a, stream.zeroPoint, type);
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
	op::Sdp sdp;
	if (half)
		sdp = halfSdp(lowerer, elementwise, meeting);
	else if (elementwise.function == Elementwise::Function::Multiply)
		sdp = product(lowerer, meeting, output);
	else if (elementwise.function >= Elementwise::Function::Maximum)
		sdp = extreme(lowerer, elementwise, meeting.stream,
			      inStepsOf(lowerer, meeting.operand, output), output);
	else
		sdp = integerSum(lowerer, elementwise, meeting, output);
	const bool isClamped = half ? elementwise.activation == Clamp{ .low = 0 }
				    : sdp.x2 && sdp.x2->activation == op::Activation::Relu;
	addElementwise(lowerer, sdp, elementwise.activation, output, lowerer.cube(meeting.stream),
		       !isClamped);
}

} /* namespace nvdla::compiler */
