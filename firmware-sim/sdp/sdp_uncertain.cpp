/* SPDX-License-Identifier: MIT */
#include "sdp/sdp_uncertain.h"

#include <utility>

#include "sdp/sdp_datapath.h"
#include "sdp/sdp_operands.h"

namespace nvdla::sim
{

namespace
{

/** \return an operand of the number at \a place, which is that of its channel \a lane or its own */
int32_t operandAt(const SdpOperandRun &run, size_t place, size_t lane)
{
	return run.data ? run.data[run.atomStride ? place : lane] : 0;
}

} /* namespace */

SdpPicked::SdpPicked(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes)
	: op_(op), stages_(stages), lanes_(lanes)
{
}

void SdpPicked::add(size_t place, int32_t number, int16_t element)
{
	const size_t lane = place & (lanes_ - 1);
	Operands *operands = operands_;

	numbers_[count_] = number;
	for (const SdpStageRun &run : stages_) {
		operands->alu[count_] =
			run.aluBytes ? sdpIntegerOperand(*run.stage, run.isY, true, element)
				     : operandAt(run.alu, place, lane);
		operands->mul[count_] = operandAt(run.mul, place, lane);
		operands++;
	}
	count_++;
}

/* With the first number, whose operands are there as well. */
void SdpPicked::fillAtoms()
{
	for (size_t i = count_; i % lanes_; i++) {
		numbers_[i] = numbers_[0];
		for (Operands &operands : std::span(operands_).first(stages_.size())) {
			operands.alu[i] = operands.alu[0];
			operands.mul[i] = operands.mul[0];
		}
	}
}

std::span<const int32_t> SdpPicked::compute()
{
	/* Whole atoms in vectors take as long as some numbers one by one. */
	const bool few = count_ <= kFew;
	const size_t lanes = few ? 1 : lanes_;
	if (!few)
		fillAtoms();
	const size_t count = std::exchange(count_, 0);
	const std::span values = std::span(numbers_).first((count + lanes - 1) / lanes * lanes);
	SdpStageRun runs[kMostStages];
	SdpCounters none; /* nothing saturates */

	for (size_t i = 0; i < stages_.size(); i++)
		runs[i] = { .stage = stages_[i].stage,
			    .isY = stages_[i].isY,
			    .alu = { operands_[i].alu, lanes },
			    .mul = { operands_[i].mul, lanes } };
	const std::span stages = std::span(runs).first(stages_.size());
	if (few || !applySdpFast(stages, lanes, values, values))
		for (const SdpStageRun &run : stages)
			(run.isY ? applySdpY : applySdpX)(*run.stage, op_.proc, values, lanes,
							  run.alu, run.mul);
	if (few || !convertSdpOutputFast(op_, values, none))
		convertSdpOutput(op_, values, none);
	return values.first(count);
}

} /* namespace nvdla::sim */
