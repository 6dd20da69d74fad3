/* SPDX-License-Identifier: MIT */
/*
 * Translates a layer of a Caffe net into equivalent ONNX operators.
 */
#pragma once

#include <string>
#include <vector>

#include <google/protobuf/message.h>
#include <google/protobuf/reflection.h>
#include <google/protobuf/text_format.h>
#include <nvdla/error.h>

#include "onnx.pb.h"

namespace nvdla::compiler::caffe
{

namespace schema = nvdla::onnx;

/** \brief The failed action, in errors */
inline constexpr const char *reading = "read Caffe net";

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
	/** \brief A number, flag or enumerator in the spelling of a .prototxt */
	std::string printed(Name name) const
	{
		std::string text;
		google::protobuf::TextFormat::PrintFieldValueToString(*message_, at(name), -1,
								      &text);
		return text;
	}
	/** \brief Whether a field has a value, given as "field:value" in the same spelling */
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

	const google::protobuf::Message *message_;
};

/** \brief The ONNX graph's tensor for a blob of the net */
struct Tensor {
	std::string name;
	size_t rank = 0; /**< number of axes; 0: not known */
};

using Tensors = std::vector<Tensor>;

/**
 * \brief Append a layer's ONNX operators to a graph
 * \param[in] blobs of weights; none where the .caffemodel does not have the layer
 * \return a new tensor for each top; a layer of an unknown type becomes an operator of that type
 * \throw BrokenRule naming the layer and the field
 */
Tensors readLayer(const Fields &layer, const std::vector<Fields> &blobs, const Tensors &bottoms,
		  schema::Graph &graph);

} /* namespace nvdla::compiler::caffe */
