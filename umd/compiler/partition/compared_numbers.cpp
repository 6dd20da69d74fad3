/* SPDX-License-Identifier: MIT */
#include "compiler/partition/compared_numbers.h"

#include <algorithm>
#include <map>
#include <string>

#include "compiler/import/onnx/node_reader.h"

namespace nvdla::compiler
{

namespace pb = nvdla::onnx;

void addComparedNumbers(const pb::Graph &graph, std::vector<std::optional<float>> &numbers)
{
	constexpr size_t most = 6;
	std::map<std::string, float> constants;
	const auto addConstant = [&](const std::string &name, const pb::Tensor &tensor) {
		auto value = compiler::onnx::readConstant(tensor);
		if (value && wholeNumbers(*value).size() == 1)
			constants[name] = static_cast<float>(wholeNumbers(*value)[0]);
	};

	for (const pb::Tensor &tensor : graph.initializer())
		addConstant(tensor.name(), tensor);
	for (const pb::Node &node : graph.node()) {
		for (const pb::Attribute &attribute : node.attribute()) {
			if (attribute.has_g())
				addComparedNumbers(attribute.g(), numbers);
			if (node.op_type() == "Constant" && attribute.has_t() && node.output_size())
				addConstant(node.output(0), attribute.t());
		}
		if (node.op_type() != "Equal")
			continue;
		for (const std::string &name : node.input()) {
			const auto found = constants.find(name);
			if (found != constants.end() && numbers.size() < most &&
			    !std::ranges::count(numbers, std::optional(found->second)))
				numbers.push_back(found->second);
		}
	}
}

std::set<std::string> divisorsOf(const pb::Graph &graph)
{
	std::set<std::string> names;

	for (auto node = graph.node().rbegin(); node != graph.node().rend(); node++) {
		const bool divides = node->op_type() == "Div" || node->op_type() == "Mod" ||
				     node->op_type() == "Col2Im";
		for (int i = 1; divides && i < node->input_size(); i++)
			names.insert(node->input(i));
		const auto leads = [&](const std::string &name) { return names.contains(name); };
		if (std::ranges::any_of(node->output(), leads))
			names.insert(node->input().begin(), node->input().end());
	}
	return names;
}

} /* namespace nvdla::compiler */
