/* SPDX-License-Identifier: MIT */
/*
 * Sizes of inputs that somebody gave.
 */
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <nvdla/compiler.h>

namespace nvdla::compiler
{

/** \brief Given sizes by the names of inputs, each of which the model has */
using GivenShapes = std::map<std::string, std::vector<uint32_t>>;

/**
 * \param[in] inputs names of the model's inputs
 * \return InvalidArgument naming a shape that is for no input, or for one that has one already
 */
Result<GivenShapes> givenShapes(std::span<const InputShape> shapes,
				const std::vector<std::string> &inputs);

} /* namespace nvdla::compiler */
