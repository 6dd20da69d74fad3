/* SPDX-License-Identifier: MIT */
/*
 * Changes of a model before it is lowered. Each keeps what the model computes.
 */
#pragma once

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/**
 * \brief Take QUANTIZE and DEQUANTIZE off the ends
 *
 * The application then gives and takes the integers, whose quantization the network has.
 */
void takeConversionsOffEnds(Model &model);

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
 * \brief What makes real numbers of integers gets real numbers
 *
 * Such operators are behind a DequantizeLinear, with no QuantizeLinear behind them.
 */
void separateTypes(Model &model);

/** \brief Products with and sums of constants go into kernels and bias of the float convolution
 * before them */
void foldAffines(Model &model);

/** \brief Zeros around the input of convolutions become their padding */
void foldPads(Model &model);

/** \brief Transposed convolutions some of whose phases are single elements are made larger, and cut
 */
void uncutTransposed(Model &model);

/** \brief Sums and averages over more lines or columns than a kernel has are made in two steps */
void splitWindows(Model &model);

/**
 * \brief Differences from the mean of all channels, divided by the root of their mean square
 *
 * Files have no operator for that before ONNX 17.
 */
void findStandardizations(Model &model);

/** \brief Operators none of whose results is read fall away; of shapes, files compute many */
void removeUnused(Model &model);

/** \brief All others, in their order; all operators are known */
void runPasses(Model &model);

} /* namespace nvdla::compiler */
