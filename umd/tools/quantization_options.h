/* SPDX-License-Identifier: MIT */
/*
 * The options for scales and zero points of inputs and outputs.
 */
#pragma once

#include <string>
#include <vector>

#include <nvdla/quantization.h>

namespace nvdla::tools
{

/** \brief For each tensor, the text of its option: one number, or one for each channel, separated
 * by commas */
struct QuantizationOptions {
	std::vector<std::string> scales;
	std::vector<std::string> zeroPoints;

	/**
	 * \return quantizations from the first tensor to the last one for which a value was given.
	 * A scale that was not given is 1, and a zero point 0
	 * \param[in] start "--input" or "--output", with which the names of the options begin
	 */
	Result<std::vector<TensorQuantization>> parse(const std::string &start) const;
};

} /* namespace nvdla::tools */
