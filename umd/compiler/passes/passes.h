/* SPDX-License-Identifier: MIT */
/*
 * Passes over a model before it is lowered. None changes the model's results.
 */
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include <nvdla/core_geometry.h>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/** \brief Run the passes below, but not poolParts(), on a model without Unknown operators */
Result<void> runPasses(Model &model, const CoreGeometry &core = nvFull);

/** \brief Remove operators whose results nothing reads; free constants that nothing reads */
void removeUnused(Model &model);

/** \brief New operators that replace one operator; each reads the result of the one before it */
struct Chain {
	Model &model;
	Operator like; /**< gives new operators name, type and index; at first the replaced one */
	ValueId last;  /**< result of the last new operator; at first input 0 of the replaced one */
	std::vector<Operator> operators = {};

	/** \brief Append an operator that writes \a made; \a others: inputs behind the first */
	void add(Kind kind, ValueId made, const std::vector<ValueId> &others = {});
	/** \brief Append an operator; its result is a new value like \a last, in another shape */
	void add(Kind kind, const char *what, Extents shape,
		 const std::vector<ValueId> &others = {})
	{
		add(std::move(kind), model.addLike(last, what, std::move(shape)), others);
	}
};

/** \brief Adds replacements of an operator; if it adds none, the operator stays, maybe changed */
using Expand = std::function<void(Operator &, Chain &)>;

/**
 * \brief Replace each operator for which \a expand adds operators
 * \return whether any were added; the caller then removes operators that lost their readers
 */
bool expandEach(Model &model, const Expand &expand);

/** \brief scale * x + shift, of a value x */
struct Line {
	ValueId of;
	double scale = 1;
	double shift = 0;
};

/** \return the line that a float value's writer computes, if it adds or multiplies by a number */
std::optional<Line> lineThatWrites(const Model &model, ValueId value);

/** \brief Windows along one axis of a picture */
struct WindowAxis {
	uint32_t in, out, taps; /**< elements of input, output and kernel */
	uint32_t stride = 1, dilation = 1;
	uint32_t before = 0, after = 0; /**< elements of padding */

	/** \return elements from the first tap of a window to its last one */
	uint32_t span() const { return (taps - 1) * dilation + 1; }
	/** \return elements from the picture's first one to the end of the last window */
	uint32_t reach() const
	{
		const uint32_t end = (out - 1) * stride + span();
		return end - std::min(end, before);
	}
	/** \return how many elements behind the picture the windows reach */
	uint32_t behind() const { return reach() - std::min(reach(), in); }
};

/** \brief Lines and columns of a convolution, a transposed one or a pooling */
struct WindowAxes {
	WindowAxis y, x;

	WindowAxes(const Model &model, const Operator &operation);
};

/** \return depthwise kernels (channels x 1 x R x S); each element is the real number \a worth */
Value onesOf(uint32_t channels, op::Axes window, double worth = 1);

/** \brief A line and column relative to kernels or a window; may be negative */
struct KernelPlace {
	int64_t line = 0;
	int64_t column = 0;
};

/**
 * \brief Kernels (K x C x R x S) cropped to a window, or padded with elements that add nothing
 * \param[in] at position of the kernels' first element in the window
 */
Value inWindow(const Value &kernels, op::Axes window, KernelPlace at = {});

/* Passes that return true if they folded \a operation into another one: the caller removes it. */

/**
 * \brief Remove a QUANTIZE after an input, or a DEQUANTIZE before an output
 *
 * The network's input or output is then the integers; the network states their quantization.
 */
bool takeOffEnds(Model &model, const Operator &operation);

/** \brief Constant factors and summands go into a float convolution's kernels and bias */
bool foldAffine(Model &model, const Operator &operation);

/** \brief A clamp that is the only reader of an operator's result becomes its activation */
bool fuseActivation(Model &model, const Operator &operation);

/**
 * \brief Let an operator on integers write integers if its only reader quantizes the result
 *
 * ONNX puts a QuantizeLinear after an operator with a float result, or after a reshape of it.
 */
bool quantizeResult(Model &model, const Operator &operation);

/** \brief Zeros around the input of convolutions, sums and averages become their padding */
bool foldPad(Model &model, const Operator &operation);

/* Passes that replace or change an operator: see Expand. */

/** \brief Replace a pad with another number than 0 by a pad with zeros and an addition */
void padWithZeros(const Operator &operation, Chain &chain);

/**
 * \brief Replace mean(x^2) - mean(x)^2 by mean((x - mean(x))^2)
 *
 * The difference of the two large means needs more bits than the core's numbers have.
 */
void findVariances(const Operator &operation, Chain &chain);

/**
 * \brief Make one operator of (x - mean) / sqrt(variance + epsilon), over all channels
 *
 * ONNX has an operator for that only from operator set 17 on.
 */
void findStandardizations(const Operator &operation, Chain &chain);

/** \brief Exponentials of all channels divided by their sum are a softmax */
void findSoftmaxes(const Operator &operation, Chain &chain);

/** \brief Products with the error function, a hyperbolic tangent or a logistic function are GELU or
 * SiLU: one table */
void findGelus(const Operator &operation, Chain &chain);

/**
 * \brief Repeat an operand to a larger tensor's shape, unless it has one number for each channel
 *
 * A convolution with ones repeats it along channels, a concatenation along lines and columns.
 */
void repeatOperands(Operator &operation, Chain &chain);

/** \brief Remove taps of kernels that always lie over padding, as with large dilations */
void cutKernels(Operator &operation, Chain &chain);

/** \brief Divide a convolution's input into blocks as long as the stride, whose elements become
 * channels, if the stride is above 8, or above 1 with more than 32 taps */
void takeBlocks(const Operator &whole, Chain &chain);

/** \brief Enlarge a transposed convolution's result, and cut it, if the outputs at one offset in
 * the stride, or their inputs, are a single position of a surface: the core cannot address that */
void uncutTransposed(const Operator &operation, Chain &chain);

/** \brief Divide sums and averages over more lines or columns than a kernel can have into steps */
void splitWindows(const Operator &whole, Chain &chain);

/** \brief Windows of more than maxPoolingKernel lines or columns find their largest or least
 * element in several poolings */
void splitPoolings(const Operator &whole, Chain &chain);

/** \brief Enlarge 8-bit pictures in two steps if kernels for one step need more than 8 bits */
void splitEnlargements(const Operator &operation, Chain &chain);

/**
 * \brief Pool the parts of a concatenation, and concatenate the results
 *
 * Not a part of runPasses(), since the old concatenation loses its reader, but can be an output of
 * the network (CompileOptions::everyTensor).
 */
void poolParts(const Operator &pooling, Chain &chain);

/* Passes over a whole model. */

/**
 * \brief Compute outputs that are constants, as the bias of a product of an input with zeros
 * \throw BrokenRule naming an output for which this is impossible
 */
void computeConstantOutputs(Model &model);

/** \brief uint8 activations become int8: the same scale, a zero point less by 128 */
void makeSigned(Model &model);

/**
 * \brief Fold operators before a function that the CPU computes into the function: a product with a
 * number, the addition of a number, and another function
 *
 * FP16 cannot hold many of their intermediate results, such as the 1e-10 of log(x * x + 1e-10).
 */
void foldIntoFunctions(Model &model);

/**
 * \brief Convert integer inputs of operators with float results to float
 *
 * Such operators are behind a DequantizeLinear, with no QuantizeLinear behind them.
 */
void separateTypes(Model &model);

/**
 * \brief Batches are computed sample by sample, in one network with one set of constants
 *
 * Inputs and outputs keep their shapes: the samples are parts of them. Matrix products compute all
 * samples in one operation where possible.
 *
 * \throw BrokenRule naming an operator that does not work sample by sample
 */
void unrollBatch(Model &model, const CoreGeometry &core = nvFull);

/** \brief Divide an axis that is longer than a surface is wide into two, for operators that compute
 * each position of the axis by itself */
void divideLongAxes(Model &model);

} /* namespace nvdla::compiler */
