/* SPDX-License-Identifier: MIT */
/*
 * SDP's units for affine functions, and constant operands of element-wise operators.
 */
#pragma once

#include <optional>
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

/** \return operands of shape \a shape, without elements yet */
GraphOperands operands(const std::string &name, const Cube &shape);

/** \return true if X1 alone can compute the FP16 function: its operands are in FP16's range */
bool fitsOneUnit(const Affine &function);

/** \return an FP16 operation whose X1 adds and multiplies, and whose X2 and Y clamp, as needed */
op::Sdp halfAffine(Lowerer &lowerer, const Lowerer::Stage &stage, const Affine &function);

/** \return an X unit with the operands of \a scaling, which become constants named \a name */
op::SdpUnit unitOf(Lowerer &lowerer, const std::string &name, const Cube &shape,
		   const ChannelScaling::Unit &scaling);

/**
 * \brief Output of a CPU step, followed by the clamp of the operator's activation
 *
 * If saturation to the output's type does the same as the activation, no clamp is added.
 */
class ClampBehind
{
public:
	/** \brief Describe the surfaces; \a name is the step's */
	ClampBehind(Lowerer &lowerer, const std::string &name, const Clamp &activation,
		    ValueId output);

	/** \brief The surface that the step writes */
	const std::string &written() const { return written_; }
	/** \brief Add the clamp after the step, if one is needed */
	void finish();

private:
	Lowerer &lowerer_;
	Clamp activation_;
	ValueId output_;
	Lowerer::Clamped limits_; /* limits of integers */
	std::string result_;
	std::string written_;
};

} /* namespace nvdla::compiler */
