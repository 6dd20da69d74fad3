/* SPDX-License-Identifier: MIT */
/*
 * What a model computes: plain loops over real numbers or, for integers, the arithmetic of
 * TensorFlow Lite's reference kernels.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/model.h"

namespace nvdla::test
{

/** \brief Elements of a value in its order: integers without their quantization, or numbers */
using Numbers = std::vector<double>;

/** \brief Real numbers that meet weights of 8 bits */
enum class Hybrid : uint8_t {
	Exact,	  /**< they stay as they are, as on the core */
	Quantized /**< to 8 bits by the largest of them in this run, as TensorFlow Lite's kernels do
		   */
};

/**
 * \brief Compute every value of a model as an importer leaves it
 * \param[in] inputs one for each of model.inputs
 * \return one for each of model.values
 */
std::vector<Numbers> evaluate(const compiler::Model &model, const std::vector<Numbers> &inputs,
			      Hybrid hybrid = Hybrid::Exact);

/** \brief Compute one operator from the \a values of its inputs, and put its output there */
void evaluate(const compiler::Model &model, const compiler::Operator &operation,
	      std::vector<Numbers> &values, Hybrid hybrid = Hybrid::Exact);

} /* namespace nvdla::test */
