/* SPDX-License-Identifier: MIT */
/*
 * What families of operators share.
 */
#pragma once

#include <map>

#include "compiler/import/parts.h"
#include "operator_reader.h"

namespace nvdla::compiler::tflite
{

/** \brief Make the output of parts of the input: for each axis some, or none for all of it */
void addAxesOfParts(OperatorReader &reader, const std::vector<std::vector<Part>> &axes);

/** \brief Add an operator that makes \a shape of the elements that \a output has in its own */
void addInShape(OperatorReader &reader, Kind kind, ValueId input, const Extents &shape,
		ValueId output);

/** \brief How the operators of a family are read */
using OperatorTable = std::map<fb::BuiltinOperator, ReadOperator *>;

extern const OperatorTable axisOperators;
extern const OperatorTable channelOperators;
extern const OperatorTable partOperators;
extern const OperatorTable windowOperators;

/** \brief A custom operator, which has no number of its own */
void readConvolution2DTransposeBias(OperatorReader &reader);

} /* namespace nvdla::compiler::tflite */
