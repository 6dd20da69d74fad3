/* SPDX-License-Identifier: MIT */
/*
 * Parts of a model, one behind the other in one network.
 */
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nvdla/compiler.h>

#include "compiler/partition/model_graph.h"

namespace nvdla::compiler
{

/** \brief A part for the core, or for the host */
struct MergedPart {
	size_t step = 0;
	std::vector<size_t> nodes;
	std::vector<std::string> inputs;
	std::vector<std::string> outputs;
	std::optional<CompiledModel> model; /**< nothing: it is the host's */
	std::vector<std::byte> file;	    /**< of the host's */
};

/**
 * \param[in] parts in the order in which they are carried out
 * \param[in] reasons why a node is not the core's
 */
Result<CompiledModel> mergeParts(const ModelGraph &graph, std::vector<MergedPart> parts,
				 const std::vector<std::string> &reasons);

} /* namespace nvdla::compiler */
