/* SPDX-License-Identifier: MIT */
/*
 * Models of one operator or a few, with shapes, quantizations and parameters at random.
 */
#pragma once

#include <random>

#include "reference.h"

namespace nvdla::test
{

/** \brief A model, and elements for its inputs */
struct RandomModel {
	compiler::Model model;
	std::vector<Numbers> inputs;
};

/** \brief An operator of INT8 or INT16 tensors, or of float ones */
RandomModel randomOperator(std::mt19937_64 &random, compiler::ElementType type);

/**
 * \brief Two to seven operators that read what others wrote: chains, branches and what joins them
 *
 * What no operator reads is an output.
 */
RandomModel randomNetwork(std::mt19937_64 &random, compiler::ElementType type);

} /* namespace nvdla::test */
