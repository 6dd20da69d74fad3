/* SPDX-License-Identifier: MIT */
/*
 * Models that are in memory: what importers and delegates have in common.
 */
#pragma once

#include <nvdla/compiler.h>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/**
 * \brief Compile what an importer made, or a program put together
 *
 * \param[in] model of which Model::check() says that it is right, without operators that break
 * rules \return the loadable and a report; Unsupported naming all operators that are not known or
 * cannot be lowered
 */
Result<CompiledModel> compileInMemory(Model model, const CompileOptions &options = {});

/**
 * \brief Whether each operator can be compiled, in the order of \a model
 *
 * An operator is compiled alone, with its constants: what is said is what the lowering said.
 */
std::vector<OperatorSupport> supportedOperators(const Model &model, const CoreGeometry &core);

} /* namespace nvdla::compiler */
