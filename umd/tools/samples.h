/* SPDX-License-Identifier: MIT */
/*
 * Files of samples with which a model is calibrated.
 */
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nvdla/compiler.h>
#include <nvdla/loadable.h>

namespace nvdla::tools
{

/**
 * \brief Read Calibration::samples; for inputs with pictures also Calibration::extremes
 *
 * \param[in] paths pictures, which are scaled to the input; arrays in the model's order with one or
 * more samples; and folders of both. For a model with several inputs the files alternate: one for
 * the first input, one for the second, and so on
 * \param[in] scaling how pixels become numbers
 * \return an error in one file names the file
 */
Result<void> readSamples(Calibration &calibration, const std::vector<std::string> &paths,
			 const std::vector<ModelInput> &inputs, const PixelScaling &scaling);

/** \brief Store \a scaling in the signatures of the inputs that \a extremes, those of a
 * Calibration, name: the inputs that were calibrated with pictures */
void storeScaling(Loadable &loadable, const std::map<std::string, std::vector<float>> &extremes,
		  const PixelScaling &scaling);

/** \return true if one of the files, or of the files in the folders, is not an array */
bool hasPictures(const std::vector<std::string> &paths);

} /* namespace nvdla::tools */
