/* SPDX-License-Identifier: MIT */
/*
 * Constants that meet a computed tensor.
 */
#pragma once

#include <optional>
#include <vector>

#include "lowerer.h"

namespace nvdla::compiler
{

/** \brief Numbers in C, H, W order: one for each channel (h and w are 1), or for each element */
struct CubeNumbers {
	Cube shape;
	std::vector<double> numbers;
};

/**
 * \brief The numbers of a constant, repeated for the cube of the computed value \a x
 *
 * All operators with a constant beside a tensor use this, so that each of them accepts every shape
 * that can be broadcast. \a x lies in its natural cube; the axes of the constant, the last of which
 * are lines, columns and channels, have one element or as many as those of \a x.
 *
 * \return nothing after an error
 */
std::optional<CubeNumbers> numbersFor(Lowerer &lowerer, ValueId x, ValueId constant);

} /* namespace nvdla::compiler */
