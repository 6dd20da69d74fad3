/* SPDX-License-Identifier: MIT */
/* Adds layers that are given in real numbers to graphs of integer operations. */
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nvdla/error.h>
#include <nvdla/graph.h>
#include <nvdla/quantization.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief A convolution with weights, bias and activation in real numbers */
struct RealLayer {
	/**
	 * \brief Name, input, stride, dilation, padding and groups; output is the result after bias
	 * and activation
	 *
	 * weights, padValue and accumulatorShift are computed; their values here are ignored.
	 */
	op::Convolution convolution;
	uint32_t k = 0;			/**< number of kernels */
	uint32_t c = 0;			/**< channels of a kernel, within one group */
	uint32_t r = 0;			/**< lines of a kernel */
	uint32_t s = 0;			/**< columns of a kernel */
	std::vector<float> weights;	/**< weights in K, C, R, S order */
	std::vector<float> bias;	/**< bias of each kernel, or empty */
	std::optional<float> lowest;	/**< lower limit of the result: 0 (ReLU) or nothing */
	std::optional<float> highest;	/**< upper limit of the result, such as 6 */
	DataType type = DataType::Int8; /**< type of input, weights and output: Int8 or Int16 */
	Quantization input;
	Quantization output;
};

/**
 * \brief Largest difference between a layer's results and the results in real numbers
 *
 * Upper bounds in real numbers, for any input and all results in the output's range. Each member is
 * the largest of all kernels.
 */
struct LayerRounding {
	/** \brief Rounding of the weights: the sum of the errors of a kernel's weights */
	double weights = 0;
	double bias = 0;	/**< rounding of the adder's operands */
	double multipliers = 0; /**< rounding of the multiplier's operands */
	double accumulator = 0; /**< truncation of the accumulator */
	/**
	 * \brief Rounding of the output: half a step, or a step with RealLayer::highest, which may
	 * be between two steps
	 */
	double output = 0;

	/** \return an upper bound of the error of all results */
	double most() const { return weights + bias + multipliers + accumulator + output; }
};

/**
 * \brief Add a layer to a graph, as a Convolution and an Sdp of integers
 *
 * Each kernel has a scale of its own (quantizeWeights()), X1 adds the bias and brings sums to the
 * output's scale (scaleConvolution()). Operations and constants are named after the convolution;
 * the Sdp is "NAME scale".
 *
 * \return InvalidArgument for sizes that do not match, and for NaNs; Unsupported
 * for FP16, which needs no scales, for a lowest result other than 0, for Winograd, whose rounding
 * has no useful bound in integers, and for scales out of range
 */
Result<LayerRounding> addLayer(Graph &graph, const RealLayer &layer);

} /* namespace nvdla */

#pragma GCC visibility pop
