/* SPDX-License-Identifier: MIT */
/*
 * Constants of an ONNX model that are in files beside it.
 */
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nvdla/error.h>

namespace nvdla::compiler::onnx
{

/**
 * \brief Put constants that are in other files into the model
 * \param[in] file any bytes; what is no model comes back as it is
 * \param[in] folder of the model; only files in it, or in folders of it, are read
 * \return InvalidFile naming the constant whose file is elsewhere, not there or too short
 */
Result<std::vector<std::byte>> withExternalData(std::vector<std::byte> file,
						const std::string &folder);

} /* namespace nvdla::compiler::onnx */
