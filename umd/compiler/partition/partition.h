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
 * \brief Compile an ONNX model part by part
 * \return one network of all; an error if there is no ONNX Runtime, or if it cannot run the rest
 */
Result<CompiledModel> compileParts(std::span<const std::byte> file, const CompileOptions &options);

} /* namespace nvdla::compiler */
