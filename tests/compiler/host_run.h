/* SPDX-License-Identifier: MIT */
/*
 * Models some of whose operators a library of the host computes, as one network.
 */
#pragma once

#include <string>
#include <vector>

#include <nvdla/compiler.h>
#include <nvdla/network.h>

#include "reference.h"

namespace nvdla::test
{

/** \brief Compile a file; what goes wrong is a failure of the test */
CompiledModel compiledFile(const std::vector<std::byte> &file, const CompileOptions &options = {});

/** \return where each layer of a model is: "core Conv", "host CumSum" */
std::vector<std::string> placesOf(const CompiledModel &compiled);

/** \return the numbers of each output of one run, or the first error */
Result<std::vector<Numbers>> tryNetwork(Network &network, const std::vector<Numbers> &inputs);

/** \brief As tryNetwork(); an error is a failure of the test */
std::vector<Numbers> runNetwork(Network &network, const std::vector<Numbers> &inputs);

/** \return the same of a network that is loaded for it */
std::vector<Numbers> runOnce(const CompiledModel &compiled, const std::vector<Numbers> &inputs);

} /* namespace nvdla::test */
