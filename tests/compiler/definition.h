/* SPDX-License-Identifier: MIT */
/*
 * What the operators of a model are defined to make.
 */
#pragma once

#include <string>
#include <vector>

#include "model_folder.h"
#include "reference.h"

namespace nvdla::test
{

std::vector<Numbers> numbersOf(const std::vector<Array> &arrays);

/** \return elements in N, C, H, W order in that of a value, N, H, W, C; of other shapes as they are
 */
Numbers channelsLast(const Numbers &numbers, const compiler::Extents &shape);

/**
 * \brief What a model's operators are defined to make of a case
 *
 * Of ONNX real numbers that are rounded once, which the format's own runtime computes in float32;
 * of hybrid models what is written, without the activations that its kernels quantize on the way.
 */
std::vector<Numbers> asDefined(const ModelFolder &folder, const compiler::Model &imported,
			       const ModelCase &known);

/**
 * \brief shortfall() of output \a i of a case
 *
 * Where the results \a wanted, of the format's own runtime, fall short of what the operators are
 * defined to make as well, that is what \a got is held to; it is printed then by how much.
 */
std::string shortfallByDefinition(const ModelFolder &folder, const compiler::Model &imported,
				  const ModelCase &known, size_t i, const Numbers &got,
				  const Array &wanted);

} /* namespace nvdla::test */
