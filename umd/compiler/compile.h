/* SPDX-License-Identifier: MIT */
/*
 * Models that are in memory: what importers and delegates have in common.
 */
#pragma once

#include <map>
#include <span>

#include <nvdla/compiler.h>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/**
 * \brief Compile a model that an importer or an application has built in memory
 *
 * \param[in] model as Model::setAsideInvalid() leaves it
 * \return the loadable and a report; Unsupported naming all operators that are not known or cannot
 * be lowered
 */
Result<CompiledModel> compileInMemory(Model model, const CompileOptions &options = {});

/**
 * \brief Find out whether each operator can be compiled, in the order of \a model
 *
 * An operator is compiled alone, with its constants: what is said is what the lowering said.
 */
std::vector<OperatorSupport> supportedOperators(const Model &model, const CoreGeometry &core);

/**
 * \brief Compile a model part by part
 * \return one network of all; an error if the library of the host is not there, or cannot run the
 * rest
 */
Result<CompiledModel> compileParts(std::span<const std::byte> file, const CompileOptions &options);

/** \brief Choices made for the operators that write these values */
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

/**
 * \brief Turn the values and kernels of a float model into integers
 *
 * \param[in,out] model as runPasses() leaves it
 * \return how far each operator is off the float model, in their order; InvalidArgument naming
 * what is wrong with the samples; Unsupported if the model has integers already
 */
Result<std::vector<LayerError>> calibrate(Model &model, const Calibration &calibration);

} /* namespace nvdla::compiler */
