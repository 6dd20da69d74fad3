/* SPDX-License-Identifier: MIT */
/*
 * One operator of an ONNX file, with checks of its attributes and of the tensors it reads.
 */
#pragma once

#include <map>
#include <optional>
#include <ranges>
#include <string>

#include <fmt/ranges.h>

#include "compiler/import/import.h"
#include "compiler/import/operand_reader.h"
#include "onnx.pb.h"

namespace nvdla::compiler::onnx
{

namespace pb = nvdla::onnx;

/** \brief The action that failed, for the errors of these functions */
inline constexpr const char *reading = "read ONNX model";

/** \brief A file that is being read */
struct Import : legalize::Building {
	std::map<std::string, Tensor> tensors;
	int64_t version = 0; /**< version of ONNX's operator set */
};

/** \brief N, H, W, C for the four axes N, C, H, W of a picture */
inline const legalize::AxisOrder channelsLast{ 0, 2, 3, 1 };

/** \brief Reads an operator and appends the model's operators for it */
class NodeReader : public OperandReader
{
public:
	NodeReader(Import &import, const pb::Node &node);

	/** \brief Version of the operator set */
	int64_t version() const { return import_.version; }
	/** \brief Before version 7 attributes, not shapes, say how two tensors are broadcast */
	bool isBeforeBroadcasting() const { return version() > 0 && version() < 7; }

	int64_t integer(const std::string &name, int64_t usual) const override
	{
		return attribute(name) ? attribute(name)->i() : usual;
	}
	double number(const std::string &name, double usual) const override
	{
		return attribute(name) ? static_cast<double>(attribute(name)->f()) : usual;
	}
	std::string text(const std::string &name, const std::string &usual) const
	{
		return attribute(name) ? attribute(name)->s() : usual;
	}
	std::vector<int64_t> integers(const std::string &name) const;
	/** \brief The entry of \a words for the word in an attribute, by default for \a usual */
	template<typename T>
	T choice(const std::string &name, const std::string &usual,
		 const std::map<std::string, T> &words)
	{
		const std::string word = text(name, usual);
		const auto found = words.find(word);

		support(found != words.end(), name,
			fmt::format("is {}; {} are known", word,
				    fmt::join(std::views::keys(words), ", ")));
		return found->second;
	}
	const pb::Attribute *attribute(const std::string &name) const;

	/** \brief Before version 7 attributes align the second operand with the first one */
	Tensor input(size_t index) override;
	size_t inputs() const override { return shown_.size(); }
	size_t outputs() const override { return static_cast<size_t>(node_.output_size()); }
	bool hasInput(size_t index) const override
	{
		return index < inputs() && shown_[index] < node_.input_size() &&
		       !node_.input(shown_[index]).empty();
	}
	/** \brief Restrict and reorder the node's inputs that the other functions see */
	void showInputs(std::vector<int> indices) { shown_ = std::move(indices); }
	/** \brief Whether input 0 has batch, channels and columns, but no lines */
	bool isLine() { return input(0).shape.size() == 3; }
	/** \brief List of a constant input; an empty list if the input is not given */
	std::vector<Value> biasOf(size_t index)
	{
		return hasInput(index) ? std::vector{ constant(index) } : std::vector<Value>{};
	}
	std::vector<int64_t> list(size_t index, const std::string &name) override
	{
		return attribute(name) ? integers(name) : wholeNumbers(index);
	}

	/** \brief Set a tensor's quantization; an error if it has a different one already */
	void quantize(const Tensor &tensor, const TensorQuantization &quantization,
		      uint32_t axis = 0);
	void write(const Tensor &tensor, size_t output) override;

	/** \brief Whether the operator is unknown only because an input's shape is unknown */
	bool follows() const { return follows_; }

private:
	Tensor tensor(size_t index) override;

	Import &import_;
	const pb::Node &node_;
	std::vector<int> shown_; /* indices in the node of the inputs that showInputs() left */
	bool follows_ = false;
};

/**
 * \brief Set sizes that a graph's inputs leave open, and those of axes with the same names
 *
 * An axis gets the first of: the file's size, the given size, the size of another axis of its name,
 * 1 for the first axis. Old files list constants as inputs, too: these are removed from the inputs.
 *
 * \throw BrokenRule Unsupported if a size stays open; InvalidArgument if a given one contradicts
 * the file; the errors of givenShapes()
 */
void closeShapes(pb::Graph &graph, std::span<const InputShape> shapes);

/** \brief Maximum number of a constant's elements: ConstantOfShape could make any number */
inline constexpr uint64_t maxConstant = uint64_t{ 1 } << 28;

/** \brief The elements of a constant of the file */
Result<Value> readConstant(const pb::Tensor &tensor);
/** \return the element type with this number in files; nothing if the number is unknown */
std::optional<ElementType> elementTypeOf(int32_t type);
/** \return a constant of whole numbers; one-dimensional unless \a shape is given */
Value wholeConstant(const std::vector<int64_t> &numbers, std::optional<Extents> shape = {});
/** \brief Reads an operator: returns its first output, and writes the others */
using ReadNode = Tensor (*)(NodeReader &reader);

/** \brief Readers of the operators of a family, by their names in the standard */
using NodeTable = std::map<std::string, ReadNode>;

extern const NodeTable constantNodes;
extern const NodeTable elementNodes;
extern const NodeTable recurrentNodes;
extern const NodeTable windowNodes;

/**
 * \brief Read an operator, maybe one with scales and zero points as inputs
 * \return its first output; nothing if it is unknown
 */
std::optional<Tensor> readNode(NodeReader &reader, const std::string &type);

} /* namespace nvdla::compiler::onnx */
