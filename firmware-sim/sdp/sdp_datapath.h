/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of SDP: the stages X1, X2 and Y and the output converter, on
 * runs of atoms.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sdp/sdp_op.h"

namespace nvdla::sim
{

/**
 * \brief Operands of an ALU or multiplier for a run of atoms
 *
 * An operand has 32 bits: an integer after the ALU shifter or the converter, or the bits of an FP32
 * number. The stride counts operands from one atom to the next; 0: all atoms share the operands.
 */
struct SdpOperandRun {
	const int32_t *data = nullptr;
	size_t atomStride = 0;
};

/** \brief A stage that is not bypassed, and its operands for a run of atoms */
struct SdpStageRun {
	const SdpStage *stage;
	bool isY;
	SdpOperandRun alu; /**< used unless the ALU is bypassed */
	SdpOperandRun mul; /**< used unless the multiplier is bypassed */
};

/** \brief Counts of an operation for the statistics and status registers */
struct SdpCounters {
	LutCounters lut;
	uint32_t saturation = 0;
	uint32_t nanInput = 0;
	uint32_t infInput = 0;
	uint32_t nanOutput = 0;
	bool nonZero = false; /**< an output word or the result of a comparison was not zero */

	SdpCounters &operator+=(const SdpCounters &other)
	{
		lut += other.lut;
		saturation += other.saturation;
		nanInput += other.nanInput;
		infInput += other.infInput;
		nanOutput += other.nanOutput;
		nonZero |= other.nonZero;
		return *this;
	}
};

/**
 * \brief Apply a stage without Y's table, in place
 *
 * X: ALU, multiplier, truncation, ReLU. Y: multiplier, truncation, ALU. \a lanes values per atom;
 * values are 32-bit integers or FP32 bits.
 */
void applySdpStage(const SdpStageRun &run, Precision precision, std::span<int32_t> values,
		   size_t lanes);

/** \brief Apply the table of stage Y, in place */
void applySdpLut(const Lut &lut, Precision precision, std::span<int32_t> values,
		 LutCounters &counters);

/**
 * \brief Apply the output converter, in place
 *
 * Results are output elements: sign-extended integers, or the 16 bits of FP16
 * numbers. Counts saturated words and NaNs.
 */
void convertSdpOutput(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters);

/** \brief Clear NaNs among the FP32 bits before the stages, if the operation does so */
void clearSdpNans(const SdpOp &op, std::span<int32_t> values);

/**
 * \return a result of integer stages and the converter; counts nothing
 * \param in whole atoms, to which the operands belong
 * \param at index of the value
 */
int32_t sdpResultAt(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		    std::span<const int32_t> in, size_t at);

} /* namespace nvdla::sim */
