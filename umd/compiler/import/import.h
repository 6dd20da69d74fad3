/* SPDX-License-Identifier: MIT */
/*
 * From files of other tools to a model. A file is not trusted: whatever is in it gives a model or
 * an error.
 */
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/compiler.h>

#include "base/host/host_model.h"
#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/** \brief Most elements of a tensor: the core can hold none that has more */
inline constexpr uint64_t mostInTensor = uint64_t{ 1 } << 31;

/** \return a shape of the file; nothing if an axis is negative, or all have more than \a most
 * elements
 */
std::optional<Extents> shapeFrom(const std::vector<int64_t> &extents, uint64_t most = mostInTensor);

/**
 * \param[in] zeroPoints as many as scales; none: zeros
 * \return nothing if a scale is negative or infinite, or a zero point is no 8- or 16-bit integer
 */
std::optional<TensorQuantization> quantizationFrom(const std::vector<double> &scales,
						   const std::vector<int64_t> &zeroPoints);

/** \brief Given sizes by the names of inputs, each of which the model has */
using GivenShapes = std::map<std::string, std::vector<uint32_t>>;

/**
 * \param[in] inputs names of the model's inputs
 * \return InvalidArgument naming a shape that is for no input, or for one that has one already
 */
Result<GivenShapes> givenShapes(std::span<const InputShape> shapes,
				const std::vector<std::string> &inputs);

/**
 * \brief Read a TensorFlow Lite file: its first subgraph, with constants
 *
 * Tensors are in the order of the file, so ids are the file's own; what the importer adds comes
 * behind. Kernels are turned to K, C, R, S. Types and quantizations are the file's.
 *
 * \return InvalidFile naming the part that is damaged; Unsupported naming the operator that is not
 * known, its layer and the remedy; InvalidArgument naming what is wrong with the shapes
 */
Result<Model> importTflite(std::span<const std::byte> bytes);

/**
 * \brief A TensorFlow Lite file with other sizes of inputs
 *
 * The file has the sizes of all that is computed of the inputs, so TensorFlow Lite has to find them
 * out, unless these are its own.
 *
 * \return Unsupported if that is not there, or cannot; InvalidArgument naming what is wrong with
 * the shapes
 */
Result<std::vector<std::byte>> resizedTflite(std::span<const std::byte> bytes,
					     std::span<const InputShape> shapes);

/**
 * \brief Read an ONNX file: its graph, with constants
 *
 * Values have their channels last, whatever order the file's axes have; Model::inputOrders and
 * outputOrders say how its inputs and outputs lie. Integers behind QuantizeLinear are values with
 * that quantization.
 *
 * \param[in] shapes of inputs, where the file leaves sizes open
 * \return as importTflite()
 */
Result<Model> importOnnx(std::span<const std::byte> bytes, std::span<const InputShape> shapes = {});

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
Result<std::vector<std::byte>> caffeAsOnnx(const std::string &path,
					   std::span<const std::byte> text);

/** \return as importTflite(), which takes no shapes, or importOnnx(), whichever kind of file it is
 */
inline Result<Model> importModel(std::span<const std::byte> bytes,
				 std::span<const InputShape> shapes = {})
{
	return isTfliteFile(bytes) ? importTflite(bytes) : importOnnx(bytes, shapes);
}

/**
 * \brief Put constants that are in other files into the model
 * \param[in] file any bytes; what is no model comes back as it is
 * \param[in] folder of the model; only files in it, or in folders of it, are read
 * \return InvalidFile naming the constant whose file is elsewhere, not there or too short
 */
Result<std::vector<std::byte>> withExternalData(std::vector<std::byte> file,
						const std::string &folder);

} /* namespace nvdla::compiler */
