/* SPDX-License-Identifier: MIT */
#include "model_writer.h"

#include <cstring>
#include <set>

#include <fmt/core.h>

#include "onnx.pb.h"

namespace nvdla::ort
{

namespace
{

namespace pb = nvdla::onnx;
constexpr const char *what = "write ONNX model";

Result<void> writeTensor(const Api &api, const OrtValue *from, pb::Tensor &to)
{
	OrtTensorTypeAndShapeInfo *info = nullptr;
	ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
	size_t rank = 0, bytes = 0;
	const void *data = nullptr;

	NVDLA_ORT_TRY(api, api->GetTensorTypeAndShape(from, &info));
	const std::unique_ptr<OrtTensorTypeAndShapeInfo,
			      decltype(api->ReleaseTensorTypeAndShapeInfo)>
		kept(info, api->ReleaseTensorTypeAndShapeInfo);
	NVDLA_ORT_TRY(api, api->GetTensorElementType(info, &type));
	NVDLA_ORT_TRY(api, api->GetDimensionsCount(info, &rank));
	std::vector<int64_t> shape(rank);
	NVDLA_ORT_TRY(api, api->GetDimensions(info, shape.data(), rank));
	NVDLA_ORT_TRY(api, api->GetTensorSizeInBytes(from, &bytes));
	NVDLA_ORT_TRY(api, api->GetTensorData(from, &data));
	to.mutable_dims()->Add(shape.begin(), shape.end());
	to.set_data_type(type);
	to.set_raw_data(data, bytes);
	return {};
}

/* Returns the elements of an attribute that is a list. */
template<typename T>
Result<std::vector<T>> readList(const Api &api, const OrtOpAttr *from, OrtOpAttrType type)
{
	size_t bytes = 0;

	/* This call fails, because there is no buffer, and returns the number of bytes. */
	if (OrtStatus *status = api->ReadOpAttr(from, type, nullptr, 0, &bytes))
		api->ReleaseStatus(status);
	std::vector<T> elements(bytes / sizeof(T));
	if (bytes)
		NVDLA_ORT_TRY(api, api->ReadOpAttr(from, type, elements.data(), bytes, &bytes));
	return elements;
}

Result<void> writeList(const Api &api, const OrtOpAttr *from, OrtOpAttrType type, pb::Attribute &to)
{
	if (type == ORT_OP_ATTR_INTS) {
		auto numbers = readList<int64_t>(api, from, type);
		if (!numbers)
			return forward(numbers);
		to.set_type(pb::ATTRIBUTE_INTS);
		to.mutable_ints()->Add(numbers->begin(), numbers->end());
	} else if (type == ORT_OP_ATTR_FLOATS) {
		auto numbers = readList<float>(api, from, type);
		if (!numbers)
			return forward(numbers);
		to.set_type(pb::ATTRIBUTE_FLOATS);
		to.mutable_floats()->Add(numbers->begin(), numbers->end());
	} else {
		auto text = readList<char>(api, from, type);
		if (!text)
			return forward(text);
		to.set_type(pb::ATTRIBUTE_STRING);
		to.set_s(std::string(text->data(), strnlen(text->data(), text->size())));
	}
	return {};
}

Result<void> writeAttribute(const Api &api, const OrtOpAttr *from, pb::Attribute &to)
{
	OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
	const char *name = nullptr;
	size_t bytes = 0;
	int64_t integer = 0;
	float number = 0;

	NVDLA_ORT_TRY(api, api->OpAttr_GetType(from, &type));
	NVDLA_ORT_TRY(api, api->OpAttr_GetName(from, &name));
	to.set_name(name);
	switch (type) {
	case ORT_OP_ATTR_INT:
		NVDLA_ORT_TRY(api, api->ReadOpAttr(from, type, &integer, sizeof(integer), &bytes));
		to.set_type(pb::ATTRIBUTE_INT);
		to.set_i(integer);
		return {};
	case ORT_OP_ATTR_FLOAT:
		NVDLA_ORT_TRY(api, api->ReadOpAttr(from, type, &number, sizeof(number), &bytes));
		to.set_type(pb::ATTRIBUTE_FLOAT);
		to.set_f(number);
		return {};
	case ORT_OP_ATTR_INTS:
	case ORT_OP_ATTR_FLOATS:
	case ORT_OP_ATTR_STRING:
		return writeList(api, from, type, to);
	case ORT_OP_ATTR_TENSOR: {
		OrtValue *value = nullptr;
		NVDLA_ORT_TRY(api, api->OpAttr_GetTensorAttributeAsOrtValue(from, &value));
		const std::unique_ptr<OrtValue, decltype(api->ReleaseValue)> kept(
			value, api->ReleaseValue);
		to.set_type(pb::ATTRIBUTE_TENSOR);
		return writeTensor(api, value, *to.mutable_t());
	}
	default:
		return fail(ErrorCode::Unsupported, what, name, "is an attribute of another type");
	}
}

class Writer
{
public:
	Writer(const Api &api, const GraphView &graph, std::span<const size_t> chosen)
		: api_(api), graph_(graph), chosen_(chosen)
	{
	}

	Result<WrittenModel> write();

private:
	Result<void> writeNode(const NodeView &node);
	Result<void> writeConstant(const ValueView &value);
	static void describe(const ValueView &value, pb::ValueInfo &to);

	const Api &api_;
	const GraphView &graph_;
	std::span<const size_t> chosen_;
	pb::Model model_;
	std::set<std::string> known_; /* names of the tensors that are in the file */
	std::set<std::string> readElsewhere_;
	WrittenModel written_;
};

void Writer::describe(const ValueView &value, pb::ValueInfo &to)
{
	pb::TensorType &tensor = *to.mutable_type()->mutable_tensor_type();

	to.set_name(value.name);
	tensor.set_elem_type(value.type);
	tensor.mutable_shape();
	for (const int64_t extent : value.shape) {
		pb::Dimension &dimension = *tensor.mutable_shape()->add_dim();
		if (extent >= 0)
			dimension.set_dim_value(extent);
		else
			dimension.set_dim_param("open");
	}
}

Result<void> Writer::writeConstant(const ValueView &value)
{
	const OrtValue *elements = nullptr;
	pb::Tensor &tensor = *model_.mutable_graph()->add_initializer();

	NVDLA_ORT_TRY(api_, api_->ValueInfo_GetInitializerValue(value.info, &elements));
	tensor.set_name(value.name);
	return writeTensor(api_, elements, tensor);
}

Result<void> Writer::writeNode(const NodeView &node)
{
	pb::Graph &graph = *model_.mutable_graph();
	size_t count = 0;

	for (const ValueView &input : node.inputs) {
		if (input.name.empty() || !known_.insert(input.name).second)
			continue;
		if (input.isConstant) {
			if (auto done = writeConstant(input); !done)
				return done;
		} else {
			describe(input, *graph.add_input());
			written_.inputs.push_back(input);
		}
	}
	pb::Node &to = *graph.add_node();
	to.set_name(node.outputs.empty() ? "" : node.outputs.front().name);
	to.set_op_type(node.type);
	to.set_domain(node.domain);
	for (const ValueView &input : node.inputs)
		to.add_input(input.name);
	for (const ValueView &output : node.outputs) {
		to.add_output(output.name);
		known_.insert(output.name);
		if (!output.name.empty())
			describe(output, *graph.add_value_info());
	}
	NVDLA_ORT_TRY(api_, api_->Node_GetNumAttributes(node.node, &count));
	std::vector<const OrtOpAttr *> attributes(count);
	NVDLA_ORT_TRY(api_, api_->Node_GetAttributes(node.node, attributes.data(), count));
	for (const OrtOpAttr *attribute : attributes) {
		if (auto done = writeAttribute(api_, attribute, *to.add_attribute()); !done)
			return done;
	}
	return {};
}

Result<WrittenModel> Writer::write()
{
	constexpr int64_t irVersion = 8;
	const std::set<size_t> members(chosen_.begin(), chosen_.end());

	model_.set_ir_version(irVersion);
	model_.mutable_graph()->set_name("partition");
	for (const OperatorSet &set : graph_.operatorSets) {
		pb::OperatorSet &to = *model_.add_opset_import();
		to.set_domain(set.domain);
		to.set_version(set.version);
	}
	for (size_t i = 0; i < graph_.nodes.size(); i++) {
		for (const ValueView &input : graph_.nodes[i].inputs) {
			if (!members.contains(i))
				readElsewhere_.insert(input.name);
		}
	}
	for (const size_t index : chosen_) {
		if (auto done = writeNode(graph_.nodes[index]); !done)
			return forward(done);
	}
	for (const size_t index : chosen_) {
		for (const ValueView &output : graph_.nodes[index].outputs) {
			if (!output.isGraphOutput && !readElsewhere_.contains(output.name))
				continue;
			describe(output, *model_.mutable_graph()->add_output());
			written_.outputs.push_back(output);
		}
	}
	written_.bytes.resize(model_.ByteSizeLong());
	if (!model_.SerializeToArray(written_.bytes.data(),
				     static_cast<int>(written_.bytes.size())))
		return fail(ErrorCode::Unsupported, what, "", "it is larger than a file can be");
	return std::move(written_);
}

} /* namespace */

Result<WrittenModel> writeModel(const Api &api, const GraphView &graph,
				std::span<const size_t> chosen)
{
	return Writer(api, graph, chosen).write();
}

} /* namespace nvdla::ort */
