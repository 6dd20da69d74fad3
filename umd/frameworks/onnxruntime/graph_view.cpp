/* SPDX-License-Identifier: MIT */
#include "graph_view.h"

#include <fmt/core.h>

namespace nvdla::ort
{

namespace
{

Result<ValueView> readValue(const Api &api, const OrtValueInfo *info)
{
	ValueView value{ .info = info };
	const char *name = nullptr;
	const OrtTypeInfo *type = nullptr;
	const OrtTensorTypeAndShapeInfo *tensor = nullptr;
	ONNXTensorElementDataType elements = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
	size_t rank = 0;

	if (!info)
		return value;
	NVDLA_ORT_TRY(api, api->GetValueInfoName(info, &name));
	NVDLA_ORT_TRY(api, api->ValueInfo_IsConstantInitializer(info, &value.isConstant));
	NVDLA_ORT_TRY(api, api->ValueInfo_IsGraphOutput(info, &value.isGraphOutput));
	NVDLA_ORT_TRY(api, api->ValueInfo_IsFromOuterScope(info, &value.isFromOuterScope));
	NVDLA_ORT_TRY(api, api->GetValueInfoTypeInfo(info, &type));
	NVDLA_ORT_TRY(api, api->CastTypeInfoToTensorInfo(type, &tensor));
	value.name = name;
	if (!tensor)
		return value;
	NVDLA_ORT_TRY(api, api->GetTensorElementType(tensor, &elements));
	NVDLA_ORT_TRY(api, api->GetDimensionsCount(tensor, &rank));
	value.type = elements;
	value.shape.resize(rank);
	NVDLA_ORT_TRY(api, api->GetDimensions(tensor, value.shape.data(), rank));
	return value;
}

using Infos = std::vector<const OrtValueInfo *>;

Result<Infos> inputInfos(const Api &api, const OrtNode *node)
{
	size_t count = 0;
	NVDLA_ORT_TRY(api, api->Node_GetNumInputs(node, &count));
	Infos infos(count);
	NVDLA_ORT_TRY(api, api->Node_GetInputs(node, infos.data(), count));
	return infos;
}

Result<Infos> outputInfos(const Api &api, const OrtNode *node)
{
	size_t count = 0;
	NVDLA_ORT_TRY(api, api->Node_GetNumOutputs(node, &count));
	Infos infos(count);
	NVDLA_ORT_TRY(api, api->Node_GetOutputs(node, infos.data(), count));
	return infos;
}

Result<std::vector<ValueView>> readValues(const Api &api, const Infos &infos)
{
	std::vector<ValueView> values;

	for (const OrtValueInfo *info : infos) {
		auto value = readValue(api, info);
		if (!value)
			return forward(value);
		values.push_back(std::move(*value));
	}
	return values;
}

Result<NodeView> readNode(const Api &api, const OrtNode *node)
{
	const char *type = nullptr, *domain = nullptr;

	NVDLA_ORT_TRY(api, api->Node_GetOperatorType(node, &type));
	NVDLA_ORT_TRY(api, api->Node_GetDomain(node, &domain));
	auto inputs = inputInfos(api, node).and_then(
		[&](const Infos &infos) { return readValues(api, infos); });
	if (!inputs)
		return forward(inputs);
	auto outputs = outputInfos(api, node).and_then(
		[&](const Infos &infos) { return readValues(api, infos); });
	if (!outputs)
		return forward(outputs);
	return NodeView{ node, type, domain, std::move(*inputs), std::move(*outputs) };
}

Result<std::vector<OperatorSet>> readOperatorSets(const Api &api, const OrtGraph *graph)
{
	size_t count = 0;
	NVDLA_ORT_TRY(api, api->Graph_GetNumOperatorSets(graph, &count));
	std::vector<const char *> domains(count);
	std::vector<int64_t> versions(count);
	NVDLA_ORT_TRY(api,
		      api->Graph_GetOperatorSets(graph, domains.data(), versions.data(), count));
	std::vector<OperatorSet> sets;
	for (size_t i = 0; i < count; i++)
		sets.push_back({ domains[i], versions[i] });
	return sets;
}

Result<std::vector<std::string>> namesOf(const Api &api, const Infos &infos)
{
	std::vector<std::string> names;

	for (const OrtValueInfo *info : infos) {
		const char *name = "";
		if (info)
			NVDLA_ORT_TRY(api, api->GetValueInfoName(info, &name));
		names.emplace_back(name);
	}
	return names;
}

} /* namespace */

std::string NodeView::describe() const
{
	return fmt::format("{} '{}'", type, outputs.empty() ? "" : outputs.front().name);
}

Result<GraphView> readGraph(const Api &api, const OrtGraph *graph)
{
	GraphView view;
	size_t count = 0;

	NVDLA_ORT_TRY(api, api->Graph_GetNumNodes(graph, &count));
	std::vector<const OrtNode *> nodes(count);
	NVDLA_ORT_TRY(api, api->Graph_GetNodes(graph, nodes.data(), count));
	for (const OrtNode *node : nodes) {
		auto read = readNode(api, node);
		if (!read)
			return forward(read);
		view.nodes.push_back(std::move(*read));
	}
	auto sets = readOperatorSets(api, graph);
	if (!sets)
		return forward(sets);
	view.operatorSets = std::move(*sets);
	return view;
}

Result<std::vector<std::string>> inputNames(const Api &api, const OrtNode *node)
{
	return inputInfos(api, node).and_then(
		[&](const Infos &infos) { return namesOf(api, infos); });
}

Result<std::vector<std::string>> outputNames(const Api &api, const OrtNode *node)
{
	return outputInfos(api, node).and_then(
		[&](const Infos &infos) { return namesOf(api, infos); });
}

} /* namespace nvdla::ort */
