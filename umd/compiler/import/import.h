/* SPDX-License-Identifier: MIT */
/*
 * Reads files of other tools as models. Files are not trusted: any bytes give a model or an error.
 */
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <nvdla/compiler.h>

#include "base/host/host_model.h"
#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/** \brief Shapes that the caller gives, by the names of the model's inputs */
using GivenShapes = std::map<std::string, std::vector<uint32_t>>;

/**
 * \param[in] inputs names of the model's inputs
 * \return InvalidArgument naming a shape of an unknown input, or a second one of the same input
 */
Result<GivenShapes> givenShapes(std::span<const InputShape> shapes,
				const std::vector<std::string> &inputs);

/**
 * \brief Read a TensorFlow Lite file: its first subgraph, with constants
 *
 * Tensors keep the file's order, so ids are the file's own; tensors that the importer adds come
 * behind. Kernels are transposed to K, C, R, S. Types and quantizations are the file's.
 *
 * \return InvalidFile naming the damaged part; Unsupported naming the unknown operator, its layer
 * and the remedy; InvalidArgument naming the wrong shape
 */
Result<Model> importTflite(std::span<const std::byte> bytes);

/**
 * \brief A TensorFlow Lite file with other sizes of inputs
 *
 * The file states the sizes of all tensors, so TensorFlow Lite has to compute the new ones, unless
 * the given sizes are the file's own.
 *
 * \return Unsupported if TensorFlow Lite is missing or refuses; InvalidArgument naming the wrong
 * shape
 */
Result<std::vector<std::byte>> resizedTflite(std::span<const std::byte> bytes,
					     std::span<const InputShape> shapes);

/**
 * \brief Read an ONNX file: its graph, with constants
 *
 * Values have their channels last, whatever order the file's axes have; Model::inputsInFile and
 * outputsInFile hold the file's orders. The result of QuantizeLinear is an integer value with that
 * operator's quantization.
 *
 * \param[in] shapes of inputs whose sizes the file leaves open
 * \return as importTflite()
 */
Result<Model> importOnnx(std::span<const std::byte> bytes, std::span<const InputShape> shapes = {});

/**
 * \brief Convert a Caffe net to an ONNX model
 *
 * Layers keep their names, and outputs have the names of the blobs. A layer of unknown type becomes
 * an unknown operator, so that importOnnx() can name all of them in one error.
 *
 * \param[in] path of the .prototxt; the weights are in its folder, in the .caffemodel of the same
 * name or else in the only .caffemodel
 * \param[in] text contents of the .prototxt
 * \return InvalidFile naming the wrong line or layer, or the missing file of weights; Unsupported
 * naming the layer and its unknown parameter
 */
Result<std::vector<std::byte>> caffeAsOnnx(const std::string &path,
					   std::span<const std::byte> text);

/** \return the result of importOnnx(), or of importTflite(), by kind of file */
inline Result<Model> importModel(std::span<const std::byte> bytes,
				 std::span<const InputShape> shapes = {})
{
	if (!isTfliteFile(bytes))
		return importOnnx(bytes, shapes);
	return shapes.empty() ? importTflite(bytes)
			      : resizedTflite(bytes, shapes).and_then(importTflite);
}

/**
 * \brief Copy constants from external files into an ONNX model
 * \param[in] file any bytes; they are returned unchanged if they are no model
 * \param[in] folder of the model; only files in it, or in folders of it, are read
 * \return InvalidFile naming the constant whose file is in another folder, missing or too short
 */
Result<std::vector<std::byte>> withExternalData(std::vector<std::byte> file,
						const std::string &folder);

} /* namespace nvdla::compiler */
