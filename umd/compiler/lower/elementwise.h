/* SPDX-License-Identifier: MIT */
/*
 * Lowering of element-wise functions of two tensors to SDP.
 */
#pragma once

#include "lowerer.h"

namespace nvdla::compiler
{

/** \brief Two computed inputs: one flows through SDP, the other one is its operand */
struct Meeting {
	ValueId stream;
	ValueId operand;
	bool turned; /**< the operand is the operator's first input */
};

/**
 * \brief Choose the stream of two computed inputs: the one of the output's shape
 *
 * The operand has that shape, too, or one number for each channel.
 */
Meeting meet(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise);

/** \brief Lower a quotient of two computed tensors */
void divide(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise);

/** \brief Clamp of an activation after a sum of integers */
struct SumClamp {
	Lowerer::Clamped limits;
	bool isNone; /**< saturation to the type suffices */
	bool isRelu; /**< the clamp is only a ReLU */
};

SumClamp clampOf(const Lowerer &lowerer, const Clamp &activation, ValueId output);

/**
 * \brief An element-wise function of integers
 *
 * X1 computes (s - zs) * fs of the stream, and Y applies the function to it and (o - zo) * fo of
 * the operand; the factors bring both to one scale. The output converter applies the remaining
 * factor. The caller sets name and output.
 *
 * \param[in] relu the sum's clamp is a ReLU: X2 adds, if it can, and applies it
 */
op::Sdp integerSdp(Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting,
		   ValueId output, bool relu);

/** \brief integerSdp() for a core whose SDP has no unit Y */
op::Sdp integerSdpWithoutY(Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting,
			   ValueId output, bool relu);

/**
 * \brief Split a product's gain into X1's factor, a power of two, and the converter's factor
 *
 * With a small converter factor, the zero point, which is the converter's offset, has bits behind
 * the point. A gain beyond the largest factor saturates every product but 0; a gain with which no
 * product reaches one step becomes 0.
 */
double splitGain(double gain, DataType type, op::SdpUnit &x);

/** \return a surface that holds the integers of \a id in the quantization of \a output */
std::string inStepsOf(Lowerer &lowerer, ValueId id, ValueId output);

} /* namespace nvdla::compiler */
