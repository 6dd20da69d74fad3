/* SPDX-License-Identifier: MIT */
/*
 * Affine functions and clamps on SDP.
 */
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/core.h>
#include <nvdla/converter.h>

#include "base/number/half_range.h"
#include "compiler/ir/walk.h"
#include "sdp.h"

namespace nvdla::compiler
{

namespace
{

int32_t floatBits(double number)
{
	return static_cast<int32_t>(std::bit_cast<uint32_t>(static_cast<float>(number)));
}

double largestOf(const std::vector<double> &numbers)
{
	double largest = 0;

	for (const double number : numbers)
		largest = std::max(largest, std::fabs(number));
	return largest;
}

std::vector<double> timesPower(std::vector<double> numbers, int power)
{
	for (double &number : numbers)
		number = std::ldexp(number, power);
	return numbers;
}

op::SdpUnit &unitAt(std::optional<op::SdpUnit> &unit)
{
	return unit ? *unit : unit.emplace();
}

/*
 * Powers of two that bring operands into FP16's range: x and the summands are multiplied by
 * 2^input first, the factor by 2^-(input + output), and unit Y multiplies by 2^output.
 */
struct HalfPowers {
	int input = 0;
	int output = 0;

	bool none() const { return input == 0 && output == 0; }
};

HalfPowers halfPowers(const Affine &function)
{
	const double sum = largestOf(function.bias), factor = largestOf(function.scale);
	HalfPowers powers;

	while (std::ldexp(sum, powers.input) > largestHalf && powers.input > -24)
		powers.input--;
	const double left = std::ldexp(factor, -powers.input);
	if (left > largestHalf || (left > 0 && left < smallestNormalHalf))
		powers.output = std::ilogb(left);
	return powers;
}

void lookUp(op::Sdp &sdp, const std::string &table)
{
	if (table.empty())
		return;
	sdp.y = op::SdpUnit{ .activation = op::Activation::LookUp };
	sdp.lut = table;
}

/* Returns unit Y for the second rounding, if scaling has one, and for a limit, if alu is given. */
op::SdpUnit lastUnit(Lowerer &lowerer, const std::string &name, const Cube &shape,
		     const ChannelScaling::Unit &scaling, std::optional<op::Alu> alu, int64_t limit)
{
	op::SdpUnit unit{ .alu = alu };

	if (scaling.multiply.empty()) {
		unit.aluOperand = static_cast<int32_t>(limit);
		return unit;
	}
	const std::vector limits(scaling.multiply.size(), static_cast<int16_t>(limit));
	unit.multiply = true;
	unit.operands = addOperands(lowerer, name + " power", shape,
				    alu ? Elements::of(limits) : Elements{},
				    Elements::of(scaling.multiply));
	unit.shift = scaling.shift;
	return unit;
}

/* SDP converts INT16 to INT8 only from memory: write 16 bits first, then narrow them. */
void narrow(Lowerer &lowerer, const Lowerer::Stage &stage, const Affine &function)
{
	Lowerer::Stage wide = stage;

	wide.to = DataType::Int16;
	wide.output = lowerer.intermediate(stage.name + " in 16 bits", wide.to, stage.cube);
	lowerer.affine(wide, function);
	lowerer.add(op::Sdp{ .name = lowerer.step("narrow"),
			     .input = wide.output,
			     .output = stage.output,
			     .type = DataType::Int8 });
}

/* If HalfPowers take a unit, none is left for a lower limit other than 0: add another operation. */
void affineOfHalves(Lowerer &lowerer, const Lowerer::Stage &stage, Affine function)
{
	const double low = function.activation.low;
	const bool fits = fitsOneUnit(function) || low == 0 || !std::isfinite(low);
	const Clamp activation = function.activation;

	if (!fits)
		function.activation = {};
	addClamped(lowerer, halfAffine(lowerer, stage, function), activation, stage, !fits);
}

/* The limits as integers after requantization by unit Y, which keeps the integers' order. */
IntegerClamp requantized(const IntegerClamp &clamp, const Requantization &behind)
{
	const IntegerLimits limits = integerLimits(DataType::Int8);
	const int64_t low = behind(clamp.low), high = behind(clamp.high);

	return { low, high, low > limits.lowest, high < limits.highest };
}

} /* namespace */

CubeNumbers numbersFor(Lowerer &lowerer, ValueId x, ValueId constant)
{
	const Value &value = lowerer.value(constant);
	const Cube cube = lowerer.cube(x), given = naturalCube(value.shape);
	const bool perChannel = given.h == 1 && given.w == 1;
	const auto fits = [](uint32_t one, uint32_t whole) { return one == 1 || one == whole; };
	const std::vector<double> numbers = realNumbers(value);
	CubeNumbers met{ perChannel ? Cube{ cube.c, 1, 1 } : cube, {} };

	lowerer.support(fits(given.c, cube.c) && fits(given.h, cube.h) && fits(given.w, cube.w) &&
				given.elements() == numbers.size(),
			"input",
			fmt::format("is a constant of {} for {}; each of its axes has to have "
				    "one element or as many",
				    toString(value.shape), toString(lowerer.value(x).shape)));
	lowerer.needRoom(met.shape.elements());
	const size_t stepC = given.c > 1, stepH = given.h > 1 ? size_t{ given.w } * given.c : 0;
	const Walk walk{ { met.shape.c, met.shape.h, met.shape.w },
			 { stepC, stepH, given.w > 1 ? size_t{ given.c } : 0 } };
	for (size_t i = 0; i < met.shape.elements(); i++)
		met.numbers.push_back(numbers[walk(i)]);
	return met;
}

std::string addOperands(Lowerer &lowerer, const std::string &name, const Cube &shape, Elements alu,
			Elements mul)
{
	const std::string unique = lowerer.unique(name);

	lowerer.graph.operands({ .name = unique,
				 .c = shape.c,
				 .h = shape.h,
				 .w = shape.w,
				 .alu = std::move(alu),
				 .mul = std::move(mul) });
	return unique;
}

bool fitsOneUnit(const Affine &function)
{
	return halfPowers(function).none();
}

op::Sdp halfAffine(Lowerer &lowerer, const Lowerer::Stage &stage, const Affine &function)
{
	op::Sdp sdp{ .name = stage.name, .input = stage.input, .output = stage.output };
	const Clamp &clamp = function.activation;
	const HalfPowers powers = halfPowers(function);
	const bool adds = std::ranges::any_of(function.bias, [](double one) { return one != 0; });
	const bool multiplies =
		!powers.none() ||
		std::ranges::any_of(function.scale, [](double one) { return one != 1; });

	if (adds || multiplies) {
		Elements sums, factors;
		if (adds)
			sums = lowerer.halves(timesPower(function.bias, powers.input));
		if (multiplies)
			factors = lowerer.halves(
				timesPower(function.scale, -(powers.input + powers.output)));
		op::SdpUnit unit{ .multiply = multiplies,
				  .operands = addOperands(lowerer, stage.name + " operands",
							  function.shape, std::move(sums),
							  std::move(factors)) };
		if (adds)
			unit.alu = op::Alu::Sum;
		(powers.input ? sdp.x2 : sdp.x1) = unit;
	}
	if (powers.input)
		sdp.x1 = op::SdpUnit{ .multiply = true,
				      .mulOperand = lowerer.half(std::ldexp(1, powers.input)) };
	if (powers.output)
		sdp.y = op::SdpUnit{ .multiply = true,
				     .mulOperand = floatBits(std::ldexp(1, powers.output)) };
	if (clamp.low == 0)
		unitAt(sdp.x2).activation = op::Activation::Relu;
	else if (std::isfinite(clamp.low)) /* X2 is free: see affineOfHalves() */
		sdp.x2 = op::SdpUnit{ .alu = op::Alu::Max, .aluOperand = lowerer.half(clamp.low) };
	if (std::isfinite(clamp.high)) {
		unitAt(sdp.y).alu = op::Alu::Min;
		sdp.y->aluOperand = floatBits(clamp.high);
	}
	if (stage.slopes)
		sdp.x2 = stage.slopes;
	lookUp(sdp, stage.table);
	return sdp;
}

op::SdpUnit unitOf(Lowerer &lowerer, const std::string &name, const Cube &shape,
		   const ChannelScaling::Unit &scaling)
{
	return { .alu = op::Alu::Sum,
		 .multiply = true,
		 .operands = addOperands(lowerer, name, shape, Elements::of(scaling.add),
					 Elements::of(scaling.multiply)),
		 .aluShift = scaling.addShift,
		 .shift = scaling.shift };
}

IntegerClamp clampOf(const Clamp &activation, const Lowerer::Stage &stage)
{
	const IntegerLimits own = integerLimits(stage.range), stored = integerLimits(stage.to);
	auto toInteger = [&](double real, int64_t unlimited) {
		return std::isfinite(real) ? stage.result.quantize(real, own) : unlimited;
	};
	const int64_t low = toInteger(activation.low, own.lowest);
	const int64_t high = toInteger(activation.high, own.highest);

	return { low, high, low > stored.lowest, high < stored.highest };
}

/*
 * X2 rounds the convolution's result, and Y requantizes it for the concatenation. Y can apply only
 * one limit: this suffices if the result has no further limits but a ReLU, which X2 applies.
 */
std::optional<Requantization> Lowerer::requantizedBehind(const Operator &writer,
							 ValueId concatenated) const
{
	const ValueId result = writer.outputs.front();
	const auto *conv = std::get_if<Convolution>(&writer.kind);

	if (!conv || !core_.has(Capability::SdpY) ||
	    model_.roundingOf8Bits != ScaleRounding::Once || !is8Bits(result) ||
	    !is8Bits(concatenated) || storage(writer.inputs.front()) != DataType::Int8)
		return std::nullopt;
	const auto behind = requantization(quantization(result), quantization(concatenated));
	if (!behind)
		return std::nullopt;
	const IntegerClamp clamp =
		requantized(clampOf(conv->activation, writing({}, result)), *behind);
	const bool cutsLow = clamp.cutsLow && clamp.low != behind->to.zeroPoint;
	return cutsLow && clamp.cutsHigh ? std::nullopt : behind;
}

Lowerer::Stage Lowerer::writing(const std::string &surface, ValueId result) const
{
	const auto behind = requantized_.find(result);

	return { .output = surface,
		 .to = storage(result),
		 .result = quantization(result),
		 .range = range(result),
		 .cube = cube(result),
		 .behind = behind == requantized_.end() ? std::nullopt
							: std::optional(behind->second) };
}

Lowerer::Stage Lowerer::stage(const std::string &what, ValueId input, const std::string &surface,
			      ValueId result)
{
	Stage stage = writing(surface, result);

	stage.name = step(what);
	stage.input = surfaces_[input];
	stage.from = storage(input);
	return stage;
}

void Lowerer::turn(const std::string &what, ValueId from, const std::string &surface, ValueId to,
		   const Clamp &activation)
{
	const Quantization in = quantization(from), out = quantization(to);
	const uint32_t channels = cube(from).c;
	/* The limit of 2^-30 changes no result: smaller scales make only zeros, too. */
	const double scale = std::max(in.scale / out.scale, 0x1p-30);

	affine(stage(what, from, surface, to), { std::vector<double>(channels, scale),
						 std::vector<double>(channels, -in.zeroPoint),
						 { channels, 1, 1 },
						 activation });
}

void Lowerer::affine(const Stage &stage, const Affine &function)
{
	if (stage.from == DataType::Half) {
		affineOfHalves(*this, stage, function);
		return;
	}
	if (stage.stream && stage.from == DataType::Int16 && stage.to == DataType::Int8) {
		narrow(*this, stage, function);
		return;
	}
	ScaleRounding rounding = stage.range == DataType::Int8 && !stage.keepsZero
					 ? model_.roundingOf8Bits
					 : ScaleRounding::Once;
	const bool hasY = core_.has(Capability::SdpY);
	int64_t zero = stage.keepsZero || !stage.table.empty() ? 0 : stage.result.zeroPoint;
	/* Clamp 8-bit numbers in 16 bits to 8 bits: the network was trained with that range. */
	IntegerClamp clamp = clampOf(function.activation, stage);
	if (rounding == ScaleRounding::Twice && !hasY)
		rounding = clamp.low >= zero ? ScaleRounding::TwiceIfPositive : ScaleRounding::Once;
	ChannelScaling scaling =
		take(scaleChannels(function.scale, function.bias, rounding,
				   static_cast<unsigned>(8 * nvdla::elementBytes(stage.range)),
				   function.firstBits, function.largest));
	if (stage.behind) {
		zero = stage.behind->to.zeroPoint;
		clamp = requantized(clamp, *stage.behind);
		scaling.y = { {},
			      std::vector(function.scale.size(), stage.behind->multiply),
			      0,
			      stage.behind->shift };
	}
	op::Sdp sdp{ .name = stage.name, .input = stage.input, .output = stage.output };
	sdp.x1 = unitOf(*this, stage.name + " coarse", function.shape, scaling.x1);
	sdp.x2 = unitOf(*this, stage.name + " fine", function.shape, scaling.x2);
	sdp.converter = { static_cast<int32_t>(-zero), 1, 0 };
	sdp.type = stage.to;
	/* Unit Y applies one limit; a lower limit at the zero point is X2's ReLU. */
	const bool relu = clamp.cutsLow && clamp.low == zero;
	if (relu)
		sdp.x2->activation = op::Activation::Relu;
	const int limited = (clamp.cutsHigh ? 1 : 0) + (clamp.cutsLow && !relu ? 1 : 0);
	std::optional<op::Alu> limit;
	if (hasY && limited)
		limit = clamp.cutsHigh ? op::Alu::Min : op::Alu::Max;
	if (limit || !scaling.y.multiply.empty())
		sdp.y = lastUnit(*this, stage.name, function.shape, scaling.y, limit,
				 limit ? (clamp.cutsHigh ? clamp.high : clamp.low) - zero : 0);
	lookUp(sdp, stage.table);
	addClamped(*this, sdp, function.activation, stage, limited > (hasY ? 1 : 0));
}

void needOwnStorage(const Lowerer &lowerer, ValueId output)
{
	lowerer.support(
		lowerer.storage(output) == lowerer.range(output), "types",
		"are 8 bits held in 16, for kernels that do not fit 8 bits without their zero "
		"point; quantize the kernels symmetrically");
}

void addClamped(Lowerer &lowerer, op::Any operation, const Clamp &activation, Lowerer::Stage result,
		bool isLeft)
{
	const bool half = result.to == DataType::Half;
	const IntegerClamp clamp = half ? IntegerClamp{} : clampOf(activation, result);
	const bool adds = isLeft && !(half ? activation.isNone() : clamp.isNone());
	result.input = adds ? lowerer.intermediate(operationName(operation) + " raw", result.to,
						   result.cube)
			    : result.output;
	std::visit(
		[&](auto &one) {
			if constexpr (requires { one.output; })
				one.output = result.input;
		},
		operation);
	lowerer.add(std::move(operation));
	if (!adds)
		return;
	result.name = lowerer.step("clamp");
	if (half)
		lowerer.add(halfAffine(lowerer, result,
				       { { 1 }, { 0 }, { result.cube.c, 1, 1 }, activation }));
	else
		lowerer.add(op::Sdp{
			.name = result.name,
			.input = result.input,
			.output = result.output,
			.x1 = op::SdpUnit{ .alu = op::Alu::Max,
					   .aluOperand = static_cast<int32_t>(clamp.low) },
			.x2 = op::SdpUnit{ .alu = op::Alu::Min,
					   .aluOperand = static_cast<int32_t>(clamp.high) } });
}

} /* namespace nvdla::compiler */
