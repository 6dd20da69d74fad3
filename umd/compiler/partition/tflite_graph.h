/* SPDX-License-Identifier: MIT */
/*
 * A TensorFlow Lite file that is divided.
 */
#pragma once

#include <map>
#include <set>

#include "compiler/import/tflite/file.h"
#include "compiler/ir/model.h"
#include "compiler/partition/model_graph.h"

namespace nvdla::compiler
{

/**
 * \brief A TensorFlow Lite file's first graph
 *
 * Values that do not depend on inputs belong to no node: each part that reads one computes it
 * itself, or has it as a constant.
 */
class TfliteGraph : public ModelGraph
{
public:
	/** \param[in] file has to outlive the graph */
	static Result<TfliteGraph> read(std::span<const std::byte> file);

	Result<TensorDesc> tensorOf(const std::string &name) const override;
	Result<ModelPart> part(std::span<const size_t> nodes) const override;
	/* Nodes have no others among their inputs. */
	bool isComputed(const std::string &) const override { return true; }
	uint64_t macsOf(size_t node) const override;
	std::string wholeBecause() const override;

private:
	using Tensors = std::vector<int32_t>;

	TfliteGraph(std::span<const std::byte> bytes, tflite::File file, Model model);

	void nameTensors();
	void addOperators();
	const tflite::fb::SubGraph &graph() const { return *file_.model().subgraphs()->Get(0); }
	const tflite::fb::Operator &source(size_t index) const;
	tflite::fb::BuiltinOperator kindOf(const tflite::fb::Operator &source) const;
	/* Those of the file's that an operator has. */
	Tensors tensors(const flatbuffers::Vector<int32_t> *ids) const;
	/* Tensors that an operator reads, without constants and its own state. */
	Tensors readBy(const tflite::fb::Operator &source) const;
	bool isConstant(const tflite::fb::Operator &source) const;
	/* The operators that compute what \a index reads and no node computes, in their order. */
	void addConstants(size_t index, std::set<int32_t> &operators) const;
	std::vector<int64_t> shapeOf(int32_t tensor) const;

	std::span<const std::byte> bytes_;
	tflite::File file_;
	Model model_; /* values are the file's tensors */
	std::vector<std::string> names_;
	std::map<std::string, int32_t> numbers_;   /* of tensors */
	std::map<int32_t, size_t> constantMakers_; /* operators, by the tensors that they make */
	std::set<int32_t> computed_;		   /* inputs, and what nodes make */
	std::vector<size_t> operators_;		   /* indices of what the nodes are */
};

} /* namespace nvdla::compiler */
