/* SPDX-License-Identifier: MIT */
/*
 * A model of the reference data with its inputs and expected outputs.
 */
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nvdla/error.h>

#include "read_file.h"
#include "reference.h"

/** \brief Skip a test where the reference data is not */
#define NVDLA_NEED_MODELS()                                                                        \
	if (::nvdla::test::modelFolders("tflite").empty())                                         \
	GTEST_SKIP() << "no reference data: set NVDLA_REFERENCE_DATA"

namespace nvdla::test
{

/** \brief An array of numbers, and its type in numpy's terms: "|i1", "<f4" */
struct Array {
	std::string type;
	Numbers numbers;

	bool operator==(const Array &) const = default;
};

/** \brief Read a .npy file of integers or numbers; of anything else no numbers */
Array readArray(const std::filesystem::path &path);

/**
 * \brief What the reference kernels made of every tensor in a model's first case
 *
 * \return by name, of TensorFlow Lite tN for tensor N; nothing if the folder has no such file
 */
std::map<std::string, Array> readTensors(const std::string &name);
/** \return whether readTensors() has any */
bool hasTensors(const std::string &name);

/** \brief An input or output of a case */
struct CaseTensor {
	Array array;
	double largestOfKernels = 0; /**< largest difference of TFLite's two kernel sets */
};

struct ModelCase {
	std::string description;
	std::vector<Array> inputs;
	std::vector<CaseTensor> outputs;
	bool classifies = false; /**< the largest number of the output is the answer */
};

struct ModelFolder {
	std::string name;
	std::string format; /**< "tflite" or "onnx" */
	std::vector<std::byte> file;
	std::vector<ModelCase> cases;
	double multiplications = 0; /**< of its convolutions and matrix products */
};

/** \return names of the folders of the reference data that have a model of \a format */
std::vector<std::string> modelFolders(const std::string &format);
/** \return those of models with no more than \a mostMultiplications */
std::vector<std::string> smallModels(const std::string &format, double mostMultiplications);
ModelFolder readModelFolder(const std::string &name);
Result<compiler::Model> importModel(const ModelFolder &folder);

} /* namespace nvdla::test */
