/* SPDX-License-Identifier: MIT */
/*
 * From models of other tools to loadables.
 */
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nvdla/error.h>
#include <nvdla/loadable.h>
#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief What became of one operator of a model */
struct LayerReport {
	std::string name; /**< of the first tensor that it makes */
	std::string type; /**< as the model's format calls it */
	/** \brief Operations in the graph, in their order; none if nothing is left to do */
	std::vector<std::string> operations;
	/** \brief Why it runs on the CPU; empty: it does not */
	std::string cpu;
};

/** \brief What became of a model */
struct CompileReport {
	std::vector<LayerReport> layers; /**< in the order of the model */
};

/** \brief A network that can run, and how it came about */
struct CompiledModel {
	Loadable loadable;
	CompileReport report;
	/** \brief How the model has the elements of each input and output, in their order */
	std::vector<ElementOrder> inputOrders;
	std::vector<ElementOrder> outputOrders;
	/** \brief Inputs whose integers are -128 to 127, though the core may hold them in 16 bits */
	std::vector<bool> inputsOf8Bits;
};

/**
 * \brief Compile a model
 *
 * A TensorFlow Lite file (.tflite) of one subgraph, or an ONNX file (.onnx). Integer networks
 * (int8, uint8, int16 with int8 kernels; ONNX with QuantizeLinear or QLinear operators) are
 * computed in integers, float networks in FP16. Inputs and outputs are in the order of the model,
 * and the loadable has their quantization. Tensors of uint8 become int8 whose zero point is less by
 * 128. Quantizing and dequantizing at the ends falls away: the application gives and takes real
 * numbers (Network::setInputFloat()) or the integers.
 *
 * \param[in] model the file's bytes; not needed afterwards. Any bytes: they are checked.
 * \return InvalidFile naming what is damaged; Unsupported naming the operator, its layer and the
 * remedy
 */
Result<CompiledModel> compileModel(std::span<const std::byte> model);

/** \brief compileModel() of the file at \a path, of at most 2 GiB */
Result<CompiledModel> compileFile(const std::string &path);

/** \brief Whether an operator of a model can be compiled */
struct OperatorSupport {
	size_t index = 0; /**< among the operators of the file */
	std::string name; /**< as in LayerReport */
	std::string type;
	/** \brief Why it cannot be compiled, and the remedy; empty: it can */
	std::string reason;
	/** \brief Why it runs on the CPU, as a step of the network; empty: on the core */
	std::string cpu;
};

/**
 * \brief Which operators of a model can be compiled, in their order
 *
 * What a partitioner asks: each operator is compiled alone, so a reason is what compileModel()
 * would say. An operator that becomes several (SPLIT) has an entry for each of them.
 *
 * \return InvalidFile naming what is damaged; Unsupported if operators cannot be told apart, as in
 * an ONNX file where the shape behind one that is not known is not in the file
 */
Result<std::vector<OperatorSupport>> supportedOperators(std::span<const std::byte> model);

/** \return the report as text, a line for each layer */
std::string toText(const CompileReport &report);
/** \return the report as JSON: { "layers": [ { "name", "type", "operations", "cpu" } ] } */
std::string toJson(const CompileReport &report);

} /* namespace nvdla */

#pragma GCC visibility pop
