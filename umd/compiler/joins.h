/* SPDX-License-Identifier: MIT */
/*
 * Which convolutions become one, or make what a concatenation has; where that is pooled.
 */
#pragma once

#include <map>

#include <nvdla/compiler.h>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/** \brief What was chosen for the operators that write these values */
using Joins = std::multimap<ValueId, LayerChoice>;

/**
 * \brief Join convolutions whose results are concatenated, where that is predicted to be faster
 *
 * Each candidate is compiled by itself, with the convolutions as they are and with one for all of
 * them. Where the accumulator would have to cut off more bits, there is no candidate. The same for
 * Concatenation::takesTurned, and for poolings of what was concatenated.
 *
 * \return InvalidArgument for an option of the chip that is none, or if Strategy::join is
 * Choice::Always and nothing can be joined
 */
Result<Joins> joinWhatGains(Model &model, const CompileOptions &options);

} /* namespace nvdla::compiler */
