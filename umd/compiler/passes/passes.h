/* SPDX-License-Identifier: MIT */
/*
 * Changes of a model before it is lowered. Each keeps what the model computes.
 */
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <nvdla/core_geometry.h>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/**
 * \brief Take QUANTIZE and DEQUANTIZE off the ends
 *
 * The application then gives and takes the integers, whose quantization the network has.
 */
void takeConversionsOffEnds(Model &model);

/**
 * \brief Outputs that are constants are computed, from an input that is then multiplied by zero
 * \return Unsupported naming an output that is too large
 */
Result<void> computeConstantOutputs(Model &model);

/** \brief uint8 activations become int8: the same scale, a zero point less by 128 */
void makeSigned(Model &model);

/** \brief Clamps that follow an operator alone become its activation */
void fuseActivations(Model &model);

/**
 * \brief Operators on integers write integers where all that reads their result quantizes it
 *
 * ONNX has a QuantizeLinear behind an operator whose result is float, and maybe behind a reshape of
 * that.
 */
void quantizeResults(Model &model);

/**
 * \brief Operators that make real numbers of integers read real numbers instead
 *
 * Such operators are behind a DequantizeLinear, with no QuantizeLinear behind them.
 */
void separateTypes(Model &model);

/**
 * \brief Means of squares less squares of means are means of squared differences
 *
 * The core's numbers do not have the bits that the difference of two large numbers needs.
 */
void findVariances(Model &model);

/**
 * \brief Functions that the CPU computes take what is before them: a product with a number, the
 * sum of one, and one function more
 *
 * FP16 has no numbers for many results in between, as the 1e-10 of log(x * x + 1e-10).
 */
void foldIntoFunctions(Model &model);

/** \brief Products with and sums of constants go into kernels and bias of the float convolution
 * before them */
void foldAffines(Model &model);

/**
 * \brief Repeat operands that meet a larger tensor, unless they have one number for each channel
 *
 * By kernels of ones for channels, by copies for lines and columns.
 */
void repeatOperands(Model &model);

/** \brief Other numbers around an input are zeros, to which they are added */
void padWithZeros(Model &model);

/** \brief Zeros around the input of convolutions, sums and averages become their padding */
void foldPads(Model &model);

/** \brief Elements of kernels that meet nothing but padding fall away: those of large dilations */
void cutKernels(Model &model);

/**
 * \brief Batches are computed sample by sample, in one network with one set of constants
 *
 * Inputs and outputs stay as they are: the samples are parts of them. Matrix products that can be
 * take all samples at once.
 *
 * \return Unsupported naming an operator that does not work sample by sample
 */
Result<void> unrollBatch(Model &model, const CoreGeometry &core = nvFull);

/** \brief Convolutions with a stride above 8, or with a stride and more than 32 taps, go from block
 * to block of the input */
void takeBlocks(Model &model);

/** \brief Transposed convolutions some of whose phases are single elements are made larger, and cut
 */
void uncutTransposed(Model &model);

/** \brief Larger pictures of 8 bits whose kernels need more bits are made in two steps */
void splitEnlargements(Model &model);

/** \brief Sums and averages over more lines or columns than a kernel has are made in two steps */
void splitWindows(Model &model);

/**
 * \brief Differences from the mean of all channels, divided by the root of their mean square
 *
 * Files have no operator for that before ONNX 17.
 */
void findStandardizations(Model &model);

/** \brief Exponentials of all channels divided by their sum are a softmax */
void findSoftmaxes(Model &model);

/** \brief Products with the error function, or with a hyperbolic tangent, are GELU: one table */
void findGelus(Model &model);

/** \brief Neighbours among what a concatenation puts together that one convolution can make */
using JoinableParts = std::vector<ValueId>;

/**
 * \brief Find parts of a concatenation of channels that convolutions of one input make, which can
 * be one
 *
 * Their kernels may have different windows: the joined one has all of them. Quantizations are the
 * same; the scales of integers are so near to each other that none loses bits.
 */
std::vector<JoinableParts> joinableParts(const Model &model, const Operator &concatenation);

/**
 * \brief Make one convolution of those that write some parts of a concatenation
 *
 * The parts are slices of what it writes, which removeUnused() takes away if nobody wants them.
 *
 * \return what it writes: \a concatenated, if there are no other parts
 */
ValueId joinConvolutions(Model &model, ValueId concatenated, const JoinableParts &parts);

/**
 * \return whether a concatenation of channels is read by nothing but a pooling of largest or least
 * elements, which could take its parts instead, one of them from a convolution
 */
bool canPoolParts(const Model &model, const Operator &concatenation);

/**
 * \brief Pool the parts of a concatenation, and put together what comes of that
 *
 * It is the same. The concatenation stays, if it is wanted: removeUnused() takes it away.
 *
 * \return what the pooling wrote, and now a concatenation does
 */
ValueId poolParts(Model &model, ValueId concatenated);

/** \brief scale * x + shift, of a value x */
struct Line {
	ValueId of;
	double scale;
	double shift;
};

/** \return the sum or product of a tensor and one number that writes a float value, if one does */
std::optional<Line> lineThatWrites(const Model &model, ValueId value);

/** \brief Operators one behind the other: each reads what the one before it made */
struct Chain {
	Model &model;
	Operator like; /**< name, type and index of all */
	ValueId last;  /**< what the first one reads, then what the last one made */
	std::vector<Operator> operators = {};

	/** \brief Append one that makes a value; \a others: inputs behind the first */
	void add(Kind kind, ValueId made, const std::vector<ValueId> &others = {});
	/** \brief The same, of a value like the last one in another shape */
	void add(Kind kind, const char *what, Extents shape,
		 const std::vector<ValueId> &others = {})
	{
		add(std::move(kind), model.addLike(last, what, std::move(shape)), others);
	}
};

/** \brief Returns the operators that replace one; none: it stays, maybe changed in place */
using Expand = std::function<std::vector<Operator>(Operator &)>;

/** \brief Put other operators into the place of each for which there are some */
void expandEach(Model &model, const Expand &expand);

/** \brief Take away operators of which the function says that another one does what they did */
void foldEach(Model &model, const std::function<bool(const Operator &)> &fold);

/** \brief Remove operators whose results nothing reads, and the elements of such constants */
void removeUnused(Model &model);

/**
 * \brief Run all passes above, in their order; no operator is Unknown
 * \return the error of a pass
 */
Result<void> runPasses(Model &model, const CoreGeometry &core = nvFull);

} /* namespace nvdla::compiler */
