/* SPDX-License-Identifier: MIT */
/*
 * Small ONNX models, made in a test.
 */
#pragma once

#include <cctype>
#include <string>
#include <vector>

#include "onnx.pb.h"

namespace nvdla::test
{

/** \brief Puts a file together; names are free, operators go in their order */
class OnnxBuilder
{
public:
	explicit OnnxBuilder(int64_t version = 13)
	{
		model_.set_ir_version(8);
		model_.add_opset_import()->set_version(version);
	}

	void input(const std::string &name, const std::vector<int64_t> &shape,
		   int32_t type = onnx::FLOAT)
	{
		describe(model_.mutable_graph()->add_input(), name, shape, type);
	}
	/** \brief An input whose axes have numbers, or names of sizes that are open */
	void openInput(const std::string &name, const std::vector<std::string> &axes)
	{
		onnx::ValueInfo *info = model_.mutable_graph()->add_input();
		describe(info, name, {}, onnx::FLOAT);
		auto *shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
		for (const std::string &axis : axes) {
			if (std::isdigit(static_cast<unsigned char>(axis.front())))
				shape->add_dim()->set_dim_value(std::stoll(axis));
			else
				shape->add_dim()->set_dim_param(axis);
		}
	}
	void output(const std::string &name, int32_t type = onnx::FLOAT,
		    const std::vector<int64_t> &shape = {})
	{
		describe(model_.mutable_graph()->add_output(), name, shape, type);
	}
	/** \brief Say what shape a tensor in the midst of the graph has */
	void inside(const std::string &name, const std::vector<int64_t> &shape)
	{
		describe(model_.mutable_graph()->add_value_info(), name, shape, onnx::FLOAT);
	}
	void floats(const std::string &name, const std::vector<int64_t> &shape,
		    const std::vector<float> &numbers)
	{
		onnx::Tensor *tensor = constant(name, shape, onnx::FLOAT);
		for (const float number : numbers)
			tensor->add_float_data(number);
	}
	/** \brief int8, uint8 or int32 */
	void integers(const std::string &name, const std::vector<int64_t> &shape,
		      const std::vector<int32_t> &numbers, int32_t type = onnx::INT8)
	{
		onnx::Tensor *tensor = constant(name, shape, type);
		for (const int32_t number : numbers)
			tensor->add_int32_data(number);
	}
	/** \brief A list of int64, as shapes and axes are given */
	void list(const std::string &name, const std::vector<int64_t> &numbers)
	{
		onnx::Tensor *tensor =
			constant(name, { static_cast<int64_t>(numbers.size()) }, onnx::INT64);
		for (const int64_t number : numbers)
			tensor->add_int64_data(number);
	}
	onnx::Node *node(const std::string &type, const std::vector<std::string> &inputs,
			 const std::string &output)
	{
		onnx::Node *node = model_.mutable_graph()->add_node();
		node->set_op_type(type);
		for (const std::string &input : inputs)
			node->add_input(input);
		node->add_output(output);
		return node;
	}
	static void set(onnx::Node *node, const std::string &name,
			const std::vector<int64_t> &numbers)
	{
		onnx::Attribute *attribute = node->add_attribute();
		attribute->set_name(name);
		attribute->set_i(numbers.front());
		for (const int64_t number : numbers)
			attribute->add_ints(number);
	}
	/** \brief Attributes with their types, as ONNX Runtime wants them, too */
	static void setInteger(onnx::Node *node, const std::string &name, int64_t number)
	{
		attributeOf(node, name, integerType)->set_i(number);
	}
	static void setList(onnx::Node *node, const std::string &name,
			    const std::vector<int64_t> &numbers)
	{
		onnx::Attribute *attribute = attributeOf(node, name, listType);
		for (const int64_t number : numbers)
			attribute->add_ints(number);
	}
	static void setReal(onnx::Node *node, const std::string &name, float number)
	{
		attributeOf(node, name, realType)->set_f(number);
	}
	static void setReals(onnx::Node *node, const std::string &name,
			     const std::vector<float> &numbers)
	{
		attributeOf(node, name, realsType)
			->mutable_floats()
			->Add(numbers.begin(), numbers.end());
	}
	static void setText(onnx::Node *node, const std::string &name, const std::string &text)
	{
		attributeOf(node, name, textType)->set_s(text);
	}
	static void setTexts(onnx::Node *node, const std::string &name,
			     const std::vector<std::string> &texts)
	{
		onnx::Attribute *attribute = attributeOf(node, name, textsType);
		for (const std::string &text : texts)
			attribute->add_strings(text);
	}

	/** \return the file's bytes */
	std::vector<std::byte> file() const
	{
		const std::string bytes = model_.SerializeAsString();
		const auto *data = reinterpret_cast<const std::byte *>(bytes.data());
		return { data, data + bytes.size() };
	}

private:
	/* AttributeProto.AttributeType of the format. */
	static constexpr int32_t realType = 1, integerType = 2, textType = 3, realsType = 6,
				 listType = 7, textsType = 8;

	static onnx::Attribute *attributeOf(onnx::Node *node, const std::string &name, int32_t type)
	{
		onnx::Attribute *attribute = node->add_attribute();
		attribute->set_name(name);
		attribute->set_type(type);
		return attribute;
	}
	static void describe(onnx::ValueInfo *info, const std::string &name,
			     const std::vector<int64_t> &shape, int32_t type)
	{
		info->set_name(name);
		auto *tensor = info->mutable_type()->mutable_tensor_type();
		tensor->set_elem_type(type);
		for (const int64_t extent : shape)
			tensor->mutable_shape()->add_dim()->set_dim_value(extent);
	}
	onnx::Tensor *constant(const std::string &name, const std::vector<int64_t> &shape,
			       int32_t type)
	{
		onnx::Tensor *tensor = model_.mutable_graph()->add_initializer();
		tensor->set_name(name);
		tensor->set_data_type(type);
		for (const int64_t extent : shape)
			tensor->add_dims(extent);
		return tensor;
	}

	onnx::Model model_;
};

} /* namespace nvdla::test */
