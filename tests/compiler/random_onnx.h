/* SPDX-License-Identifier: MIT */
/*
 * ONNX files with operators at random, above all such that move elements in front of such that
 * have constants for axes, channels or elements.
 */
#pragma once

#include <random>
#include <string>
#include <vector>

#include "onnx_builder.h"
#include "reference.h"

namespace nvdla::test
{

/** \brief A valid file, and numbers for its inputs in their order */
struct RandomOnnx {
	std::vector<std::byte> file;
	std::vector<Numbers> inputs;
	/** \brief The operators and their shapes, for messages */
	std::string description;
	/** \brief Quantized: what a step of each output is worth; 0 of float ones */
	std::vector<double> steps;
};

/** \brief One to five operators on float tensors of one to four axes */
RandomOnnx randomOnnx(std::mt19937_64 &random);

/** \brief A quantized convolution or product, whose bias has a scale of its own */
RandomOnnx randomQuantizedOnnx(std::mt19937_64 &random);

} /* namespace nvdla::test */
