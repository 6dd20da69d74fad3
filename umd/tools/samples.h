/* SPDX-License-Identifier: MIT */
/*
 * Files of samples with which a model is calibrated.
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
 * \param[in] paths pictures, which are scaled to the input; arrays in the model's order with one or
 * more samples; and folders of both. For a model with several inputs the files alternate: one for
 * the first input, one for the second, and so on
 * \param[in] scaling how pixels become numbers
 * \return for each sample the numbers of each input; an error in one file names the file
 */
Result<std::vector<std::vector<std::vector<float>>>>
readSamples(const std::vector<std::string> &paths, const std::vector<ModelInput> &inputs,
	    const PixelScaling &scaling);

/** \return true if one of the files, or of the files in the folders, is not an array */
bool hasPictures(const std::vector<std::string> &paths);

} /* namespace nvdla::tools */
