/* SPDX-License-Identifier: MIT */
/*
 * The graph of a model's file, for its division between core and host: types and shapes of tensors,
 * and which operators depend on inputs.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/compiler.h>

#include "compiler/compile.h"
#include "compiler/partition/node_graph.h"
#include "compiler/rules.h"

namespace nvdla::compiler
{

/** \brief The action that failed, for the errors of these functions */
inline constexpr const char *divideModel = "divide model";
/** \brief Reason of the error Unsupported for a value whose size differs from run to run */
inline constexpr const char *differentSizes = "has a size that depends on the inputs' numbers";

/** \brief A file with some of the graph's nodes; names of its inputs and outputs, in order */
struct ModelPart {
	std::vector<std::byte> file;
	std::vector<std::string> inputs;
	std::vector<std::string> outputs;
	size_t before = 0; /**< number of operators in the file before the nodes' operators */
};

/** \brief A file's graph; no two tensors have the same name */
class ModelGraph
{
public:
	virtual ~ModelGraph() = default;

	const NodeGraph &nodeGraph() const { return *nodes_; }
	const std::vector<GraphNode> &nodes() const { return nodes_->nodes(); }
	const std::vector<std::string> &inputs() const { return inputs_; }
	const std::vector<std::string> &outputs() const { return outputs_; }
	/** \brief States, whose inputs and outputs are among inputs() and outputs() */
	const std::vector<State> &states() const { return states_; }
	/** \brief Whether a tensor is the input or output of a state */
	bool isOfState(const std::string &name) const
	{
		return std::ranges::any_of(states_, [&](const State &state) {
			return name == inputs_[state.input] || name == outputs_[state.output];
		});
	}
	bool isOutput(const std::string &name) const { return std::ranges::count(outputs_, name); }

	/**
	 * \return the network's tensor, in plain layout and maybe with open axes, that can hold a
	 * value; Unsupported if there is none
	 */
	virtual Result<TensorDesc> tensorOf(const std::string &name) const = 0;
	/** \return as tensorOf(), for a value between parts; Unsupported if an axis is open */
	Result<TensorDesc> fixedTensor(const std::string &name) const;
	/**
	 * \return a file of the given nodes, which are in ascending order
	 * \throw BrokenRule if a tensor between parts cannot be a network's tensor
	 */
	ModelPart part(std::span<const size_t> nodes) const { return cut(nodes, bound(nodes)); }
	/** \return why the host has to compute the whole model; empty if it need not */
	const std::string &wholeBecause() const { return wholeBecause_; }

protected:
	/** \brief Add the file of a part whose inputs and outputs are known; throws as part() */
	virtual ModelPart cut(std::span<const size_t> nodes, ModelPart part) const = 0;
	/** \return the result of tensorOf() for a shape, -1 for open axes, and an optional type */
	static Result<TensorDesc> plainTensor(const std::string &name, std::optional<DataType> type,
					      const std::vector<int64_t> &shape);

	std::vector<std::string> inputs_;
	std::vector<std::string> outputs_;
	std::vector<State> states_;
	std::string wholeBecause_;
	std::optional<NodeGraph> nodes_;

private:
	/* Returns a part with the inputs and outputs of \a nodes, without a file. */
	ModelPart bound(std::span<const size_t> nodes) const;
};

using FileShape = std::vector<int64_t>; /**< lengths of the axes; -1 for an open axis */

/** \return number of elements of a shape without open extents */
uint64_t elementsOf(const FileShape &shape);
/**
 * \brief Number of multiplications in an operator of ONNX or TensorFlow Lite
 * \param[in] inputs shapes of all inputs; empty if not known
 * \param[in] made shape of the first output
 * \param[in] channels axis of a convolution's channels
 * \return 0 if the operator computes no sums of products
 */
uint64_t macsOf(const std::string &type, const std::vector<FileShape> &inputs,
		const FileShape &made, size_t channels);

/**
 * \brief An ONNX file's graph
 * \param[in] shapes as CompileOptions::shapes
 * \throw BrokenRule if there is no ONNX Runtime, or it cannot run the model
 */
std::unique_ptr<ModelGraph> readOnnxGraph(std::span<const std::byte> file,
					  std::span<const InputShape> shapes);
/**
 * \brief A TensorFlow Lite file's first graph
 * \param[in] file outlives the graph
 * \throw BrokenRule if there is no TensorFlow Lite
 */
std::unique_ptr<ModelGraph> readTfliteGraph(std::span<const std::byte> file);

/** \brief A part for the core, or for the host */
struct MergedPart : ModelPart {
	size_t step = 0;		      /**< NodeGroup::step */
	std::vector<size_t> nodes;	      /**< indices into ModelGraph::nodes() */
	std::shared_ptr<CompiledModel> model; /**< none for a part of the host */
	bool hasProducts = false;	      /**< it has convolutions or products of matrices */
};

/**
 * \param[in] parts in the order in which they are carried out
 * \param[in] reasons why each node of the host is not computed by the core
 * \throw BrokenRule if a loadable cannot hold the network
 */
CompiledModel mergeParts(const ModelGraph &graph, std::vector<MergedPart> parts,
			 const std::vector<std::string> &reasons);

} /* namespace nvdla::compiler */
