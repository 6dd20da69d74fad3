/* SPDX-License-Identifier: MIT */
/*
 * Runs a model on the CPU, in real numbers.
 */
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/** \brief Real numbers of a value, in the order of its shape */
using RealNumbers = std::vector<float>;

/**
 * \brief Compute all values of a model on the CPU
 *
 * Operators compute in float, and results of integer values are rounded by their quantization. For
 * a quantized model the results equal the core's but for the rounding of ties and the precision of
 * SDP's multipliers.
 *
 * \param[in] model without Unknown operators
 * \param[in] inputs numbers for each of the model's inputs
 * \param[in] values result of an earlier run, whose memory is used again
 * \return the numbers of each value of the model, by ValueId; those of constants are left out
 */
std::vector<RealNumbers> evaluateAll(const Model &model, std::span<const RealNumbers> inputs,
				     std::vector<RealNumbers> values = {});

/**
 * \brief Compute one operator of a model
 * \param[in] values as evaluateAll() returns them; only the operator's inputs are read
 * \param[in] result numbers that are not needed any more, whose memory is used again
 */
RealNumbers evaluate(const Model &model, const Operator &operation,
		     const std::vector<RealNumbers> &values, RealNumbers result = {});

} /* namespace nvdla::compiler */
