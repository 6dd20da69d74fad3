/* SPDX-License-Identifier: MIT */
/*
 * An ONNX file that is divided: what its tensors are is known, and nothing of it is constant that
 * could be computed.
 */
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <nvdla/compiler.h>

#include "base/host/host_model.h"
#include "compiler/partition/node_graph.h"
#include "onnx.pb.h"

namespace nvdla::compiler
{

/** \brief Some nodes as a file, and what goes in and comes out, in the file's order */
struct OnnxPart {
	std::vector<std::byte> file;
	std::vector<std::string> inputs;
	std::vector<std::string> outputs;
};

/**
 * \brief A file's graph
 *
 * ONNX Runtime says what each tensor is, and computes what does not depend on inputs. It runs the
 * model twice for that, with different numbers: a tensor that has another shape then is not known.
 */
class OnnxGraph
{
public:
	/**
	 * \param[in] shapes as CompileOptions::shapes
	 * \return an error if there is no ONNX Runtime, or it cannot run the model
	 */
	static Result<OnnxGraph> read(std::span<const std::byte> file,
				      std::span<const InputShape> shapes);

	const NodeGraph &nodes() const { return *nodes_; }
	/** \return type and name of a node, for people */
	std::string describe(size_t node) const;
	std::string typeOf(size_t node) const { return nodes_->nodes()[node].type; }
	/** \return name of the first tensor that a node makes */
	std::string nameOf(size_t node) const;
	/** \return multiplications of a node, 0 of those that are not made of sums of products */
	uint64_t macsOf(size_t node) const;

	const std::vector<std::string> &inputs() const { return inputs_; }
	const std::vector<std::string> &outputs() const { return outputs_; }
	/** \return the plain tensor that holds a value; Unsupported if none can */
	Result<TensorDesc> tensorOf(const std::string &name) const;
	/** \return some nodes, in ascending order, as a file */
	Result<OnnxPart> part(std::span<const size_t> nodes) const;

private:
	OnnxGraph() = default;
	Result<void> readInputs(std::span<const InputShape> shapes);
	Result<void> askHost();
	Result<void> fold(const HostModel &model);
	bool isFoldable(const nvdla::onnx::Node &node,
			const std::set<std::string> &constants) const;
	std::vector<HostArray> numbers(bool isZero);
	const HostValue *find(const std::string &name) const;
	Result<void> describe(const std::string &name, nvdla::onnx::ValueInfo &to) const;

	nvdla::onnx::Model header_; /* without its graph */
	nvdla::onnx::Graph graph_;
	std::vector<std::string> inputs_;
	std::vector<std::string> outputs_;
	std::map<std::string, HostValue> known_;
	std::map<std::string, int> constants_; /* indices of initializers */
	std::optional<NodeGraph> nodes_;
	std::vector<std::vector<std::byte>> numbers_; /* that inputs are given */
};

} /* namespace nvdla::compiler */
