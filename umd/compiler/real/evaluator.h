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

/** \brief Inputs and outputs of an operator */
struct RealStep {
	const Model &model;
	const Operator &operation;
	std::vector<const RealNumbers *> inputs;
	RealNumbers &result; /**< has as many elements as the output */

	const RealNumbers &in(size_t input) const { return *inputs[input]; }
	const Extents &shape(size_t input) const
	{
		return model.values[operation.inputs[input]].shape;
	}
	const Extents &outShape() const { return model.values[operation.outputs.front()].shape; }
	/** \brief The bias of operators whose third input it is; nullptr if there is none */
	const RealNumbers *bias() const { return inputs.size() > 2 ? inputs[2] : nullptr; }
};

/* One function for each kind of operator; activations are applied by the caller. */
void compute(const RealStep &step, const Convolution &conv);
void compute(const RealStep &step, const TransposedConvolution &conv);
void compute(const RealStep &step, const FullyConnected &full);
void compute(const RealStep &step, const Product &product);
void compute(const RealStep &step, const Elementwise &elementwise);
void compute(const RealStep &step, const Pool &pool);
void compute(const RealStep &step, const Reshape &reshape);
void compute(const RealStep &step, const Pad &pad);
void compute(const RealStep &step, const Concatenation &concatenation);
void compute(const RealStep &step, const Slice &slice);
void compute(const RealStep &step, const Unary &unary);
void compute(const RealStep &step, const PRelu &prelu);
void compute(const RealStep &step, const Enlarge &enlarge);
void compute(const RealStep &step, const Softmax &softmax);
void compute(const RealStep &step, const Transpose &transpose);
void compute(const RealStep &step, const OverChannels &over);
void compute(const RealStep &step, const ChannelReduction &reduction);
inline void compute(const RealStep &, const Unknown &)
{
}

} /* namespace nvdla::compiler */
