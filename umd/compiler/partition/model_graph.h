/* SPDX-License-Identifier: MIT */
/*
 * A model's file that is divided: what its tensors are is known, and which of its operators do not
 * depend on inputs.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/compiler.h>

#include "compiler/partition/node_graph.h"

namespace nvdla::compiler
{

/** \brief The failed action, in errors */
inline constexpr const char *divideModel = "divide model";

/** \brief Some nodes as a file, and what goes in and comes out, in the file's order */
struct ModelPart {
	std::vector<std::byte> file;
	std::vector<std::string> inputs;
	std::vector<std::string> outputs;
	size_t before = 0; /**< operators of the file before those that are the nodes */
};

/** \brief A file's graph; each tensor has a name of its own */
class ModelGraph
{
public:
	virtual ~ModelGraph() = default;

	const NodeGraph &nodes() const { return *nodes_; }
	const std::vector<std::string> &inputs() const { return inputs_; }
	const std::vector<std::string> &outputs() const { return outputs_; }
	const std::string &typeOf(size_t node) const { return nodes_->nodes()[node].type; }
	/** \return name of the first tensor that a node makes */
	std::string nameOf(size_t node) const;
	/** \return type and name of a node, for people */
	std::string describe(size_t node) const;

	/** \return the plain tensor that holds a value; Unsupported if none can */
	virtual Result<TensorDesc> tensorOf(const std::string &name) const = 0;
	/** \return some nodes, in ascending order, as a file */
	virtual Result<ModelPart> part(std::span<const size_t> nodes) const = 0;
	/** \return whether what a node reads is no constant */
	virtual bool isComputed(const std::string &name) const = 0;
	/** \return multiplications of a node, 0 of those that are not made of sums of products */
	virtual uint64_t macsOf(size_t node) const = 0;
	/** \return the reason why the host has to compute the whole model; empty if there is none
	 */
	virtual std::string wholeBecause() const { return {}; }

protected:
	/**
	 * \brief Set what goes into some nodes and comes out of them
	 * \param[in] nodes in ascending order
	 * \return an error if a tensor between parts cannot be one
	 */
	Result<void> bound(std::span<const size_t> nodes, ModelPart &part) const;
	/** \return as tensorOf() for a shape and a type, if there is one */
	static Result<TensorDesc> plainTensor(const std::string &name, std::optional<DataType> type,
					      const std::vector<int64_t> &shape);

	std::vector<std::string> inputs_;
	std::vector<std::string> outputs_;
	std::optional<NodeGraph> nodes_;
};

/** \return number of elements of a shape without open extents */
uint64_t elementsOf(const std::vector<int64_t> &shape);

/**
 * \brief An ONNX file's graph
 * \param[in] shapes as CompileOptions::shapes
 * \return an error if there is no ONNX Runtime, or it cannot run the model
 */
Result<std::unique_ptr<ModelGraph>> readOnnxGraph(std::span<const std::byte> file,
						  std::span<const InputShape> shapes);
/**
 * \brief A TensorFlow Lite file's first graph
 * \param[in] file outlives the graph
 * \return an error if there is no TensorFlow Lite
 */
Result<std::unique_ptr<ModelGraph>> readTfliteGraph(std::span<const std::byte> file);

/** \brief A part for the core, or for the host */
struct MergedPart {
	size_t step = 0;
	std::vector<size_t> nodes;
	std::vector<std::string> inputs;
	std::vector<std::string> outputs;
	std::optional<CompiledModel> model; /**< nothing: it is the host's */
	std::vector<std::byte> file;	    /**< of the host's */
};

/**
 * \param[in] parts in the order in which they are carried out
 * \param[in] reasons why a node is not the core's
 */
Result<CompiledModel> mergeParts(const ModelGraph &graph, std::vector<MergedPart> parts,
				 const std::vector<std::string> &reasons);

} /* namespace nvdla::compiler */
