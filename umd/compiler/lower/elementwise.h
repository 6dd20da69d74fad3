/* SPDX-License-Identifier: MIT */
/*
 * Two tensors that meet in SDP.
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
 * \brief Choose which of two computed inputs is the stream: the one of the output's shape
 *
 * The other one is of that shape, too, or has a number for each channel; nothing after an error.
 */
std::optional<Meeting> meet(Lowerer &lowerer, const Operator &operation,
			    const Elementwise &elementwise);

/** \brief A quotient, whose divisor is no constant */
void divide(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise);

/** \brief Clamp that an activation needs behind a sum of integers */
struct SumClamp {
	Lowerer::Clamped limits;
	bool isNone; /**< the limits of the type do it */
	bool isRelu; /**< a ReLU alone */
};

SumClamp clampOf(const Lowerer &lowerer, const Clamp &activation, ValueId output);

/**
 * \brief An element-wise function of integers
 *
 * X1 has (s - zs) * fs of the stream, Y the function with (o - zo) * fo of the operand, where the
 * factors bring both to the same scale; the output converter has the rest (precision,
 * element-wise). No name and no output yet.
 *
 * \param[in] relu of a sum: X2 is to add, if it can, and then has the ReLU
 */
op::Sdp integerSdp(Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting,
		   ValueId output, bool relu);

/** \brief The same on a core whose SDP has no unit Y */
op::Sdp integerSdpWithoutY(Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting,
			   ValueId output, bool relu);

/**
 * \brief Split a product's gain into X1's factor, a power of two, and what is left for the
 * converter
 *
 * A small gain leaves the zero point, which is the converter's offset, bits behind the point. What
 * is larger than the factor can be saturates whatever is not 0, and what no product brings to a
 * step is 0.
 */
double splitGain(double gain, DataType type, op::SdpUnit &x);

/** \return a surface that holds the integers of \a id as \a output counts them */
std::string inStepsOf(Lowerer &lowerer, ValueId id, ValueId output);

} /* namespace nvdla::compiler */
