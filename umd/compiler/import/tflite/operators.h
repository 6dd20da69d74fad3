/* SPDX-License-Identifier: MIT */
/*
 * Readers of operators that have a file of their own.
 */
#pragma once

#include "compiler/import/parts.h"
#include "operator_reader.h"

namespace nvdla::compiler::tflite
{

/** \brief Make the output of parts of the input: for each axis some, or none for all of it */
void addAxesOfParts(OperatorReader &reader, const std::vector<std::vector<Part>> &axes);

/** \brief Add an operator that makes \a shape of the elements that \a output has in its own */
void addInShape(OperatorReader &reader, Kind kind, ValueId input, const Extents &shape,
		ValueId output);

void readConvolution(OperatorReader &reader);
void readDepthwise(OperatorReader &reader);
void readFullyConnected(OperatorReader &reader);
void readProduct(OperatorReader &reader);
void readTransposedConvolution(OperatorReader &reader);
void readConvolution2DTransposeBias(OperatorReader &reader);
void readStridedSlice(OperatorReader &reader);
void readPack(OperatorReader &reader);
void readUnpack(OperatorReader &reader);
void readMirrorPad(OperatorReader &reader);
void readTile(OperatorReader &reader);
void readGather(OperatorReader &reader);
void readSelect(OperatorReader &reader);
void readMean(OperatorReader &reader);
void readSum(OperatorReader &reader);
void readReduceMax(OperatorReader &reader);
void readReduceMin(OperatorReader &reader);
void readTranspose(OperatorReader &reader);
void readSpaceToDepth(OperatorReader &reader);
void readDepthToSpace(OperatorReader &reader);
void readArgMax(OperatorReader &reader);
void readArgMin(OperatorReader &reader);
void readL2Normalization(OperatorReader &reader);
void readLocalResponse(OperatorReader &reader);
void readAveragePool(OperatorReader &reader);
void readMaxPool(OperatorReader &reader);
void readResizeBilinear(OperatorReader &reader);
void readResizeNearest(OperatorReader &reader);

} /* namespace nvdla::compiler::tflite */
