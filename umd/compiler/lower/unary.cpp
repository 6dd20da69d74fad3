/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cmath>

#include <nvdla/converter.h>
#include <nvdla/lut.h>

#include "base/number/element_functions.h"
#include "base/number/half_range.h"
#include "base/number/lut_format.h"
#include "base/number/requantization.h"
#include "sdp.h"

namespace nvdla::compiler
{

namespace
{

/* Whether the function, in the precision of FP16, is a straight line from \a edge away from 0. */
bool isStraight(const Unary &unary, double edge)
{
	const double end = std::copysign(largestHalf, edge);
	const double first = unary(edge), slope = (unary(end) - first) / (end - edge);

	for (double x = edge; std::fabs(x) < largestHalf; x *= 1.25) {
		const double y = unary(x);
		if (std::fabs(first + (x - edge) * slope - y) > 0x1p-12 * std::fabs(y) + 0x1p-25)
			return false;
	}
	return true;
}

/* Returns a number with the sign of \a sign from which the function is straight, away from 0. */
double curvedUpTo(const Unary &unary, double sign)
{
	double edge = sign / 2;

	while (std::fabs(edge) < largestHalf / 2 && !isStraight(unary, edge))
		edge += std::fabs(edge) < 64 ? sign / 2 : edge;
	return edge;
}

/* The factor, if the function only multiplies numbers that have the sign of \a x. */
std::optional<double> slopeAt(const Unary &unary, double x)
{
	const bool isPlain = unary.activation.isNone() && unary.scale == 1 && unary.shift == 0 &&
			     unary.inner == Unary::Function::Identity;

	if (isPlain && unary.function == Unary::Function::LeakyRelu)
		return x < 0 ? unary.parameter : 1;
	if (isPlain && unary.function == Unary::Function::Abs)
		return x < 0 ? -1 : 1;
	return std::nullopt;
}

/* Returns the result for the integer \a q. roundsTwice: a function that only multiplies rounds
 * twice, as TFLite does. */
int64_t functionOf(int64_t q, const Unary &unary, const Quantization &in, const Quantization &out,
		   bool roundsTwice)
{
	const IntegerLimits limits = integerLimits(8U);
	const int64_t steps = q - in.zeroPoint;
	const auto slope = slopeAt(unary, static_cast<double>(steps));

	if (!roundsTwice || !slope)
		return out.quantize(unary(in.real(static_cast<double>(q))), limits);
	return limits.saturate(out.zeroPoint +
			       multipliedTwice(steps, *slope * in.scale / out.scale));
}

/*
 * LO has an entry for each of the 256 integers. LE covers the inputs on both sides of LO, which get
 * the result of the lowest or highest integer. The table's inputs are integers minus \a zero.
 */
Lut exactTable(const Unary &unary, const Quantization &in, const Quantization &out,
	       bool roundsTwice, int64_t zero)
{
	constexpr int wide = 7; /* steps of 2^7: two are as long as LO */
	const IntegerLimits limits = integerLimits(8U);
	/* An input at the first entry misses the table: begin one below the lowest integer. */
	const auto start = static_cast<double>(limits.lowest - 1 - zero);
	LutHalf le{ .step = wide,
		    .start = start - std::ldexp(Lut::leCount / 2, wide),
		    .entries = std::vector<int16_t>(Lut::leCount),
		    .underflow = {},
		    .overflow = {} };
	LutHalf lo{ .step = 0,
		    .start = start,
		    .entries = std::vector<int16_t>(Lut::loCount),
		    .underflow = {},
		    .overflow = {} };

	for (LutHalf *half : { &le, &lo })
		for (size_t i = 0; i < half->entries.size(); i++)
			half->entries[i] = static_cast<int16_t>(functionOf(
				limits.saturate(half->input(i) + static_cast<double>(zero)), unary,
				in, out, roundsTwice));
	return lutOf(le, lo);
}

/* A table has an entry for each 8-bit integer; tables for other types are approximations. */
bool hasExactTable(const Lowerer &lowerer, const Operator &operation)
{
	return lowerer.range(operation.inputs[0]) == DataType::Int8 &&
	       lowerer.range(operation.outputs[0]) == DataType::Int8;
}

/* Adds a function's table, unless the graph has it. \return its name; \a zero: see exactTable() */
std::string addTable(Lowerer &lowerer, const Operator &operation, const Unary &unary,
		     const std::string &name, int64_t zero = 0)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	const DataType type = lowerer.storage(input);
	const Quantization in = lowerer.quantization(input), out = lowerer.quantization(output);
	const Lowerer::Table wanted{ unary, type, lowerer.range(input), lowerer.range(output), in,
				     out,   zero };
	std::string &unique = lowerer.tableName(wanted);
	LutTable table{};

	if (!unique.empty())
		return unique;
	unique = lowerer.unique(name + " table");
	if (hasExactTable(lowerer, operation)) {
		table.lut = exactTable(unary, in, out, lowerer.roundsTwice(input), zero);
	} else if (type == DataType::Half) {
		table = lowerer.take(makeLut({ .type = type,
					       .function = unary,
					       .low = curvedUpTo(unary, -1),
					       .high = curvedUpTo(unary, 1),
					       .straightOutside = true }));
	} else {
		const IntegerLimits limits = integerLimits(lowerer.range(input));
		table = lowerer.take(makeLut(
			{ LutUnit::Sdp, type, unary, in.real(static_cast<double>(limits.lowest)),
			  in.real(static_cast<double>(limits.highest)), in, out.scale }));
	}
	lowerer.graph.lut(unique, table.lut);
	return unique;
}

void lookUp(Lowerer &lowerer, const Operator &operation, const Unary &unary)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	const bool half = lowerer.storage(input) == DataType::Half;
	const std::string name = lowerer.step("look-up");
	op::Sdp sdp{ .name = name, .input = lowerer.surface(input), .output = {} };

	lowerer.support(half == (lowerer.storage(output) == DataType::Half), "types",
			"are integers on one side and float on the other");
	sdp.lut = addTable(lowerer, operation, unary, name);
	if (!half && !hasExactTable(lowerer, operation))
		sdp.converter = { -lowerer.quantization(output).zeroPoint, 1, 0 };
	sdp.output = lowerer.write(output, lowerer.cube(input));
	/* CDP's table takes the place of SDP's: it has the same form, and all cores have it. */
	if (!lowerer.core().has(Capability::SdpY)) {
		lowerer.add(op::Normalization{ .name = name,
					       .input = sdp.input,
					       .output = sdp.output,
					       .lut = sdp.lut,
					       .bypassSquareSum = true,
					       .bypassMultiply = true });
		return;
	}
	sdp.y = op::SdpUnit{ .activation = op::Activation::LookUp };
	sdp.type = lowerer.storage(output);
	lowerer.add(sdp);
}

/* A PReLU in one unit: \a slopes are the factors of negative numbers, by channel or element. */
op::SdpUnit slopeUnit(Lowerer &lowerer, const std::string &name, const Cube &shape,
		      const Elements &slopes)
{
	return { .multiply = true,
		 .activation = op::Activation::PRelu,
		 .operands = addOperands(lowerer, name + " slopes", shape, {}, slopes) };
}

/* The slopes of negative numbers, if an operator multiplies only these. */
std::optional<CubeNumbers> slopesOf(Lowerer &lowerer, const Operator &operation)
{
	const auto *unary = std::get_if<Unary>(&operation.kind);
	const uint32_t channels = lowerer.cube(operation.inputs[0]).c;

	if (isAny<PRelu>(operation.kind))
		return numbersFor(lowerer, operation.inputs[0], operation.inputs[1]);
	if (unary && unary->function == Unary::Function::LeakyRelu && unary->activation.isNone() &&
	    unary->parameter != 0)
		return CubeNumbers{ { channels, 1, 1 },
				    std::vector<double>(channels, unary->parameter) };
	return std::nullopt;
}

/* X1 subtracts the zero point and shifts left; X2 multiplies negative numbers by their slopes. */
void leakyRelu(Lowerer &lowerer, const Operator &operation, const CubeNumbers &slopes)
{
	constexpr int mostBits = 14;
	constexpr double leastGain = 0x1p-23; /* zero point / gain fits the converter's offset */
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	const std::string name = lowerer.step("leaky ReLU");
	op::Sdp sdp{ .name = name, .input = lowerer.surface(input), .output = {} };

	if (lowerer.storage(input) == DataType::Half) {
		sdp.x1 = slopeUnit(lowerer, name, slopes.shape, lowerer.halves(slopes.numbers));
	} else {
		const Quantization in = lowerer.quantization(input);
		const Quantization out = lowerer.quantization(output);
		/* The limit changes no result: with such a ratio every number but 0 saturates. */
		const double ratio = std::min(in.scale / out.scale, std::ldexp(1, mostBits));
		const int fineBits = std::clamp(std::ilogb(ratio / leastGain), 0, mostBits);
		const double gain = std::max(std::ldexp(ratio, -fineBits), leastGain);
		const SdpMultipliers multipliers = lowerer.take(sdpMultipliers(slopes.numbers));
		sdp.x1 = op::SdpUnit{ .alu = op::Alu::Sum,
				      .multiply = true,
				      .aluOperand = -in.zeroPoint,
				      .mulOperand = 1 << fineBits };
		sdp.x2 = slopeUnit(lowerer, name, slopes.shape,
				   Elements::of(std::span(multipliers.operands)));
		sdp.x2->shift = multipliers.shift;
		sdp.converter = lowerer.take(makeConverter(-out.zeroPoint / gain, gain));
	}
	sdp.type = lowerer.storage(output);
	/* 8-bit numbers that are stored in 16 bits are clamped to the range of 8 bits. */
	addClamped(lowerer, sdp, Clamp{},
		   lowerer.writing(lowerer.write(output, lowerer.cube(input)), output));
}

/* Adds a CPU step for the function; input and output may have any types. */
void computeOnCpu(Lowerer &lowerer, const Operator &operation, const Unary &unary,
		  const std::string &why)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	const Quantization in = lowerer.quantization(input), out = lowerer.quantization(output);
	const auto zero = static_cast<float>(-in.scale * in.zeroPoint);
	const std::string name = lowerer.step(elementFunction(unary.function).name);

	needOwnStorage(lowerer, output);
	lowerer.support(unary.inner == Unary::Function::Identity || zero == 0, "input",
			"has a zero point, and goes through two functions");
	lowerer.onCpu(why);
	const op::Unary step{ .name = name,
			      .input = lowerer.surface(input),
			      .output = {},
			      .function = unary.function,
			      .parameter = static_cast<float>(unary.parameter),
			      .scale = static_cast<float>(unary.scale),
			      .shift = static_cast<float>(unary.shift + unary.scale * zero),
			      .inScale = static_cast<float>(in.scale),
			      .outScale = static_cast<float>(out.scale),
			      .outZero = out.zeroPoint,
			      .type = lowerer.storage(output),
			      .inner = unary.inner };
	addClamped(lowerer, step, unary.activation,
		   lowerer.writing(lowerer.write(output, lowerer.cube(input)), output));
}

/* Converts type or quantization, or only clamps. */
void convert(Lowerer &lowerer, const Operator &operation, const Unary &unary)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];

	if ((lowerer.storage(input) == DataType::Half) !=
	    (lowerer.storage(output) == DataType::Half)) {
		computeOnCpu(lowerer, operation, unary,
			     "the core computes in integers or in FP16, and converts neither into "
			     "the other");
		return;
	}
	lowerer.turn("convert", input, lowerer.write(output, lowerer.cube(input)), output,
		     unary.activation);
}

/*
 * A PReLU whose results equal TFLite's. TFLite rounds positive numbers twice. That changes results
 * if an output step is more than two input steps: a separate ReLU computes these numbers. Negative
 * numbers are rounded with more bits: X2 computes them, and Y adds the ReLU's result.
 */
void bothSides(Lowerer &lowerer, const Operator &operation, const CubeNumbers &slopes, double ratio)
{
	constexpr int mostBits = 12;
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	const Quantization in = lowerer.quantization(input), out = lowerer.quantization(output);
	const Cube cube = lowerer.cube(input);
	const std::string name = lowerer.step("leaky ReLU");
	const std::string positive = lowerer.intermediate(name + " positive", DataType::Int8, cube);
	double largest = 0;

	lowerer.turn("ReLU", input, positive, output, { .low = 0 });
	for (const double slope : slopes.numbers)
		largest = std::max(largest, std::fabs(slope) * ratio);
	const int bits = std::clamp(13 - std::ilogb(largest), 0, mostBits);
	std::vector<double> factors = slopes.numbers;
	for (double &factor : factors)
		factor = std::ldexp(factor * ratio, bits);
	const SdpMultipliers multipliers = lowerer.take(sdpMultipliers(factors));
	op::Sdp sdp{ .name = name, .input = lowerer.surface(input), .output = {} };
	sdp.x1 = op::SdpUnit{ .alu = op::Alu::Min, .aluOperand = in.zeroPoint };
	const std::vector zeros(slopes.numbers.size(), static_cast<int16_t>(-in.zeroPoint));
	sdp.x2 = op::SdpUnit{ .alu = op::Alu::Sum,
			      .multiply = true,
			      .operands = addOperands(lowerer, name + " slopes", slopes.shape,
						      Elements::of(zeros),
						      Elements::of(multipliers.operands)),
			      .shift = multipliers.shift };
	sdp.y = op::SdpUnit{ .alu = op::Alu::Sum,
			     .operands = positive,
			     .aluConverter = Converter{ out.zeroPoint,
							static_cast<int16_t>(1 << bits), 0 } };
	sdp.converter = { -(out.zeroPoint * (1 << bits)), 1, static_cast<uint8_t>(bits) };
	sdp.type = DataType::Int8;
	sdp.output = lowerer.write(output, cube);
	lowerer.add(sdp);
}

/* Squares floats by a product: tables continue as straight lines, but a square bends everywhere. */
void square(Lowerer &lowerer, const Operator &operation, const Unary &unary)
{
	const Elementwise product{ Elementwise::Function::Multiply, unary.activation };
	Operator twice = operation;

	twice.kind = product;
	twice.inputs.assign(2, operation.inputs[0]);
	lower(lowerer, twice, product);
}

} /* namespace */

void lower(Lowerer &lowerer, const Operator &operation, const Unary &unary)
{
	/* X1 and X2 round a leaky ReLU once; a table can hold results that are rounded twice. */
	const bool roundsTwice = lowerer.roundsTwice(operation.inputs[0]);
	const auto slopes = slopesOf(lowerer, operation);

	if (unary.function == Unary::Function::Identity)
		convert(lowerer, operation, unary);
	else if (slopes && !(roundsTwice && hasExactTable(lowerer, operation)))
		leakyRelu(lowerer, operation, *slopes);
	else if (unary.function == Unary::Function::Square &&
		 lowerer.storage(operation.inputs[0]) == DataType::Half)
		square(lowerer, operation, unary);
	else if (elementFunction(unary.function).hasTables || hasExactTable(lowerer, operation))
		lookUp(lowerer, operation, unary);
	else
		computeOnCpu(lowerer, operation, unary,
			     "no table is exact enough for this function in more than 8 bits");
}

void lower(Lowerer &lowerer, const Operator &operation, const PRelu &)
{
	const ValueId input = operation.inputs[0];
	lowerer.makeNatural(input);
	const CubeNumbers slopes = numbersFor(lowerer, input, operation.inputs[1]);
	/* With a smaller ratio, even 255 steps of the input are less than half an output step. */
	constexpr double leastRatio = 0x1p-9;
	const double ratio = lowerer.quantization(input).scale /
			     lowerer.quantization(operation.outputs[0]).scale;
	const bool rounds = lowerer.roundsTwice(input) && lowerer.is8Bits(operation.outputs[0]);
	/* Slopes that are all 0 leave the multipliers without a scale. */
	if (std::ranges::all_of(slopes.numbers, [](double slope) { return slope == 0; }))
		convert(lowerer, operation, { .activation = { .low = 0 } });
	else if (rounds && ratio < 0.5 && ratio >= leastRatio &&
		 lowerer.core().has(Capability::SdpY))
		bothSides(lowerer, operation, slopes, ratio);
	else
		leakyRelu(lowerer, operation, slopes);
}

const Operator *functionBehind(const Lowerer &lowerer, ValueId input, const Cube &cube,
			       const Affine &affine)
{
	const Operator *behind = lowerer.onlyReader();
	const auto *unary = behind ? std::get_if<Unary>(&behind->kind) : nullptr;

	if (!behind ||
	    !(unary ? unary->function != Unary::Function::Identity : isAny<PRelu>(behind->kind)) ||
	    !lowerer.core().has(Capability::SdpY) || lowerer.cube(behind->inputs[0]) != cube)
		return nullptr;
	const ValueId result = behind->inputs[0], output = behind->outputs[0];
	const bool inHalf = lowerer.storage(input) == DataType::Half &&
			    lowerer.storage(output) == DataType::Half && lowerer.foldsFloats() &&
			    fitsOneUnit(affine) &&
			    (!unary || (unary->function != Unary::Function::Square &&
					elementFunction(unary->function).hasTables));
	const bool inBytes = unary && lowerer.storage(input) == DataType::Int8 &&
			     lowerer.is8Bits(result) && lowerer.is8Bits(output) &&
			     !lowerer.roundsTwice(result);
	return inHalf || inBytes ? behind : nullptr;
}

void applyFunction(Lowerer &lowerer, const Operator &behind, Lowerer::Stage &stage)
{
	const auto slopes = stage.from == DataType::Half ? slopesOf(lowerer, behind) : std::nullopt;

	if (slopes)
		stage.slopes = slopeUnit(lowerer, stage.name, slopes->shape,
					 lowerer.halves(slopes->numbers));
	else
		stage.table = addTable(lowerer, behind, std::get<Unary>(behind.kind), stage.name,
				       lowerer.quantization(behind.inputs[0]).zeroPoint);
	lowerer.fuse(behind, stage.name);
}

} /* namespace nvdla::compiler */
