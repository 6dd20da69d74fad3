/* SPDX-License-Identifier: MIT */
/* Models that are run by libraries of the host (ONNX Runtime, TensorFlow Lite), if these are
 * installed. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/data_type.h>
#include <nvdla/error.h>

namespace nvdla
{

struct HostLibrary;

/** \return the number that ONNX files have for a type of elements; 0 if ONNX lacks the type */
int32_t onnxType(DataType type);
/** \return the type that \a type is in ONNX files; std::nullopt if DataType lacks the type */
std::optional<DataType> typeOfOnnx(int32_t type);

/** \brief A tensor of a model */
struct HostValue {
	std::string name;
	int32_t type = 0;	    /**< type, numbered as in ONNX files */
	std::vector<int64_t> shape; /**< sizes of axes, -1 if unknown */
};

/** \brief Shape and elements, after a run, of an output whose shape was not known before */
struct HostResult {
	std::vector<uint32_t> shape;
	std::vector<std::byte> bytes;
};

/** \brief A tensor and its elements, in the caller's memory */
struct HostArray {
	HostValue what;
	std::span<std::byte> bytes;
	HostResult *result = nullptr; /**< for an output with unknown sizes: gets shape and
					 elements, in place of bytes */
};

/** \return true if bytes begin like a TensorFlow Lite file */
bool isTfliteFile(std::span<const std::byte> bytes);

/** \brief Selected operators of a TensorFlow Lite file, and the tensors that become inputs and
 * outputs, all by their indices in the first graph */
struct TfliteSelection {
	std::vector<int32_t> operators; /**< indices of the operators, ascending */
	std::vector<int32_t> inputs;
	std::vector<int32_t> outputs;
};

/**
 * \return a file with only the selected operators of \a tflite's first graph and their tensors;
 * Unsupported with the package to install if TensorFlow Lite is missing
 */
Result<std::vector<std::byte>> selectOperators(std::span<const std::byte> tflite,
					       const TfliteSelection &selection);

/** \brief A new shape for an input of a TensorFlow Lite file; \a input is the index among the
 * file's inputs */
struct TfliteShape {
	int32_t input = 0;
	std::vector<int32_t> extents;
};

/** \return a copy of the file in which some inputs have the shapes \a shapes, and all other tensors
 * the shapes that follow from them; the errors are those of selectOperators() */
Result<std::vector<std::byte>> resizeTensors(std::span<const std::byte> tflite,
					     std::span<const TfliteShape> shapes);

/**
 * \brief A model that ONNX Runtime or TensorFlow Lite runs. Any number of threads may use it at the
 * same time
 *
 * Variables in a TensorFlow Lite model keep their values from run to run, as long as this object or
 * a copy exists.
 */
class HostModel
{
public:
	/**
	 * \param[in] model an ONNX or TensorFlow Lite file, which is not trusted; not needed
	 * afterwards
	 * \return the model; Unsupported naming the package to install if the library is missing;
	 * or the library's error for a model that it cannot run
	 */
	static Result<HostModel> open(std::span<const std::byte> model);

	/** \return the outputs, with the types and shapes that the file states */
	Result<std::vector<HostValue>> outputs() const;
	/** \return types and shapes that the named outputs have for these inputs, found by a run */
	Result<std::vector<HostValue>> shapes(std::span<const HostArray> inputs,
					      std::span<const std::string> names) const;
	/**
	 * \param[in] inputs,outputs tensors in the order of the file's inputs and outputs
	 * \return an error also if an output's type or shape differs from \a outputs, or if a
	 * HostResult would need 4 GiB or more
	 */
	Result<void> run(std::span<const HostArray> inputs,
			 std::span<const HostArray> outputs) const;

private:
	HostModel(const HostLibrary &library, void *model);

	const HostLibrary *library_;
	std::shared_ptr<void> model_;
};

} /* namespace nvdla */
