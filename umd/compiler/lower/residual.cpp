/* SPDX-License-Identifier: MIT */
/*
 * Sums of a convolution's result and another tensor, in the SDP operation behind the convolution.
 */
#include <cmath>

#include <nvdla/converter.h>

#include "base/number/sdp_operands.h"
#include "sdp.h"

namespace nvdla::compiler
{

namespace
{

/* One unit for the whole function; nothing if its factors or biases would be too inexact. */
std::optional<ChannelScaling::Unit> oneUnit(const Affine &function)
{
	constexpr double mostOff = 0x1p-15;   /* allowed relative error of a factor */
	constexpr double mostOfStep = 0x1p-6; /* allowed error of a bias, in steps of the output */
	const auto multipliers = sdpMultipliers(function.scale);
	ChannelScaling::Unit unit;

	if (!multipliers || multipliers->error > mostOff)
		return std::nullopt;
	unit.multiply = multipliers->operands;
	unit.shift = multipliers->shift;
	unit.addShift = toOperands(function.bias, unit.add);
	for (size_t i = 0; i < function.bias.size(); i++) {
		const double off = function.bias[i] - std::ldexp(unit.add[i], unit.addShift);
		if (std::fabs(off * function.scale[i]) > mostOfStep)
			return std::nullopt;
	}
	return unit;
}

/*
 * X1 converts the sums to the convolution's result minus the zero point. The units behind X1 add as
 * in integerSum(). X2 can add the operand unconverted, and apply a ReLU, only if both tensors have
 * the same scale and the operand's zero point is 0.
 */
void sumOfIntegers(Lowerer &lowerer, const Lowerer::Stage &stage, const Affine &function,
		   const Residual &residual)
{
	const auto x1 = oneUnit(function);
	const Elementwise add{ Elementwise::Function::Add, residual.activation };
	const Meeting meeting{ residual.stream, residual.operand, false };
	op::Sdp sdp = integerSum(lowerer, add, meeting, residual.output);
	const bool addsAsItIs = sdp.x2 && sdp.x1->mulOperand == 1 << sdp.x2->aluShift;

	if (addsAsItIs) {
		const double gain =
			lowerer.quantization(residual.operand).scale / stage.result.scale;
		sdp.x2->aluShift = 0;
		sdp.converter = lowerer.take(makeConverter(-stage.result.zeroPoint / gain, gain));
	} else {
		sdp = integerSum(lowerer, Elementwise{}, meeting, residual.output);
		const double factor =
			std::ldexp(double{ 1 } * sdp.x1->mulOperand * sdp.x2->mulOperand,
				   -sdp.x1->shift - sdp.x2->shift);
		const int shift = std::max(14 - std::ilogb(std::max(factor, 0x1p-33)), 0);
		const int64_t operand = operandLimits.saturate(std::ldexp(factor, shift));
		sdp.x2 = op::SdpUnit{ .multiply = true,
				      .mulOperand = static_cast<int32_t>(operand),
				      .shift = static_cast<uint8_t>(shift) };
	}
	sdp.x1 = unitOf(lowerer, stage.name + " factors", function.shape, *x1);
	sdp.name = stage.name;
	sdp.input = stage.input;
	sdp.type = stage.to;
	addClamped(lowerer, sdp, residual.activation, stage, !addsAsItIs);
}

} /* namespace */

const Operator *Lowerer::onlyReader() const
{
	const ValueId result = current_->outputs.front();

	return model_.isReadOnce(result) ? &model_.operators[model_.readers(result).front()]
					 : nullptr;
}

std::optional<Residual> Lowerer::residualOf(const Cube &cube, const Affine &function) const
{
	const ValueId result = current_->outputs.front();
	const Operator *sum = onlyReader();
	const auto *elementwise = sum ? std::get_if<Elementwise>(&sum->kind) : nullptr;
	const auto isThere = [this](ValueId id) {
		const Operator *writer = model_.writer(id);
		return writer ? writer < current_ : model_.isInput(id);
	};

	if (foldSums_ == FoldSums::Never || !elementwise ||
	    elementwise->function != Elementwise::Function::Add)
		return std::nullopt;
	const Residual residual{ sum, result, sum->inputs[sum->inputs[0] == result ? 1 : 0],
				 sum->outputs.front(), elementwise->activation };
	const DataType type = storage(current_->inputs.front());
	const auto isAlike = [&](ValueId id) {
		return storage(id) == type && value(id).shape == value(result).shape;
	};
	if (!isAlike(result) || !isAlike(residual.operand) || !isAlike(residual.output) ||
	    residual.operand == result || !isThere(residual.operand) ||
	    cubes_[residual.operand] != cube)
		return std::nullopt;
	const double low = residual.activation.low;
	const bool possible = type == DataType::Half
				      ? fitsOneUnit(function) && (low == 0 || !std::isfinite(low))
				      : foldSums_ == FoldSums::Always &&
						core_.has(Capability::SdpY) &&
						oneUnit(function).has_value();
	return possible ? std::optional(residual) : std::nullopt;
}

void Lowerer::sum(const Stage &stage, Affine function, const Residual &residual)
{
	fuse(*residual.sum, stage.name);
	if (stage.from != DataType::Half) {
		sumOfIntegers(*this, stage, function, residual);
		return;
	}
	function.activation = residual.activation;
	op::Sdp sdp = halfAffine(*this, stage, function);
	/* Until now X2 applies at most a ReLU; it adds the operand before the ReLU. */
	if (!sdp.x2)
		sdp.x2.emplace();
	sdp.x2->alu = op::Alu::Sum;
	sdp.x2->operands = surface(residual.operand);
	add(sdp);
}

} /* namespace nvdla::compiler */
