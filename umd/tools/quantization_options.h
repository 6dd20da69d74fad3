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

/** \brief Values given for each tensor: one number, or one for each channel, separated by commas */
struct QuantizationOptions {
	std::vector<std::string> scales;
	std::vector<std::string> zeroPoints;

	/**
	 * \return quantizations from the first tensor to the last one for which a value was given.
	 * Where only one of scale and zero point was given, the other is 1 or 0
	 * \param[in] name name of the option for scales, for errors
	 */
	Result<std::vector<TensorQuantization>> parse(const char *name) const;
};

} /* namespace nvdla::tools */
