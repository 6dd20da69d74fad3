/* SPDX-License-Identifier: MIT */
/* The compiler: makes loadables of TensorFlow Lite and ONNX models. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nvdla/assembly.h>
#include <nvdla/calibration_table.h>
#include <nvdla/core_geometry.h>
#include <nvdla/data_type.h>
#include <nvdla/error.h>
#include <nvdla/loadable.h>
#include <nvdla/strategy.h>
#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/**
 * \brief Difference between an integer layer's results and the float model's, over all samples
 *
 * The ratio of the power of the float model's results to the power of the difference, in decibels:
 * infinite if there is no difference. 6 dB correspond to one bit of precision.
 */
struct LayerError {
	/** \brief Ratio in decibels for the error that this layer and all layers before it cause
	 * together. In a model with host steps, only layers in the same part for the core count
	 * (CompileOptions::host) */
	double ratio = 0;
	/** \brief Ratio in decibels for the error of this layer alone: its inputs are those of the
	 * float model */
	double ownRatio = 0;
	/** \brief Largest difference, as a real number, that this layer and all layers before it
	 * cause together */
	double largest = 0;
};

/** \brief Result of compiling one operator of a model */
struct LayerReport {
	std::string name; /**< name of the operator's first output */
	std::string type; /**< type of the operator, as the model's format names it */
	/** \brief Names of the graph's operations that compute the operator, in their order; empty
	 * if the operator needs no operation, or if the operations of another operator compute it
	 * as well */
	std::vector<std::string> operations;
	/** \brief Reason why the operator runs on the CPU; empty if it does not */
	std::string cpu;
	/** \brief Reason why a library of the host runs the operator (HostUse); empty if no such
	 * library does */
	std::string host = {};
	/** \brief Constants of the model that FP16 cannot represent, and their values in FP16 */
	std::vector<std::string> inexact;
	/** \brief Errors of the layer, in a calibrated model */
	std::optional<LayerError> error;
	/**
	 * \brief Choices of the strategy for these operations, with the predicted time of each
	 * candidate
	 */
	std::vector<LayerChoice> choices;
};

/** \brief A tensor that an operator of a model writes, or that the application provides */
struct ModelTensor {
	std::string name;
	std::string shape; /**< "1 x 8 x 8 x 3", in the file's order of axes */
	std::string type;  /**< "int8", as in the file */
};

/** \brief An operator as the model's file has it; its inputs do not include constants */
struct ModelOperator {
	std::string name; /**< name of the operator's first output */
	std::string type;
	std::vector<size_t> inputs; /**< indices of CompileReport::tensors */
	std::vector<size_t> outputs;
};

/** \brief Result of compiling a model */
struct CompileReport {
	std::vector<LayerReport> layers; /**< operators, in the order of the model */
	/** \brief The model as its file has it */
	std::vector<ModelTensor> tensors;
	std::vector<ModelOperator> operators;
	std::vector<size_t> inputs; /**< the model's inputs, as indices of tensors */
	std::vector<size_t> outputs;
	/** \brief Steps and ranges of memory of the loadable, as in Assembly */
	std::vector<AssembledStep> steps;
	std::vector<AssembledRange> ranges;
	/** \brief Multiply-accumulates of convolutions and matrix products that the core and the
	 * host compute; both 0 if the network has no host steps */
	uint64_t coreMacs = 0;
	uint64_t hostMacs = 0;
};

/** \brief A compiled network, and the report on it */
struct CompiledModel {
	Loadable loadable;
	CompileReport report;
};

/** \brief Method of choosing the range of a tensor's numbers */
enum class RangeMethod : uint8_t {
	MinMax,	    /**< range from the smallest number to the largest one */
	Percentile, /**< MinMax without a share of the numbers at each end */
	Entropy,    /**< the range that changes the distribution least, by relative entropy */
	/** \brief MinMax, with the next power of two as scale: fixed-point numbers, without zero
	 * points and with one scale for all kernels of an operator (nvdla/fixed_point.h) */
	PowersOfTwo,
};

/** \brief Samples and options for the conversion of a float model to integers */
struct Calibration {
	/**
	 * \brief Examples of the application's inputs: samples[i][j] has the numbers of input j in
	 * example i, in the model's order of inputs and axes. Some tens of examples are enough
	 */
	std::vector<std::vector<std::vector<float>>> samples;
	/**
	 * \brief Scales of tensors, used instead of ranges that are measured with the samples
	 *
	 * With a table, zero points are 0, and INT16 represents the same range of real numbers as
	 * INT8 does with the table's scale. Without samples, biases are not corrected and no errors
	 * are measured.
	 */
	CalibrationTable table;
	/** \brief Method of choosing ranges; not used with a table */
	RangeMethod method = RangeMethod::MinMax;
	/**
	 * \brief Percentile: percentage of the numbers, 50 to 100, that are at or below the upper
	 * limit of the range, and of those that are at or above its lower limit
	 */
	double percentile = 99.99;
	/** \brief Correct biases by the average error of results that the rounding of kernels
	 * causes */
	bool correctBias = true;
	/** \brief Type of activations and kernels: Int8 or Int16 */
	DataType type = DataType::Int8;
};

/**
 * \brief Additions that are fused with the convolution before them
 *
 * In a fused addition the convolution's result is neither rounded to FP16 nor saturated before it
 * is added. Apart from that, integer results equal those of two operations, except for ties in
 * rounding.
 */
enum class FoldSums {
	Floats, /**< fuse in float models, which are compiled to FP16 or, by calibration, to
		   integers */
	Never, /**< never fuse; in FP16, a convolution's result is also rounded before an activation
		  function */
	Always, /**< also fuse in integer models, in which the framework saturates before the
		   addition */
};

/** \brief Sizes for an input of which the model's file leaves some axes open */
struct InputShape {
	std::string name; /**< name of the input; may be empty if the model has one input */
	std::vector<uint32_t> sizes; /**< sizes of all axes, in the order of the file */

	bool operator==(const InputShape &) const = default;
};

/** \return shape in a text "x=1x3x224x224", or without a name "1x3x224x224" */
Result<InputShape> parseInputShape(std::string_view text);

/** \return text from which parseInputShape() makes the same shape */
std::string toString(const InputShape &shape);

/** \brief Use of a library of the host for operators that neither core nor CPU steps compute */
enum class HostUse {
	/** \brief ONNX Runtime for ONNX models, TensorFlow Lite for .tflite, if installed; not
	 * with everyTensor */
	Auto,
	Never,
};

struct CompileOptions {
	/** \brief Conversion of a float model to integers; without it, the model is computed in
	 * FP16 */
	std::optional<Calibration> calibration;
	/** \brief Make tensors between operators outputs too, after the model's own; except tensors
	 * inside fused operations, such as sums before a ReLU */
	bool everyTensor = false;
	/**
	 * \brief Rules for choosing between several ways to carry out an operation; nothing: each
	 * operation is carried out in its plain way
	 */
	std::optional<Strategy> strategy = Strategy{};
	/** \brief On-chip memory for surfaces between layers, in bytes; see
	 * AssembleOptions::sramBytes */
	uint64_t sramBytes = 0;
	/** \brief Additions of another tensor that are fused with the convolution before them */
	FoldSums foldSums = FoldSums::Floats;
	/** \brief Core to compile for; see findCoreVariant() */
	CoreGeometry core = nvFull;
	/**
	 * \brief Shapes for inputs whose sizes an ONNX file leaves open, or in place of the sizes
	 * in a TensorFlow Lite file; replacing them needs the library TensorFlow Lite
	 *
	 * An open first axis is 1 by default.
	 */
	std::vector<InputShape> shapes;
	HostUse host = HostUse::Auto;
};

/** \brief An input of a model */
struct ModelInput {
	std::string name;
	/** \brief Channels, lines and columns; 1 for axes that the input does not have */
	uint32_t c = 1;
	uint32_t h = 1;
	uint32_t w = 1;
	TensorSignature signature;
};

/**
 * \brief Read names, shapes and types of a model's inputs, in the model's order
 * \param[in] shapes as CompileOptions::shapes
 * \return the inputs; for a file that cannot be read, the error of compileModel()
 */
Result<std::vector<ModelInput>> modelInputs(std::span<const std::byte> model,
					    std::span<const InputShape> shapes = {});

/**
 * \brief Compile a model
 *
 * The model is a TensorFlow Lite file (.tflite) with one subgraph, or an ONNX file (.onnx). Integer
 * networks (int8, uint8, int16 with int8 kernels; ONNX with QuantizeLinear or QLinear operators)
 * are computed in integers, float networks in FP16. Inputs and outputs are in the order of the
 * model, and the loadable has their quantization. Tensors of uint8 become int8, with 128 subtracted
 * from elements and zero point. QUANTIZE at inputs and DEQUANTIZE at outputs are removed: the
 * application passes real numbers (Network::setInputFloat()) or the integers.
 *
 * \param[in] model the file's bytes, which are checked; not needed afterwards
 * \return InvalidFile naming the damage; Unsupported naming all operators that cannot be compiled,
 * their layers and the remedy; InvalidArgument naming the error in the samples, or a
 * tensor that is quantized already in a model that is to be calibrated
 */
Result<CompiledModel> compileModel(std::span<const std::byte> model,
				   const CompileOptions &options = {});

/** \brief Maximum size of a model's file, in bytes */
inline constexpr uint64_t maxModelBytes = uint64_t{ 1 } << 31;

/**
 * \brief Read a model's file
 *
 * Constants that an ONNX model keeps in other files become part of the result. The weights of a
 * Caffe net (.prototxt) are read from the .caffemodel file of the same name beside it, or else from
 * the only .caffemodel file in the folder. The net becomes an ONNX model.
 *
 * \return the bytes of a TensorFlow Lite or ONNX model; InvalidFile naming the file of constants
 * that is missing, not in the model's folder or too short, or the wrong line or layer of a Caffe
 * net; Unsupported naming an unknown parameter of a Caffe layer
 */
Result<std::vector<std::byte>> readModelFile(const std::string &path);

/** \brief Call compileModel() with the file at \a path, of at most maxModelBytes */
Result<CompiledModel> compileFile(const std::string &path, const CompileOptions &options = {});

/** \brief Result of supportedOperators() for an operator of a model */
struct OperatorSupport {
	size_t index = 0; /**< index among the operators of the file */
	std::string name; /**< name of the operator's first output */
	std::string type;
	/** \brief Reason why the operator cannot be compiled, and the remedy; empty if it can */
	std::string reason;
	/** \brief Reason why the operator runs on the CPU, as a step of the network; empty if it
	 * runs on the core */
	std::string cpu;
};

/**
 * \brief Find out which operators of a model can be compiled; they are in the model's order
 *
 * For frameworks that divide a model among devices: each operator is compiled separately, so the
 * reason is the error of compileModel(). An operator that becomes several operators (SPLIT) has an
 * entry for each of them.
 *
 * An operator that breaks the format's rules has a reason, too. In an ONNX file, so has each
 * operator that reads an output of the broken one, unless the file gives the output's shape.
 *
 * \return InvalidFile naming the damage, if the damage is outside of the operators
 */
Result<std::vector<OperatorSupport>> supportedOperators(std::span<const std::byte> model,
							const CoreGeometry &core = nvFull);

} /* namespace nvdla */

#pragma GCC visibility pop
