/* SPDX-License-Identifier: MIT */
#include "generator.h"

#include <bit>

#include <nvdla/half.h>

namespace nvdla::test
{

std::string Generator::newLut(bool isFloat, int magnitudeBits)
{
	const std::string lut = name("lut");

	case_.constants.luts[lut] = dice_.lut(isFloat, magnitudeBits);
	case_.graph.lut(lut, case_.constants.luts[lut]);
	return lut;
}

void Generator::chooseOperands(op::SdpUnit &unit, const Known &in, DataType processing, bool isY,
			       bool constantsOnly)
{
	const auto chooseConverters = [&] {
		if (isY && processing != DataType::Half && dice_.chance(50)) {
			unit.aluConverter = dice_.converter(50, 3, 1);
			unit.mulConverter = dice_.converter(50, 3, 1);
		}
	};
	/* A surface of the same shape, for one of ALU and multiplier. */
	if (!constantsOnly && in.n == 1 && !(unit.alu && unit.multiply)) {
		for (const Known &other : known_) {
			if (other.name == in.name || other.type != processing || other.c != in.c ||
			    other.h != in.h || other.w != in.w || other.n != 1)
				continue;
			unit.operands = other.name;
			consumed_.insert(other.name);
			chooseConverters();
			return;
		}
	}
	const DataType type =
		processing == DataType::Int8 && dice_.chance(50) ? DataType::Int16 : processing;
	GraphOperands operands{ .name = name("operands"), .c = in.c };
	if (dice_.chance(30)) {
		operands.h = in.h;
		operands.w = in.w;
	}
	const size_t count = size_t{ operands.c } * operands.h * operands.w;
	if (unit.alu)
		operands.alu = dice_.elements(type, count);
	if (unit.multiply)
		operands.mul = dice_.elements(type, count);
	chooseConverters();
	case_.constants.operands[operands.name] = operands;
	unit.operands = operands.name;
	case_.graph.operands(std::move(operands));
}

/* One for the ALU and one for the multiplier, where there are two of the same shape. */
void Generator::chooseTwoSurfaces(op::SdpUnit &unit, const Known &in, DataType processing)
{
	std::vector<std::string> found;

	for (const Known &other : known_) {
		if (other.name != in.name && other.type == processing && other.c == in.c &&
		    other.h == in.h && other.w == in.w && other.n == 1)
			found.push_back(other.name);
	}
	if (!unit.alu || !unit.multiply || in.n > 1 || found.size() < 2)
		return;
	unit.operands = found.front();
	unit.mulOperands = found.back();
	consumed_.insert({ unit.operands, unit.mulOperands });
}

/* \a bits: the magnitude of what comes in; then of what goes out. */
op::SdpUnit Generator::unitFor(const Known &in, DataType processing, bool isY, bool constantsOnly,
			       int &bits)
{
	constexpr op::Alu alus[] = { op::Alu::Max, op::Alu::Min, op::Alu::Sum };
	const bool isFloat = processing == DataType::Half;
	op::SdpUnit unit;

	if (dice_.chance(25)) {
		unit.multiply = true;
		unit.activation = op::Activation::PRelu;
	} else {
		if (dice_.chance(60))
			unit.alu = alus[dice_.pick(0, 2)];
		unit.multiply = dice_.chance(40);
		if (!isY && dice_.chance(40))
			unit.activation = op::Activation::Relu;
	}
	if (!isFloat) {
		unit.shift = static_cast<uint8_t>(unit.multiply ? dice_.pick(2, 8)
						  : isY		? 0
								: dice_.pick(0, 1));
		unit.aluShift = static_cast<uint8_t>(isY ? 0 : dice_.pick(0, 4));
		if (unit.alu)
			bits = std::max(bits, 11 + unit.aluShift);
		if (unit.multiply)
			bits += 8 - unit.shift;
	}
	if ((unit.alu || unit.multiply) && dice_.chance(60)) {
		chooseOperands(unit, in, processing, isY, constantsOnly);
		return unit;
	}
	const float value = static_cast<float>(dice_.pick(-1024, 1024)) / 512;
	const float other = static_cast<float>(dice_.pick(-1024, 1024)) / 512;
	if (!isFloat) {
		unit.aluOperand = dice_.pick(-2000, 2000);
		unit.mulOperand = dice_.pick(-100, 100);
	} else if (isY) {
		unit.aluOperand = std::bit_cast<int32_t>(value);
		unit.mulOperand = std::bit_cast<int32_t>(other);
	} else {
		unit.aluOperand = floatToHalf(value);
		unit.mulOperand = floatToHalf(other);
	}
	return unit;
}

/* \a bits: about the magnitude of what comes in; approximate: it is known to a threshold only. */
op::Sdp Generator::sdpFor(const Known &in, bool stream, bool approximate, int bits)
{
	op::Sdp sdp{ .name = name("sdp"), .input = in.name, .output = name("s"), .type = in.type };

	if (in.n == 1 && !approximate && dice_.chance(35)) {
		if (in.type == DataType::Int8)
			sdp.type = DataType::Int16;
		else if (in.type == DataType::Half)
			sdp.type = DataType::Int16;
		else
			sdp.type = stream || dice_.chance(50) ? DataType::Half : DataType::Int8;
		if (!core_.has(sdp.type))
			sdp.type = in.type;
	}
	const DataType processing =
		in.type == DataType::Int16 && sdp.type == DataType::Int8 ? DataType::Int8 : in.type;
	if (dice_.chance(60))
		sdp.x1 = unitFor(in, processing, false, stream, bits);
	if (sdp.x1 && !stream)
		chooseTwoSurfaces(*sdp.x1, in, processing);
	if ((!sdp.x1 || sdp.x1->mulOperands.empty()) && dice_.chance(30))
		sdp.x2 = unitFor(in, processing, false, stream, bits);
	const bool hasY = core_.has(Capability::SdpY);
	if (hasY && dice_.chance(30))
		sdp.y = unitFor(in, processing, true, stream, bits);
	if (hasY && !approximate && dice_.chance(20)) {
		if (!sdp.y)
			sdp.y = op::SdpUnit{};
		if (sdp.y->activation == op::Activation::None) {
			sdp.y->activation = op::Activation::LookUp;
			sdp.lut = newLut(in.type == DataType::Half,
					 in.type == DataType::Half ? 2 : std::min(bits, 28));
			bits = 16;
		}
	}
	if (in.type != DataType::Half) {
		const int to = sdp.type == DataType::Int8 ? 7 : 13;
		sdp.converter = dice_.converter(100, 3, std::max(bits - to, 0));
	}
	return sdp;
}

void Generator::finishSdp(op::Sdp sdp, const Known &in, bool poolNext)
{
	Known out = in;

	out.name = sdp.output;
	out.type = sdp.type;
	out.format = PixelFormat::Feature;
	consumed_.insert(in.name);
	const std::string line =
		fmt::format("SDP{}{}{} {} -> {}", sdp.x1 ? " X1" : "", sdp.x2 ? " X2" : "",
			    sdp.y ? (sdp.lut.empty() ? " Y" : " Y LUT") : "", in.name, shape(out));
	/* What is wider than PDP's line buffer is no stream. */
	if (poolNext && sdp.type == in.type && in.n == 1 && in.w <= maxSide && room() >= 2) {
		surfaces_[out.name] = { .name = out.name, .place = Place::Stream };
		add(std::move(sdp), line);
		addPooling(out, true);
		return;
	}
	addSurface(out);
	add(std::move(sdp), line);
}

void Generator::addSdp()
{
	const Known in = choose();
	if (in.n > 1)
		return;
	const int bits = in.type == DataType::Int8 ? 7 : 13;

	finishSdp(sdpFor(in, false, false, bits), in, dice_.chance(25));
}

} /* namespace nvdla::test */
