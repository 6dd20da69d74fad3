/* SPDX-License-Identifier: MIT */
/*
 * Element-wise functions of integers on cores whose SDP has no unit Y: X1 prepares the stream, X2
 * reads the operand, which has no converter there.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nvdla/converter.h>
#include <nvdla/rounding.h>

#include "sdp.h"

namespace nvdla::compiler
{

namespace
{

/* The operand times a power of two stays within 28 bits, and the stream's factor within 16. */
constexpr int mostShift = 20;
constexpr int streamBits = 14;

/* gain * (factor * stream + 2^shift * operand), and how far off that is in steps of the output. */
struct Sum {
	Meeting meeting;
	double factor = 0;
	int shift = 0;
	double gain = 0;
	double error = HUGE_VAL;
};

/* A larger shift leaves the factor more bits, and the converter's scale fewer. */
Sum sumOf(const Lowerer &lowerer, const Meeting &meeting, const Quantization &out)
{
	constexpr int triedShifts = 8;
	const double stream = lowerer.quantization(meeting.stream).scale / out.scale;
	const double operand = lowerer.quantization(meeting.operand).scale / out.scale;
	const int most = std::clamp(streamBits - std::ilogb(stream / operand), 0, mostShift);
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

/* Of two tensors of one shape, takes the one as operand that gives the smaller error. */
Sum nearestSum(const Lowerer &lowerer, const Meeting &meeting, const Quantization &out)
{
	const Meeting other{ meeting.operand, meeting.stream, !meeting.turned };
	const Sum one = sumOf(lowerer, meeting, out);

	if (lowerer.cube(meeting.stream) != lowerer.cube(meeting.operand))
		return one;
	const Sum turned = sumOf(lowerer, other, out);
	return turned.error < one.error ? turned : one;
}

/* X1 and X2 compute the negative of a difference whose operand is subtracted. */
op::Sdp sum(Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting,
	    ValueId output, bool relu)
{
	const Quantization out = lowerer.quantization(output);
	const Sum sum = nearestSum(lowerer, meeting, out);
	const Quantization stream = lowerer.quantization(sum.meeting.stream);
	const Quantization operand = lowerer.quantization(sum.meeting.operand);
	const bool subtracts = elementwise.function == Elementwise::Function::Subtract;
	const double gain = subtracts && !sum.meeting.turned ? -sum.gain : sum.gain;
	op::Sdp sdp{ .name = {}, .input = lowerer.surface(sum.meeting.stream), .output = {} };

	lowerer.need(sum.error < HUGE_VAL, "scales",
		     "of the inputs are too far from that of the output");
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

/* X2 multiplies by the operand as stored, so the operand's zero point has to be 0. */
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

	lowerer.need(operand.zeroPoint == 0, "inputs",
		     fmt::format("have zero points, of which SDP takes one away; the other is "
				 "for its unit Y, which {} has not; quantize one input "
				 "symmetrically",
				 lowerer.core().name));
	op::SdpUnit &x =
		sdp.x1.emplace(op::SdpUnit{ .alu = op::Alu::Sum, .aluOperand = -stream.zeroPoint });
	const double gain = splitGain(stream.scale * operand.scale / out.scale, DataType::Int8, x);
	sdp.x2 = op::SdpUnit{ .multiply = true, .operands = lowerer.surface(meeting.operand) };
	sdp.converter = lowerer.take(makeConverter(-out.zeroPoint / gain, gain));
	return sdp;
}

/* Maximum or minimum of both inputs in steps of the output, which keep their order. */
op::Sdp extreme(Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting,
		ValueId output)
{
	const std::string operand = inStepsOf(lowerer, meeting.operand, output);

	return { .name = {},
		 .input = inStepsOf(lowerer, meeting.stream, output),
		 .output = {},
		 .x1 = op::SdpUnit{ .alu = elementwise.function == Elementwise::Function::Maximum
						   ? op::Alu::Max
						   : op::Alu::Min,
				    .operands = operand } };
}

} /* namespace */

op::Sdp integerSdpWithoutY(Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting,
			   ValueId output, bool relu)
{
	switch (elementwise.function) {
	case Elementwise::Function::Multiply:
		return product(lowerer, meeting, output);
	case Elementwise::Function::Maximum:
	case Elementwise::Function::Minimum:
		return extreme(lowerer, elementwise, meeting, output);
	default:
		return sum(lowerer, elementwise, meeting, output, relu);
	}
}

} /* namespace nvdla::compiler */
