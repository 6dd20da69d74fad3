/* SPDX-License-Identifier: MIT */
/*
 * SDP's units for affine functions.
 */
#pragma once

#include "lowerer.h"
#include "number/channel_scaling.h"

namespace nvdla::compiler
{

/** \return operands of that shape, without elements yet */
GraphOperands operands(const std::string &name, const Cube &shape);

/** \return X1 adds and multiplies, as far as that is needed; X2 and Y clamp, if something does */
op::Sdp halfAffine(Lowerer &lowerer, const Lowerer::Stage &stage, const Affine &function);

/** \return an X unit with the operands of \a scaling, which become constants of that \a name */
op::SdpUnit unitOf(Lowerer &lowerer, const std::string &name, const Cube &shape,
		   const ChannelScaling::Unit &scaling);

} /* namespace nvdla::compiler */
