/* SPDX-License-Identifier: MIT */
/*
 * Files that a model is calibrated with.
 */
#pragma once

#include <string>
#include <vector>

#include <nvdla/compiler.h>
#include <nvdla/image.h>

namespace nvdla::tools
{

/**
 * \brief Read samples for Calibration::samples
 *
 * \param[in] paths pictures, which are scaled to the input, arrays in the model's order, of one or
 * several samples one behind the other, and folders of them. Files of a model with several inputs
 * take turns, one for each of them
 * \param[in] scaling numbers of pixels
 * \return an error that names the file that does not fit
 */
Result<std::vector<std::vector<std::vector<float>>>>
readSamples(const std::vector<std::string> &paths, const std::vector<ModelInput> &inputs,
	    const PixelScaling &scaling);

/** \return there is something other than an array among the files, and those in folders */
bool hasPictures(const std::vector<std::string> &paths);

} /* namespace nvdla::tools */
