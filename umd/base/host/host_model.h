/* SPDX-License-Identifier: MIT */
/* Models that libraries of the host run, if these are installed. */
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

/** \return number of a type of elements in ONNX files; 0 if ONNX lacks it */
int32_t onnxType(DataType type);
/** \return type with that number in ONNX files; nothing if tensors cannot have it */
std::optional<DataType> typeOfOnnx(int32_t type);

/** \brief A tensor of a model */
struct HostValue {
	std::string name;
	int32_t type = 0;	    /**< type, numbered as in ONNX files */
	std::vector<int64_t> shape; /**< sizes of axes, -1 if unknown */
};

/** \brief Shape and elements of an output that had open axes, after a run */
struct HostResult {
	std::vector<uint32_t> shape;
	std::vector<std::byte> bytes;
};

/** \brief A tensor and its elements, in memory of the caller */
struct HostArray {
	HostValue what;
	std::span<std::byte> bytes;
	HostResult *result = nullptr; /**< gets an output with unknown sizes, in place of bytes */
};

/** \return true if bytes begin like a TensorFlow Lite file */
bool isTfliteFile(std::span<const std::byte> bytes);

/** \brief Selected operators of a TensorFlow Lite file, and tensors, by index */
struct TfliteSelection {
	std::vector<int32_t> operators; /**< in ascending order */
	std::vector<int32_t> inputs;
	std::vector<int32_t> outputs;
};

/**
 * \return a file with only these operators of another file's first graph, and the tensors that they
 * need; Unsupported with the package to install if TensorFlow Lite is missing
 */
Result<std::vector<std::byte>> selectOperators(std::span<const std::byte> tflite,
					       const TfliteSelection &selection);

/** \brief The shape that an input of a TensorFlow Lite file gets, by its place among the inputs */
struct TfliteShape {
	int32_t input = 0;
	std::vector<int32_t> extents;
};

/** \return a file whose tensors have the shapes that result from \a shapes, those of some inputs;
 * errors as selectOperators() */
Result<std::vector<std::byte>> resizeTensors(std::span<const std::byte> tflite,
					     std::span<const TfliteShape> shapes);

/**
 * \brief A model that ONNX Runtime or TensorFlow Lite runs; from any number of threads at a time
 *
 * The state of a TensorFlow Lite model lasts as long as this object and its copies.
 */
class HostModel
{
public:
	/**
	 * \param[in] model an ONNX or TensorFlow Lite file, which is not trusted; not needed
	 * afterwards
	 * \return Unsupported if there is no library, with the package to install; its error for
	 * a model that it cannot run
	 */
	static Result<HostModel> open(std::span<const std::byte> model);

	/** \return the outputs, as far as the file describes them */
	Result<std::vector<HostValue>> outputs() const;
	/** \return types and shapes of outputs with these names, for these inputs */
	Result<std::vector<HostValue>> shapes(std::span<const HostArray> inputs,
					      std::span<const std::string> names) const;
	/**
	 * \param[in] inputs in the file's order, as \a outputs
	 * \return an error also if an output has another type or shape, or a HostResult would have
	 * 4 GiB or more
	 */
	Result<void> run(std::span<const HostArray> inputs,
			 std::span<const HostArray> outputs) const;

private:
	HostModel(const HostLibrary &library, void *model);

	const HostLibrary *library_;
	std::shared_ptr<void> model_;
};

} /* namespace nvdla */
