/* SPDX-License-Identifier: MIT */
/*
 * Models of one operator with shapes, quantizations and parameters at random.
 */
#pragma once

#include <random>

#include "reference.h"

namespace nvdla::test
{

/** \brief A model of one operator, and elements for its inputs */
struct RandomOperator {
	compiler::Model model;
	std::vector<Numbers> inputs;
};

/** \brief An operator of INT8 or INT16 tensors, or of float ones */
RandomOperator randomOperator(std::mt19937_64 &random, compiler::ElementType type);

} /* namespace nvdla::test */
