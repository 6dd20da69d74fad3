/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <bit>
#include <cmath>

#include <nvdla/half.h>

#include "reference.h"

namespace nvdla::test
{

namespace
{

/* The operands of one element. */
struct Pair {
	double alu = 0;
	double mul = 0;
};

/* A value on its way through SDP, and how far it may be off. */
struct Value {
	double value;
	double tolerance;
};

class Unit
{
public:
	Unit(const op::SdpUnit &unit, bool isY, bool isFloat, const Constants &constants,
	     const std::map<std::string, Cube> &surfaces)
		: unit_(unit), isY_(isY), isFloat_(isFloat)
	{
		const auto constant = constants.operands.find(unit.operands);
		if (constant != constants.operands.end()) {
			perChannel_ = constant->second.h == 1 && constant->second.w == 1;
			alu_ = numbers(constant->second.alu);
			mul_ = numbers(constant->second.mul);
		} else if (!unit.operands.empty()) {
			const Cube &surface = surfaces.at(unit.operands);
			perChannel_ = surface.h == 1 && surface.w == 1;
			(unit.alu ? alu_ : mul_) = surface.values;
		}
		if (!unit.mulOperands.empty())
			mul_ = surfaces.at(unit.mulOperands).values;
	}

	Pair operands(size_t channel, size_t element) const;
	Value integer(Value in, const Pair &operands) const;
	Value floating(Value in, const Pair &operands) const;
	bool looksUp() const { return unit_.activation == op::Activation::LookUp; }

private:
	double fromRegister(int32_t bits) const;
	double fromMemory(const std::vector<double> &values, size_t at,
			  const std::optional<Converter> &converter) const;
	double alu(double value, double operand) const;

	const op::SdpUnit &unit_;
	bool isY_;
	bool isFloat_;
	bool perChannel_ = false;
	std::vector<double> alu_;
	std::vector<double> mul_;
};

double Unit::fromRegister(int32_t bits) const
{
	if (!isFloat_)
		return bits;
	return isY_ ? std::bit_cast<float>(bits) : halfToFloat(static_cast<uint16_t>(bits));
}

double Unit::fromMemory(const std::vector<double> &values, size_t at,
			const std::optional<Converter> &converter) const
{
	if (values.empty())
		return 0;
	if (isFloat_ || !converter)
		return values[at];
	return static_cast<double>(
		saturate(convert(static_cast<int64_t>(values[at]), *converter), 32));
}

Pair Unit::operands(size_t channel, size_t element) const
{
	const size_t at = perChannel_ ? channel : element;

	if (unit_.operands.empty())
		return { fromRegister(unit_.aluOperand), fromRegister(unit_.mulOperand) };
	return { fromMemory(alu_, at, unit_.aluConverter),
		 fromMemory(mul_, at, unit_.mulConverter) };
}

double Unit::alu(double value, double operand) const
{
	switch (*unit_.alu) {
	case op::Alu::Max:
		return std::max(value, operand);
	case op::Alu::Min:
		return std::min(value, operand);
	case op::Alu::Sum:
		break;
	}
	return value + operand;
}

/*
 * X: ALU with its operand shifted left, multiplier, shift, ReLU. Y: multiplier,
 * shift, ALU with saturation. A value that PReLU leaves alone is not shifted.
 */
Value Unit::integer(Value in, const Pair &operands) const
{
	auto value = static_cast<int64_t>(in.value);
	auto multiply = [&] {
		const bool prelu = unit_.activation == op::Activation::PRelu;
		if (unit_.multiply && !(prelu && value >= 0))
			value = saturate(
				shiftRight(value * static_cast<int64_t>(operands.mul), unit_.shift),
				32);
		else if (!unit_.multiply && !isY_)
			value = saturate(shiftRight(value, unit_.shift), 32);
	};

	if (isY_)
		multiply();
	if (unit_.alu) {
		const double operand = static_cast<double>(
			isY_ ? static_cast<int64_t>(operands.alu)
			     : saturate(static_cast<int64_t>(operands.alu) << unit_.aluShift, 32));
		value = static_cast<int64_t>(alu(static_cast<double>(value), operand));
		if (isY_ || !unit_.mulOperands.empty())
			value = saturate(value, 32);
	}
	if (!isY_)
		multiply();
	if (unit_.activation == op::Activation::Relu)
		value = std::max<int64_t>(value, 0);
	return { static_cast<double>(value), 0 };
}

/* The same in FP32, each step rounded; nothing is shifted. */
Value Unit::floating(Value in, const Pair &operands) const
{
	auto multiply = [&] {
		const bool prelu = unit_.activation == op::Activation::PRelu;
		if (!unit_.multiply || (prelu && !std::signbit(in.value)))
			return;
		in.value = static_cast<float>(in.value * operands.mul);
		in.tolerance *= std::max(std::abs(operands.mul), prelu ? 1.0 : 0.0);
	};

	if (isY_)
		multiply();
	if (unit_.alu)
		in.value = static_cast<float>(alu(in.value, operands.alu));
	if (!isY_)
		multiply();
	if (unit_.activation == op::Activation::Relu)
		in.value = std::max(in.value, 0.0);
	return in;
}

/* The output converter: 17 bits, and from there to the output's type. */
double convertOutput(const Converter &converter, double value, DataType type)
{
	const int64_t wide = saturate(convert(static_cast<int64_t>(value), converter), 17);

	if (type == DataType::Half)
		return toHalf(static_cast<double>(wide));
	return static_cast<double>(saturate(wide, type == DataType::Int8 ? 8 : 16));
}

/* FP32 to FP16, and from there to INT16 with halves away from zero. */
double convertFloat(double value, DataType type)
{
	const double half = toHalf(value);

	return type == DataType::Half ? half
				      : static_cast<double>(saturate(std::llround(half), 16));
}

} /* namespace */

Cube applySdp(const op::Sdp &op, const Cube &in, DataType type, const Constants &constants,
	      const std::map<std::string, Cube> &surfaces)
{
	const bool isFloat = in.type == DataType::Half;
	Cube out = Cube::like(in, type);
	std::vector<Unit> units;

	for (const auto *unit : { &op.x1, &op.x2, &op.y }) {
		if (*unit)
			units.emplace_back(**unit, unit == &op.y, isFloat, constants, surfaces);
	}
	if (!in.tolerance.empty())
		out.tolerance.resize(out.values.size());
	const size_t plane = size_t{ in.h } * in.w;
	for (size_t i = 0; i < in.values.size(); i++) {
		const size_t element = i % (in.c * plane);
		Value value{ in.values[i], in.tolerance.empty() ? 0 : in.tolerance[i] };
		for (const Unit &unit : units) {
			const Pair operands = unit.operands(element / plane, element);
			value = isFloat ? unit.floating(value, operands)
					: unit.integer(value, operands);
			if (!unit.looksUp())
				continue;
			const Lut &lut = constants.luts.at(op.lut);
			value.value = isFloat ? lookUpFloat(lut, LutUnit::Sdp, value.value)
					      : static_cast<double>(
							lookUp(lut, LutUnit::Sdp,
							       static_cast<int64_t>(value.value)));
		}
		out.values[i] = isFloat ? convertFloat(value.value, type)
					: convertOutput(op.converter, value.value, type);
		/* 2^(exp(a) - 10) for the rounding to FP16. */
		if (!out.tolerance.empty())
			out.tolerance[i] =
				value.tolerance +
				std::ldexp(1.0, std::max(std::ilogb(std::abs(out.values[i]) + 1e-8),
							 -14) -
							10);
	}
	return out;
}

} /* namespace nvdla::test */
