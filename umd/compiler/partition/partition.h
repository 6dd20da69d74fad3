/* SPDX-License-Identifier: MIT */
/*
 * A model some of whose operators the core cannot compute: these become steps of the host.
 */
#pragma once

#include <span>

#include <nvdla/compiler.h>

namespace nvdla::compiler
{

/**
 * \brief Compile a model part by part
 * \return one network of all; an error if the library of the host is not there, or cannot run the
 * rest
 */
Result<CompiledModel> compileParts(std::span<const std::byte> file, const CompileOptions &options);

} /* namespace nvdla::compiler */
