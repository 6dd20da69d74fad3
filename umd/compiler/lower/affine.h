/* SPDX-License-Identifier: MIT */
/*
 * SDP's units for affine functions, and constants that meet a computed tensor.
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
 * All operators with a constant beside a tensor use this, so that each of them accepts every shape
 * that can be broadcast. \a x lies in its natural cube; the axes of the constant, the last of which
 * are lines, columns and channels, have one element or as many as those of \a x.
 *
 * \return nothing after an error
 */
std::optional<CubeNumbers> numbersFor(Lowerer &lowerer, ValueId x, ValueId constant);

/** \return operands of that shape, without elements yet */
GraphOperands operands(const std::string &name, const Cube &shape);

/** \return whether X1 alone has an affine function of FP16: its operands are in FP16's range */
bool fitsOneUnit(const Affine &function);

/** \return X1 adds and multiplies, as far as that is needed; X2 and Y clamp, if something does */
op::Sdp halfAffine(Lowerer &lowerer, const Lowerer::Stage &stage, const Affine &function);

/** \return an X unit with the operands of \a scaling, which become constants of that \a name */
op::SdpUnit unitOf(Lowerer &lowerer, const std::string &name, const Cube &shape,
		   const ChannelScaling::Unit &scaling);

/**
 * \brief Output of a step of the CPU, and the clamp of its activation behind it
 *
 * If saturation to the output's type is the activation, the step writes the result itself.
 */
class ClampBehind
{
public:
	/** \brief Describe the surfaces; \a name is the step's */
	ClampBehind(Lowerer &lowerer, const std::string &name, const Clamp &activation,
		    ValueId output);

	/** \brief The surface that the step writes */
	const std::string &written() const { return written_; }
	/** \brief Add the clamp, if there is one, behind the step */
	void finish();

private:
	Lowerer &lowerer_;
	Clamp activation_;
	ValueId output_;
	Lowerer::Clamped limits_; /* of integers */
	std::string result_;
	std::string written_;
};

} /* namespace nvdla::compiler */
