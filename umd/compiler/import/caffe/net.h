/* SPDX-License-Identifier: MIT */
/*
 * Caffe nets: a .prototxt with the layers, and a .caffemodel with their weights.
 */
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nvdla/error.h>

namespace nvdla::compiler::caffe
{

/**
 * \brief A Caffe net as ONNX model
 *
 * Layers keep their names, and outputs have the names of the blobs. A type of layer that is not
 * known becomes an operator that is not known, so that whoever reads the model names all of them.
 *
 * \param[in] path of the .prototxt; the weights are beside it, in a file with the same name but for
 * .caffemodel, or else in the only one that ends so
 * \param[in] text what is in the .prototxt
 * \return InvalidFile naming the line or layer that is wrong, or the file of weights that lacks;
 * Unsupported naming the layer and its parameter that is not known
 */
Result<std::vector<std::byte>> asOnnx(const std::string &path, std::span<const std::byte> text);

} /* namespace nvdla::compiler::caffe */
