/* SPDX-License-Identifier: MIT */
/*
 * Scales and zero points on the command line.
 */
#pragma once

#include <string>
#include <vector>

#include <nvdla/quantization.h>

namespace nvdla::tools
{

/** \brief What was given for each tensor: a number, or one for each channel with commas between */
struct QuantizationOptions {
	std::vector<std::string> scales;
	std::vector<std::string> zeroPoints;

	/**
	 * \return the quantizations of the first tensors; where only zero points are given, scales
	 * are 1, and the other way round 0
	 * \param[in] name the scales' option, for errors
	 */
	Result<std::vector<TensorQuantization>> parse(const char *name) const;
};

} /* namespace nvdla::tools */
