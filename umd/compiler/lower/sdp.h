/* SPDX-License-Identifier: MIT */
/*
 * SDP's units for affine functions, and for element-wise functions of two tensors; constant
 * operands of element-wise operators.
 */
#pragma once

#include <vector>

#include "base/number/channel_scaling.h"
#include "lowerer.h"

namespace nvdla::compiler
{

/** \brief Numbers in C, H, W order: one for each channel (h and w are 1), or for each element */
struct CubeNumbers {
	Cube shape;
	std::vector<double> numbers;
};

/**
 * \brief The numbers of a constant, repeated for the cube of the computed value \a x
 *
 * All operators with a constant operand use this function, so that each accepts every shape that
 * can be broadcast. \a x is in its natural cube. The constant's last axes are lines, columns and
 * channels; each has one element or as many as that of \a x.
 */
CubeNumbers numbersFor(Lowerer &lowerer, ValueId x, ValueId constant);

/** \brief Add constants of a shape for an SDP unit's ALU and multiplier \return their name */
std::string addOperands(Lowerer &lowerer, const std::string &name, const Cube &shape, Elements alu,
			Elements mul);

/** \return true if X1 alone can compute the FP16 function: its operands are in FP16's range */
bool fitsOneUnit(const Affine &function);

/** \return an FP16 operation whose X1 adds and multiplies, and whose X2 and Y clamp, as needed */
op::Sdp halfAffine(Lowerer &lowerer, const Lowerer::Stage &stage, const Affine &function);

/**
 * \brief The function that is the only reader of a convolution's result, if the convolution's SDP
 * operation can compute the function as well
 *
 * In FP16 the convolution's result is then not rounded. With 8 bits, the function's integers are
 * the same as in an operation of its own.
 *
 * \param[in] input of the convolution
 * \param[in] cube of the convolution's result
 * \param[in] affine from the convolution's sums to its result
 * \return the operator, or nullptr
 */
const Operator *functionBehind(const Lowerer &lowerer, ValueId input, const Cube &cube,
			       const Affine &affine);
/** \brief Let \a stage compute the operator \a behind, too, which functionBehind() has found */
void applyFunction(Lowerer &lowerer, const Operator &behind, Lowerer::Stage &stage);

/** \return an X unit with the operands of \a scaling, which become constants named \a name */
op::SdpUnit unitOf(Lowerer &lowerer, const std::string &name, const Cube &shape,
		   const ChannelScaling::Unit &scaling);

/** \brief Limits of an activation, as integers within the range of their type */
struct IntegerClamp {
	int64_t low;
	int64_t high;
	bool cutsLow;  /**< low needs a clamp: it is above the lowest integer in memory */
	bool cutsHigh; /**< high needs a clamp: it is below the highest integer in memory */

	bool isNone() const { return !cutsLow && !cutsHigh; }
};

/** \return limits of the integers that \a stage writes: the activation's and the type's */
IntegerClamp clampOf(const Clamp &activation, const Lowerer::Stage &stage);

/**
 * \brief Add an operation that writes the output of \a result, and then the activation's clamp
 *
 * If saturation to the output's type does the same as the activation, no clamp is added.
 *
 * \param[in] isLeft \a operation does not apply the activation itself
 */
void addClamped(Lowerer &lowerer, op::Any operation, const Clamp &activation, Lowerer::Stage result,
		bool isLeft = true);

/** \brief Two computed inputs: one flows through SDP, the other one is its operand */
struct Meeting {
	ValueId stream;
	ValueId operand;
	bool turned; /**< the operand is the operator's first input, the stream its second */
};

/**
 * \brief Choose the stream of two computed inputs: the one of the output's shape
 *
 * The operand has that shape, too, or one number for each channel.
 */
Meeting meet(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise);

/** \brief Lower a quotient of two computed tensors */
void divide(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise);

/** \brief Refuse an output of 8-bit numbers in 16 bits: the CPU would saturate to 16 bits */
void needOwnStorage(const Lowerer &lowerer, ValueId output);

/**
 * \brief A sum or difference of integers
 *
 * X1 and X2 subtract the stream's zero point and multiply by a factor; Y does so with the operand,
 * and adds it. The factors bring both to one scale, from which the output converter converts. On a
 * core without Y, or to apply a ReLU, X2 adds the operand times a power of two instead.
 *
 * The caller applies an activation that X2 does not apply, and sets name and output.
 */
op::Sdp integerSum(Lowerer &lowerer, const Elementwise &elementwise, const Meeting &meeting,
		   ValueId output);

} /* namespace nvdla::compiler */
