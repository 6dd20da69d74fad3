/* SPDX-License-Identifier: MIT */
/*
 * Translates a Caffe net into an ONNX model, layer by layer.
 */
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/message.h>
#include <google/protobuf/reflection.h>
#include <google/protobuf/text_format.h>

#include "compiler/rules.h"
#include "onnx.pb.h"

namespace nvdla::compiler::caffe
{

namespace schema = nvdla::onnx;

/** \brief The action that failed, for the errors of these functions */
inline constexpr const char *reading = "read Caffe net";

using Numbers = std::vector<float>;
using Shape = std::vector<int64_t>;

/**
 * \brief A message of a file, whose fields are read by the names that caffe.proto gives them
 *
 * A field that the file does not have reads as its default. The message must outlive the object.
 */
class Fields
{
public:
	using Name = const std::string &;

	Fields() = default;
	explicit Fields(const google::protobuf::Message &message) : message_(&message) {}

	/** \brief Whether the file has the field; false if the message has no field of that name */
	bool has(Name name) const
	{
		return at(name) && (isList(name) ? all().FieldSize(*message_, at(name)) > 0
						 : all().HasField(*message_, at(name)));
	}
	bool isList(Name name) const { return at(name)->is_repeated(); }
	bool isFloat(Name name) const { return at(name)->cpp_type() == at(name)->CPPTYPE_FLOAT; }
	int64_t integer(Name name) const { return all().GetInt64(*message_, at(name)); }
	float number(Name name) const { return all().GetFloat(*message_, at(name)); }
	std::string text(Name name) const { return all().GetString(*message_, at(name)); }
	/** \brief The value of a number, flag or enumerator in the spelling of a .prototxt */
	std::string printed(Name name) const
	{
		std::string text;
		google::protobuf::TextFormat::PrintFieldValueToString(*message_, at(name), -1,
								      &text);
		return text;
	}
	/** \brief Whether a field has a value; both are given as "field:value", as printed() */
	bool match(Name condition) const
	{
		const size_t end = condition.find(':');
		return printed(condition.substr(0, end)) == condition.substr(end + 1);
	}
	/** \brief All elements of a repeated field of type From */
	template<typename T, typename From = T>
	std::vector<T> list(Name name) const
	{
		const auto found = all().GetRepeatedFieldRef<From>(*message_, at(name));
		return { found.begin(), found.end() };
	}
	Fields part(Name name) const { return Fields(all().GetMessage(*message_, at(name))); }
	std::vector<Fields> parts(Name name) const
	{
		std::vector<Fields> parts;
		for (int i = 0; i < all().FieldSize(*message_, at(name)); i++)
			parts.emplace_back(all().GetRepeatedMessage(*message_, at(name), i));
		return parts;
	}

private:
	const google::protobuf::Reflection &all() const { return *message_->GetReflection(); }
	const google::protobuf::FieldDescriptor *at(Name name) const
	{
		return message_->GetDescriptor()->FindFieldByName(name);
	}

	const google::protobuf::Message *message_ = nullptr;
};

/** \brief The ONNX graph's tensor for a blob of the net */
struct Tensor {
	std::string name;
	size_t rank = 0; /**< number of axes; 0: not known */
};

using Tensors = std::vector<Tensor>;

struct Row;

/** \brief A net that becomes an ONNX model; the public part appends operators for one layer */
class Net : public Rules
{
public:
	Net() : Rules(reading) {}

	/**
	 * \param[in] trained net with the layers' weights
	 * \throw BrokenRule naming the layer and the field
	 */
	schema::Model translate(const Fields &net, const Fields &trained);
	void become(const Row &row);

	Fields fields;	   /* parameters of the layer's type */
	Tensors bottoms;   /* the layer's inputs, in Caffe's word */
	Tensors tops;	   /* the layer's outputs; at first the bottoms */
	size_t wanted = 0; /* number of tops that the file names */

	/* A bottom; beyond the last one a tensor without a name, which is ONNX's absent input. */
	Tensor bottom(size_t index = 0) const
	{
		return index < bottoms.size() ? bottoms[index] : Tensor{};
	}

	/* Numbers for lines and columns, from a field or its variants _h and _w; empty: absent. */
	Shape pair(const std::string &field) const
	{
		const std::string each = field.substr(0, field.find("_size"));
		Shape made = fields.has(field) ? fields.list<int64_t>(field) : Shape{};
		if (fields.has(each + "_h") || fields.has(each + "_w"))
			made = { fields.integer(each + "_h"), fields.integer(each + "_w") };
		if (made.size() == 1)
			made.push_back(made[0]);
		return made;
	}

	/* The numbers of a blob of weights. */
	Numbers numbers(size_t blob)
	{
		need(blob < blobs_.size(), "weights",
		     fmt::format("are {} blobs in the .caffemodel, {} or more are needed",
				 blobs_.size(), blob + 1));
		const Numbers numbers = blobs_[blob].list<float>("data");
		return numbers.empty() ? blobs_[blob].list<float, double>("double_data") : numbers;
	}
	/* A blob of weights as a constant, by default in the blob's own shape. */
	Tensor weights(size_t blob, Shape shape = {})
	{
		const Numbers numbers = this->numbers(blob);
		if (shape.empty())
			shape = blobs_[blob].part("shape").list<int64_t>("dim");
		return constant(numbers, shape);
	}
	bool hasBias() const { return fields.match("bias_term:true"); }

	/* A constant of the graph. An extent of -1 is computed from the number of elements. */
	template<typename T>
	Tensor constant(const std::vector<T> &numbers, Shape shape = { -1 })
	{
		auto left = static_cast<int64_t>(numbers.size());
		for (const int64_t extent : shape)
			if (extent != -1)
				left = extent > 0 && left % extent == 0 ? left / extent : 0;
		if (const auto open = std::ranges::find(shape, -1); open != shape.end())
			*open = std::exchange(left, left > 0);
		need(left == 1, "weights",
		     fmt::format("are {} numbers, which do not fit the layer's sizes",
				 numbers.size()));
		schema::Tensor &tensor = *graph_.add_initializer();
		tensor.set_name(unusedName());
		tensor.set_data_type(std::is_same_v<T, float> ? schema::FLOAT : schema::INT64);
		tensor.mutable_dims()->Add(shape.begin(), shape.end());
		tensor.set_raw_data(numbers.data(), numbers.size() * sizeof(T));
		return { tensor.name(), shape.size() };
	}

	/* Append an operator; its result has the first operand's rank, or 2 axes for Flatten. */
	Tensor add(const std::string &type, const Tensors &operands)
	{
		node_ = graph_.add_node();
		node_->set_op_type(type);
		for (const Tensor &operand : operands)
			addInput(operand);
		return addOutput(type == "Flatten" ? 2 : operands.empty() ? 0 : operands[0].rank);
	}
	/* Append an operator on the first top and an operand; its result becomes the only top. */
	void apply(const std::string &type, const Tensor &operand)
	{
		tops = { add(type, { tops.front(), operand }) };
	}
	/* Like apply(), with the operand's first axis aligned with \a axis of the top. */
	void applyAlong(const std::string &type, const Tensor &operand, int64_t axis)
	{
		const auto rank = static_cast<int64_t>(tops.front().rank);
		const int64_t axes = axis < 0 ? -axis : rank - axis; /* number from axis on */
		Shape shape(operand.rank); /* zeros: ONNX's Reshape keeps the extents */
		need(axes >= std::ssize(shape) && axes <= rank, "axis",
		     fmt::format("is {}, for {} axes of weights and {} of the bottom", axis,
				 shape.size(), rank));
		shape.resize(static_cast<size_t>(axes), 1);
		apply(type, add("Reshape", { operand, constant(shape) }));
	}
	/* Append an operator on a tensor and a number, unless the number is the neutral element. */
	void applyNumber(Tensor &x, const char *type, float number, float neutral)
	{
		if (number != neutral)
			x = add(type, { x, constant(Numbers{ number }) });
	}

	/* Operands and attributes of the operator that was appended last. */
	void addInput(const Tensor &tensor) { node_->add_input(tensor.name); }
	void set(const std::string &name, const Shape &numbers)
	{
		schema::Attribute &made = addAttribute(name, schema::ATTRIBUTE_INTS);
		made.mutable_ints()->Add(numbers.begin(), numbers.end());
	}

private:
	void addInputs(const std::vector<std::string> &names, std::vector<Shape> shapes);
	void translate(const Fields &layer);
	/* Append the operators of the first row that matches a layer. */
	void become(const Fields &layer, const std::string &type);
	void setFrom(const std::string &name, const std::string &field);
	schema::Attribute &addAttribute(const std::string &name, schema::AttributeType type)
	{
		schema::Attribute &made = *node_->add_attribute();
		made.set_name(name);
		made.set_type(type);
		return made;
	}
	Tensor addOutput(size_t rank)
	{
		node_->add_output(unusedName());
		return { *node_->output().rbegin(), rank };
	}
	std::string unusedName() { return name_ + "/" + std::to_string(made_++); }

	std::map<std::string, std::vector<Fields>> weights_; /* by name of the layer */
	std::map<std::string, Tensor> tensors_;		     /* by name of the blob */
	std::map<std::string, std::string> outputs_; /* last writing layer, by output blob */
	std::set<std::string> names_;		     /* names of tensors that are in use */
	schema::Model model_;
	schema::Graph &graph_ = *model_.mutable_graph();

	std::string name_; /* name of the layer that is being translated */
	std::vector<Fields> blobs_;
	schema::Node *node_ = nullptr; /* operator that was appended last */
	uint32_t made_ = 0;	       /* number of names made for the layer's tensors */
};

} /* namespace nvdla::compiler::caffe */
