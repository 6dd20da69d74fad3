/* SPDX-License-Identifier: MIT */
/*
 * A layer of a Caffe net, and the ONNX operators that do the same.
 */
#pragma once

#include <string>
#include <vector>

#include <nvdla/error.h>

#include "caffe.pb.h"
#include "compiler/rules.h"
#include "onnx.pb.h"

namespace nvdla::compiler::caffe
{

namespace pb = nvdla::caffe;
namespace schema = nvdla::onnx;

/** \brief The failed action, in errors */
inline constexpr const char *reading = "read Caffe net";

using Numbers = std::vector<float>;
using Shape = std::vector<int64_t>;

/** \brief A tensor of the ONNX graph, which holds a blob of the net */
struct Tensor {
	std::string name;
	size_t rank = 0; /**< number of axes; 0: not known */
};

using Tensors = std::vector<Tensor>;

/**
 * \brief Reads one layer, and appends operators to a graph
 *
 * The first rule that the layer breaks is kept; what is made after it is meaningless, but harmless.
 */
class LayerReader : public Rules
{
public:
	/** \param[in] weights of the .caffemodel; null: it has none for this layer */
	LayerReader(const pb::Layer &layer,
		    const google::protobuf::RepeatedPtrField<pb::Blob> *weights, Tensors bottoms,
		    schema::Graph &graph);

	const pb::Layer &layer() const { return layer_; }
	const Tensors &bottoms() const { return bottoms_; }
	/** \brief One of them; an empty tensor after an error */
	Tensor bottom(size_t index = 0);
	/** \brief An axis of the first bottom, counted from the front */
	int64_t axis(int64_t axis);

	/** \brief A blob of weights; an empty one after an error */
	const pb::Blob &blob(size_t index);
	/** \brief The numbers of a blob */
	static Numbers numbersOf(const pb::Blob &blob);
	/** \brief A constant of the graph; \a shape may have one -1 for what the numbers give */
	Tensor constant(const Numbers &numbers, Shape shape);
	Tensor constant(const std::vector<int64_t> &numbers);

	/** \brief Append an operator; its result has as many axes as the first operand */
	Tensor add(const std::string &type, const Tensors &operands);
	/** \brief One more operand, or one more output, of the operator that add() appended last */
	void addInput(const Tensor &tensor) { last_->add_input(tensor.name); }
	Tensor addOutput();
	/** \brief Attributes of the operator that add() appended last */
	LayerReader &set(const std::string &attribute, int64_t value);
	LayerReader &set(const std::string &attribute, float value);
	LayerReader &set(const std::string &attribute, const std::vector<int64_t> &values);
	/** \brief Whether add() made a tensor, rather than an earlier layer */
	bool isNew(const Tensor &tensor) const
	{
		return tensor.name.starts_with(layer_.name() + "/");
	}

private:
	schema::Attribute &attribute(const std::string &name, int32_t type);
	std::string unusedName() { return layer_.name() + "/" + std::to_string(made_++); }

	const pb::Layer &layer_;
	const google::protobuf::RepeatedPtrField<pb::Blob> *weights_;
	Tensors bottoms_;
	schema::Graph &graph_;
	schema::Node *last_ = nullptr;
	uint32_t made_ = 0;
};

/** \return a tensor for each top; of a type that is not known: an operator of that type */
Tensors readLayer(LayerReader &reader);

} /* namespace nvdla::compiler::caffe */
