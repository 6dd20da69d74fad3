/* SPDX-License-Identifier: MIT */
/*
 * Turns pictures into inputs of networks, and describes the conversion in a sentence.
 */
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nvdla/image.h>
#include <nvdla/tensor.h>

namespace nvdla::tools
{

/**
 * \brief Make the elements of an input from a picture
 *
 * If the loadable describes the model's input (TensorDesc::signature), the picture is cropped to
 * its centre and scaled to the size of the input. Otherwise it must have this size.
 *
 * \param[in] path the picture's file, for errors
 * \param[in] options how the user's options convert pixels; nothing: as in the calibration if the
 * input was calibrated with pictures, as the type of its elements suggests if not
 * \param[in] isQuantized true if the user gave the scale of the input's elements
 */
Result<std::vector<std::byte>> pictureElements(const TensorDesc &desc, const Image &image,
					       const std::string &path,
					       const std::optional<PixelScaling> &options,
					       bool isQuantized);

/** \return a sentence that tells how pictureElements() makes elements of this picture */
std::string pictureNote(const TensorDesc &desc, const Image &image, const std::string &path,
			const std::optional<PixelScaling> &options, bool isQuantized);

} /* namespace nvdla::tools */
