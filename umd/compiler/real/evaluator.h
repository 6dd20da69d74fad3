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
 * \brief Runs a model on the CPU in float
 *
 * Operators compute in float, and results of integer values are rounded by their quantization. For
 * a quantized model the results equal the core's but for the rounding of ties and the precision of
 * SDP's multipliers.
 */
class Evaluator
{
public:
	/** \param[in] model without Unknown operators; the evaluator keeps a reference to it */
	explicit Evaluator(const Model &model);

	/**
	 * \brief Compute all values
	 * \param[in] inputs one for each of the model's
	 * \param[in] values of an earlier run, whose memory is used again
	 * \return one for each value of the model; constants are empty
	 */
	std::vector<RealNumbers> run(std::span<const RealNumbers> inputs,
				     std::vector<RealNumbers> values = {}) const;

	/**
	 * \brief Compute one operator
	 * \param[in] values as run() returns them; only the operator's inputs are read
	 * \param[in] result of another operator, whose memory is used again
	 */
	RealNumbers evaluate(const Operator &operation, const std::vector<RealNumbers> &values,
			     RealNumbers result = {}) const;

	const Model &model() const { return model_; }

private:
	const Model &model_;
	std::vector<RealNumbers> constants_;
};

} /* namespace nvdla::compiler */
